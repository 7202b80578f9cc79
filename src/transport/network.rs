//! The border to whatever carries bytes: TCP in production, a network in memory under test.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::topology::Endpoint;

/// A future that a trait object can give.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connection's two directions.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Stream for T {}

/// A connection.
pub type BoxStream = Box<dyn Stream>;

/// Takes connections. Dropping it ends the listening.
pub trait Listener: Send + 'static {
    /// Where it listens: the real port.
    fn endpoint(&self) -> Endpoint;
    /// The next connection, and where it is from.
    fn accept(&mut self) -> BoxFuture<'_, io::Result<(BoxStream, Endpoint)>>;
}

/// A listener of any kind.
pub type BoxListener = Box<dyn Listener>;

/// Makes connections and takes them.
pub trait Network: Debug + Send + Sync + 'static {
    /// Connects to an endpoint. The caller limits the time.
    fn connect(&self, to: &Endpoint) -> BoxFuture<'_, io::Result<BoxStream>>;
    /// Listens at an endpoint; port 0 is any free one.
    fn listen(&self, at: &Endpoint) -> BoxFuture<'_, io::Result<BoxListener>>;
}
