//! The workload manager for calls that a program makes with a library of its own, at servers that know nothing of hanaming.
//!
//! A program asks for a target, calls it, and tells what came of it; [`Attempts`] is the engine that decides whose turn it
//! is, what a failure says of the target, and whether there is another attempt. It stands on what the HA context's calls
//! stand on: the same [`Fleet`](super::fleet::Fleet) with its policies, health and backoff, the same
//! [rounds](super::rounds) and retry budget, and the same table from a completion status to an action. What is different
//! is that nothing is known of the servers but whether they take a connection, and that what a call means is judged
//! elsewhere and told as a [`Failure`].
//!
//! Around it stands the [`Balancer`], which holds the fleet, reads the clock and waits.

mod attempts;
mod driver;
mod failure;
mod service;
mod source;

pub use attempts::{Attempts, Sequel, Step};
pub use driver::{Balancer, BalancerConfig, Calling, Next, Source};
pub use failure::Failure;
pub use service::Service;
pub use source::servers;
