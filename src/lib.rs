//! hanaming: highly available naming.
//!
//! A *name* is bound to a *value* on one of a cluster's nodes; any client finds it from anywhere and goes on
//! finding it while nodes die, come back, quiesce or change address. When a call fails, the client knows whether
//! the call ran and whether it may be sent again.
//!
//! The crate is layered: values → contract → engines → drivers → façades. `ARCHITECTURE.md` holds the map and its
//! numbered invariants; `tests/architecture.rs` holds the layers to the rule of who may import whom.

pub mod client;
pub mod cluster;
pub mod discovery;
pub mod failure;
pub mod naming;
pub mod protocol;
#[cfg(feature = "python")]
mod python;
pub mod server;
pub mod simulation;
pub mod topology;
pub mod transport;
