//! The server: its engines by tables of events and exact outputs, its nodes over the network in memory and over TCP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cluster;
#[path = "../shared/companions.rs"]
mod companions;
mod config;
mod delegation;
mod hello;
mod hostile;
mod life;
mod load;
mod lookup_rule;
mod merge;
mod one_moment;
mod pace;
mod phases;
mod queue;
mod raw;
mod remembered;
mod settings;
mod trees;
mod world;
