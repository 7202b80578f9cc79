//! What makes nodes one cluster: engines without I/O.
//!
//! [`membership`] decides who is in the cluster. The drivers around the engines stand in the server. The cluster tree is
//! replicated in three layers:
//!
//! - what is known: [`vector`] (who has seen which writes), [`stamp`], [`record`] (one name) and its [`history`],
//!   [`merge`] (how two records become one)
//! - one node's copy: [`replica`], what it shows ([`context`]), [`sync`] (how two copies become equal), its purge,
//!   [`oplog`] (what became of an operation) and [`store`] (what is made durable)
//! - what nodes do together: [`engine`], with its [`message`]s and the [`owner`] of a name
//!
//! [`rules`] names each rule of these, so that the simulation can show what it is good for.

pub mod context;
pub mod engine;
pub mod history;
pub mod membership;
pub mod merge;
pub mod message;
pub mod oplog;
pub mod owner;
mod purge;
pub mod record;
pub mod replica;
pub mod rules;
pub mod stamp;
pub mod store;
pub mod sync;
pub mod vector;
