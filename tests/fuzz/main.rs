//! Everything that reads what strangers send: it ends with a value or an error, and what it read has one spelling.
//!
//! Under `cargo test` each target runs a bounded number of random inputs; under `cargo bolero test` the same targets
//! are fuzzed for as long as one likes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails, fails")]

mod logs;
mod names;
mod seeds;
mod settings;
mod values;
mod wire;
