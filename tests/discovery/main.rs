//! Where servers are found: the engines that decide when to ask; provider URLs, properties and environments of older naming systems.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cases;
mod environments;
mod inquiries;
mod multicast;
mod properties;
mod provider_urls;
mod refresh;
mod warnings;
