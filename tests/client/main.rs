//! The client: its engines by tables with exact outputs and by a seeded simulation, its drivers over networks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cluster;
#[path = "../shared/hole.rs"]
mod hole;
mod stage;

mod asynchronous;
mod balance;
mod balancer;
mod balancer_chance;
mod blocking;
mod budget;
mod cache;
mod cache_simulation;
mod call_outcomes;
mod call_rounds;
mod connecting;
mod direct;
mod elections;
mod failover;
mod fleet_dns;
mod fleet_health;
mod fleet_multicast;
mod fleet_sources;
mod invocations;
mod memory;
mod multicast;
mod patience;
mod simulation;
mod slow;
mod told;
mod unwelcome;
mod watch;
mod watch_follower;
mod watch_simulation;
mod weeks;
