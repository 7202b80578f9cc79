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
    fn connect<'a>(&'a self, to: &'a Endpoint) -> BoxFuture<'a, io::Result<BoxStream>>;
    /// Listens at an endpoint; port 0 is any free one.
    fn listen<'a>(&'a self, at: &'a Endpoint) -> BoxFuture<'a, io::Result<BoxListener>>;
    /// All endpoints behind a host name, at least one. A network without names gives the name back as it is.
    fn resolve<'a>(&'a self, name: &'a Endpoint) -> BoxFuture<'a, io::Result<Vec<Endpoint>>> {
        Box::pin(std::future::ready(Ok(vec![name.clone()])))
    }
}
