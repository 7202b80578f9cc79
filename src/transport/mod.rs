//! How frames travel: TCP, and an in-process network with faults for tests.
//!
//! Every error carries the [`Phase`](crate::failure::Phase) in which the exchange broke, so that its completion
//! status is known and not guessed. There are two ways to exchange: a [`Link`](link::Link) shares one connection among
//! many requests, on tokio and over any [`Network`]; a [`Connection`](blocking::Connection) is a socket of its own,
//! driven by the calling thread.

pub mod blocking;
mod error;
pub mod link;
pub mod memory;
mod network;
mod service;
pub mod tcp;

pub use error::{TransportError, TransportErrorKind};
pub use network::{BoxFuture, BoxListener, BoxStream, Listener, Network, Stream};
pub use service::{ReplyTo, Service};
