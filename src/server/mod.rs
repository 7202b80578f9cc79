//! A node: it serves its trees to clients and to the other nodes of its cluster.
//!
//! ```text
//! node            starts, quiesces, closes; owns the runtime
//!  └ connection   one task a connection: frames, limits, times
//!     └ answer    which operation is answered by what
//!        ├ (own trees)      at once, without waiting
//!        ├ peers            the other nodes, by the lookup rule
//!        └ replication      the cluster tree: the engine's driver
//!           └ data           what of it outlives the process
//! ```
//!
//! Decisions (the lookup rule, what is asked together, how pages merge, how slow a connection may be) are values that
//! are told what happened and when; the tasks around them only carry bytes and time.

mod acceptor;
mod announcing;
pub mod answer;
pub mod bulletin;
pub mod clock;
mod config;
pub mod config_file;
pub mod connection;
pub mod core;
pub mod data;
mod herald;
mod in_process;
mod launch;
pub mod load;
pub mod log;
pub mod members;
mod node;
pub mod peers;
pub mod replication;
mod settings;

pub use config::{ServerConfig, ServerLimits};
pub use node::Node;
