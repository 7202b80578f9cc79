//! Provider URLs, properties and environments of older naming systems.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cases;
mod environments;
mod properties;
mod provider_urls;
mod warnings;
