//! The cluster's membership: the engine by itself, under simulation, and driven by real nodes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "a test fails by panicking")]

mod bites;
mod detector;
mod engine;
mod leaving;
mod measured;
mod nodes;
mod past;
mod simulation;
mod world;
