//! Frames over TCP.
//!
//! A host name may have several addresses. They are tried in the order of the resolver, a new one as soon as the one
//! before failed or was silent for [`STAGGER`]; the first that connects wins and the others are dropped.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::topology::Endpoint;

use super::error::ResolutionFailed;
use super::network::{BoxFuture, BoxListener, BoxStream, Listener, Network};

/// How long one address may be silent before the next is tried beside it.
pub const STAGGER: Duration = Duration::from_millis(50);

/// The machine's own network.
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpNetwork;

impl Network for TcpNetwork {
    fn connect<'a>(&'a self, to: &'a Endpoint) -> BoxFuture<'a, io::Result<BoxStream>> {
        Box::pin(async move {
            let stream = connect_any(lookup(to).await?).await?;
            stream.set_nodelay(true)?;
            Ok(Box::new(stream) as BoxStream)
        })
    }

    fn listen<'a>(&'a self, at: &'a Endpoint) -> BoxFuture<'a, io::Result<BoxListener>> {
        Box::pin(async move {
            let listener = TcpListener::bind(&lookup(at).await?[..]).await?;
            let endpoint = Endpoint::from(listener.local_addr()?);
            Ok(Box::new(Accepting { listener, endpoint }) as BoxListener)
        })
    }

    fn resolve<'a>(&'a self, name: &'a Endpoint) -> BoxFuture<'a, io::Result<Vec<Endpoint>>> {
        Box::pin(async move { Ok(lookup(name).await?.into_iter().map(Endpoint::from).collect()) })
    }
}

struct Accepting {
    listener: TcpListener,
    endpoint: Endpoint,
}

impl Listener for Accepting {
    fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    fn accept(&mut self) -> BoxFuture<'_, io::Result<(BoxStream, Endpoint)>> {
        Box::pin(async move {
            let (stream, from) = self.listener.accept().await?;
            stream.set_nodelay(true)?;
            Ok((Box::new(stream) as BoxStream, Endpoint::from(from)))
        })
    }
}

/// All addresses of an endpoint, at least one, each once.
async fn lookup(endpoint: &Endpoint) -> io::Result<Vec<SocketAddr>> {
    if let Some(address) = endpoint.socket_addr() {
        return Ok(vec![address]);
    }
    let found = tokio::net::lookup_host((endpoint.host(), endpoint.port())).await;
    let mut addresses = Vec::new();
    for address in found.map_err(|error| ResolutionFailed::wrap(endpoint.host(), &error))? {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        return Err(ResolutionFailed::wrap(endpoint.host(), &io::Error::other("it has no address")));
    }
    Ok(addresses)
}

async fn connect_any(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    if let [only] = addresses[..] {
        return TcpStream::connect(only).await;
    }
    let mut attempts = JoinSet::new();
    let mut waiting = addresses.into_iter();
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        match waiting.next() {
            Some(address) => drop(attempts.spawn(TcpStream::connect(address))),
            None if attempts.is_empty() => return Err(failure),
            None => {}
        }
        let patience = if waiting.len() == 0 { Duration::MAX } else { STAGGER };
        match tokio::time::timeout(patience, attempts.join_next()).await {
            Ok(Some(Ok(Ok(stream)))) => return Ok(stream),
            Ok(Some(Ok(Err(error)))) => failure = error,
            Ok(Some(Err(panicked))) => failure = io::Error::other(panicked),
            Ok(None) | Err(_) => {}
        }
    }
}
