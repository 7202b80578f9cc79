//! What a client's engines do with weeks of restarts, in a moment: virtual time over the real thing.
//!
//! Nothing is modelled here but the world: servers that stop and come back, the name that lists them, a name server that
//! fails at times. The clients in it are the fleets, calls, policies, refreshes and evening-out that a program has
//! ([`Fleet`](crate::client::Fleet), [`Attempts`](crate::client::balancer::Attempts)), driven by a clock that jumps from
//! one event to the next. What is measured is what each server got.
//!
//! ```text
//! Scenario ─► plan: what happens to the world, and when
//!              └► run: the next event, of the world or of a client, until the end
//!                  ├ world: who is up, what the name server says
//!                  ├ client: one program, what is due in its fleet, its call
//!                  └ outcome: who answered, by slices of time
//! ```
//!
//! A run follows from its scenario and its seed. Calls take no time, and a server that is gone refuses; so what a run says
//! of latencies is nothing, and what it says of shares is what the engines decide.

mod client;
mod outcome;
mod plan;
mod run;
mod scenario;
mod timetable;
mod world;

pub use outcome::{Outcome, Slice};
pub use run::run;
pub use scenario::{Addresses, Restarts, Scenario};
