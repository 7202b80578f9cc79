//! Names, values, links and trees, as their contracts say.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails, fails")]

mod concurrency;
mod links;
mod model;
mod names;
mod operations;
mod support;
mod values;
