//! The wire: bytes, limits, and how far an exchange came when it broke.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "a test fails by panicking")]

mod blocking;
mod decoder;
mod fixtures;
mod golden;
mod link;
mod many;
mod memory;
mod replication;
mod scripted;
