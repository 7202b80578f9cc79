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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    async fn listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// An address that swallows handshakes: its backlog is full as long as the sockets given with it are held.
    async fn silent() -> (SocketAddr, Vec<std::net::TcpStream>, std::net::TcpListener) {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket2::SockRef::from(&listener).listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let mut held = Vec::new();
        while let Ok(Ok(stream)) = tokio::time::timeout(STAGGER, TcpStream::connect(address)).await {
            held.push(stream.into_std().unwrap());
            assert!(held.len() < 64, "the backlog never fills");
        }
        (address, held, listener)
    }

    #[tokio::test]
    async fn the_next_address_is_tried_when_one_refuses_or_is_silent() {
        let (dropped, refusing) = listener().await;
        drop(dropped);
        let (silent, held, backlog) = silent().await;
        let (_listener, good) = listener().await;
        for first in [refusing, silent] {
            let connected = tokio::time::timeout(STAGGER * 20, connect_any(vec![first, good])).await.unwrap().unwrap();
            assert_eq!(connected.peer_addr().unwrap(), good);
        }
        let error = connect_any(vec![refusing, refusing]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        drop((held, backlog));
    }

    #[tokio::test]
    async fn both_families_and_names() {
        for at in [Endpoint::new("127.0.0.1", 0), Endpoint::new("::1", 0), Endpoint::new("localhost", 0)] {
            if at.host() == "::1" && TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).await.is_err() {
                continue; // This machine has no IPv6.
            }
            let mut listener = TcpNetwork.listen(&at).await.unwrap();
            assert_ne!(listener.endpoint().port(), 0);
            let endpoint = listener.endpoint();
            let (connected, accepted) = tokio::join!(TcpNetwork.connect(&endpoint), listener.accept());
            assert!(connected.is_ok());
            assert_eq!(accepted.unwrap().1.host(), endpoint.host());
        }
        let resolved = TcpNetwork.resolve(&Endpoint::new("localhost", 7)).await.unwrap();
        assert!(!resolved.is_empty() && resolved.iter().all(|address| address.socket_addr().is_some()));
    }
}
