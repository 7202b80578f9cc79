//! The cluster tree on real nodes, over the network in memory with its faults: what one node acknowledges all have, and
//! keep through deaths, returns and splits. How the engines do that is shown in `cluster` and `simulation`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod campaign;
mod closing;
#[path = "../shared/companions.rs"]
mod companions;
mod comparison;
mod deaths;
mod disk;
mod durable;
mod durable_folders;
mod durable_order;
mod folders;
mod long_steps;
mod lost_replies;
mod nodes;
mod operations;
mod races;
mod rig;
mod sessions;
mod splits;
mod starting;
mod upkeep;
mod watches;
