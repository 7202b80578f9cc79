//! What makes nodes one cluster: engines without I/O.
//!
//! [`membership`] decides who is in the cluster. The drivers around the engines stand in the server. The cluster tree is
//! replicated in three layers:
//!
//! - what is known: [`vector`] (who has seen which writes), [`stamp`], [`record`] (one name) and its [`history`],
//!   [`merge`] (how two records become one)
//! - one node's copy: [`replica`], what it shows ([`shown`], [`context`]) and how that changes ([`projection`]), [`sync`] (how two
//!   copies become equal), its purge, [`oplog`] (what became of an operation) and [`store`] (what is made durable)
//! - what nodes do together: [`engine`], with the clients' [`request`]s, the [`reply`] to each and the [`obstacle`]s in
//!   its way, the [`message`]s between engines and the [`owner`](crate::topology::owner) of a name
//!
//! [`rules`] names each rule of these, so that the simulation can show what it is good for.

pub mod context;
pub mod engine;
pub mod fingerprint;
pub mod history;
mod index;
pub mod membership;
pub mod merge;
pub mod message;
pub mod obstacle;
pub mod oplog;
pub mod projection;
mod purge;
pub mod record;
pub mod replica;
pub mod reply;
pub mod request;
pub mod rules;
mod sequences;
pub mod shown;
pub mod stamp;
pub mod store;
pub mod sync;
pub mod vector;
mod wire;
