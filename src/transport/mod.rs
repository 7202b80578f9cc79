//! How frames travel: TCP, and an in-process network with faults for tests.
//!
//! Every error carries the [`Phase`](crate::failure::Phase) in which the exchange broke, so that its completion
//! status is known and not guessed.

mod error;
mod network;
mod service;

pub use error::{TransportError, TransportErrorKind};
pub use network::{BoxFuture, BoxListener, BoxStream, Listener, Network, Stream};
pub use service::{ReplyTo, Service};
