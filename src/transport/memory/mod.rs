//! A network inside the process, with faults: what tests need and no real network gives on demand.
//!
//! Every node and client of a test is a *host* with a name; [`MemoryNetwork::host`] gives its access. Faults are of two
//! kinds. *States* hold until they are healed and work as they do on TCP: what is sent across a cut, or to or from a
//! frozen host, is not lost but arrives after healing; connecting hangs. *Rules* ([`Rule`]) strike single frames: one
//! reply lost, every tenth request, each frame delayed. All chance comes from the network's seed.

mod end;
mod pipe;
mod rule;
mod state;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

use crate::topology::Endpoint;

use super::network::{BoxFuture, BoxListener, BoxStream, Listener, Network};
use end::End;
use pipe::Wire;
pub use rule::{Mishap, Rule};
use state::State;

/// How many connections may wait to be accepted.
const BACKLOG: usize = 128;

/// A network in memory. Cheap to clone; the clones are one network.
#[derive(Clone, Debug)]
pub struct MemoryNetwork {
    state: Arc<Mutex<State>>,
}

impl MemoryNetwork {
    /// A network without faults, whose chance is drawn from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: Arc::new(Mutex::new(State::new(seed))) }
    }

    /// The network as the host of that name sees it. Where the host listens at port 0, it is given a free one.
    pub fn host(&self, name: &str) -> Arc<dyn Network> {
        Arc::new(Host { network: self.clone(), name: Arc::from(name) })
    }

    /// Adds a rule behind those that are there; the first that fits a frame strikes it.
    pub fn add(&self, rule: Rule) {
        self.lock().add(rule);
    }

    /// How many frames were struck by rules so far.
    pub fn struck(&self) -> u64 {
        self.lock().struck()
    }

    /// Holds back whatever goes from one host to the other; the opposite direction is not touched.
    pub fn cut(&self, from: &str, to: &str) {
        self.lock().cut(from, to);
    }

    /// Cuts both ways between hosts of different groups. A host in no group keeps all its ways.
    pub fn partition(&self, groups: &[&[&str]]) {
        let mut state = self.lock();
        for (index, group) in groups.iter().enumerate() {
            for other in groups[index + 1..].iter().copied().flatten() {
                for host in *group {
                    state.cut(host, other);
                    state.cut(other, host);
                }
            }
        }
    }

    /// A frozen host still accepts connections, as a stopped process does, and is silent.
    pub fn freeze(&self, host: &str) {
        self.lock().freeze(host);
    }

    /// Ends a freeze: what was held arrives.
    pub fn thaw(&self, host: &str) {
        self.lock().thaw(host);
    }

    /// Ends a host as `kill -9` does: its connections are reset, its listeners are gone, connecting to it is refused.
    pub fn kill(&self, host: &str) {
        self.lock().kill(host);
    }

    /// Lets a killed host use the network again; it has to listen anew.
    pub fn revive(&self, host: &str) {
        self.lock().revive(host);
    }

    /// Resets all connections between two hosts.
    pub fn reset(&self, one: &str, other: &str) {
        self.lock().reset(one, other);
    }

    /// Ends all cuts and freezes and forgets all rules. The killed stay dead.
    pub fn heal(&self) {
        self.lock().heal();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One host's access to the network.
#[derive(Debug)]
struct Host {
    network: MemoryNetwork,
    name: Arc<str>,
}

impl Network for Host {
    fn connect<'a>(&'a self, to: &'a Endpoint) -> BoxFuture<'a, io::Result<BoxStream>> {
        Box::pin(async move {
            let (target, backlog) = self.network.lock().listener(&self.name, to)?;
            // A cut in either direction eats the handshake; a frozen host's backlog takes the connection.
            loop {
                let healed = {
                    let state = self.network.lock();
                    if !state.is_cut(&self.name, &target) && !state.is_cut(&target, &self.name) {
                        break;
                    }
                    state.healed()
                };
                healed.notified().await;
            }
            let wire = Arc::new(Wire::new(Arc::clone(&self.name), target));
            let accepted: BoxStream = Box::new(End::new(self.network.clone(), Arc::clone(&wire), false));
            let from = Endpoint::new(&*self.name, 0);
            backlog.send((accepted, from)).await.map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
            self.network.lock().connected(&wire);
            Ok(Box::new(End::new(self.network.clone(), wire, true)) as BoxStream)
        })
    }

    fn listen<'a>(&'a self, at: &'a Endpoint) -> BoxFuture<'a, io::Result<BoxListener>> {
        Box::pin(async move {
            let (sender, connections) = mpsc::channel(BACKLOG);
            let endpoint = self.network.lock().listen(&self.name, at, sender)?;
            Ok(Box::new(Accepting { network: self.network.clone(), endpoint, connections }) as BoxListener)
        })
    }
}

struct Accepting {
    network: MemoryNetwork,
    endpoint: Endpoint,
    connections: mpsc::Receiver<(BoxStream, Endpoint)>,
}

impl Listener for Accepting {
    fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    fn accept(&mut self) -> BoxFuture<'_, io::Result<(BoxStream, Endpoint)>> {
        Box::pin(async move {
            match self.connections.recv().await {
                Some(connection) => Ok(connection),
                // The host was killed: as its process would, the listener hears nothing any more.
                None => std::future::pending().await,
            }
        })
    }
}

impl Drop for Accepting {
    fn drop(&mut self) {
        self.connections.close();
        self.network.lock().forget_closed_listeners();
    }
}
