//! The client: one operation is carried to some server of a cluster, however many fail.
//!
//! The decisions are engines without I/O. An [`Invocation`] knows what an operation asks and what a reply means; a
//! [`Call`] carries it in attempts under one deadline; the [`Fleet`] holds all servers, how they are and whose turn it is.
//! Around them stand thin drivers. They are given the time and what happened, and do what they are told:
//!
//! ```text
//! let mut output = call.step(&mut fleet, now, Input::Start);
//! loop {
//!     output = match output {
//!         Output::Send(send) => { /* send call.request() to fleet.target(send.target), wait until send.ends */ }
//!         Output::Wait { until } => { /* wait, or until the fleet changes */ }
//!         Output::Done(result) => break result,
//!     };
//! }
//! ```
//!
//! A mutation that may have run is never sent again; every call ends by its deadline; a failed target returns to use.

pub mod asynchronous;
mod backoff;
mod balance;
pub mod balancer;
pub mod blocking;
mod browsers;
pub mod budget;
pub mod cache;
pub mod call;
pub mod config;
pub mod context;
pub mod direct;
pub mod driver;
pub mod election;
mod evening;
mod fault;
pub mod fleet;
pub mod fork;
pub mod invocation;
pub mod keeper;
mod latency;
mod lease;
mod look;
mod members;
mod metrics;
pub mod nonblocking;
mod roster;
mod rounds;
mod session;
mod sources;
mod stand_in;
pub mod target;
mod tended;
mod trail;
pub mod watch;
mod weights;
mod words;

pub use asynchronous::AsyncClient;
pub use blocking::Client;
pub use call::{Call, Input, Output, Send};
pub use config::{ClientConfig, Policy};
pub use context::{Bound, Context, HaContext, Resolution};
pub use direct::Direct;
pub use driver::{Driver, GiveUp, closed, closed_context};
pub use election::Elections;
pub use fleet::{Fleet, Names};
pub use invocation::{BindOptions, Freshness, Invocation, Located, OneOfMany, Product, Settled, Subject};
pub use lease::Releasing;
pub use metrics::Metrics;
pub use stand_in::LOOK_EVERY;
pub use target::{Health, Target, TargetId};
pub use trail::Trail;
pub use watch::{Event, EventKind, Watch, Watches};
