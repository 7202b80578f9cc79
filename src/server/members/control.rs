//! Control links: dialled when the engine says so, for gossip alone.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::cluster::membership::{DialFailure, Input, LinkId, Output};
use crate::protocol::{Answer, Channel, Gossip, Operation, Reply, Request, Scope};
use crate::topology::Endpoint;
use crate::transport::link::Link;
use crate::transport::{TransportError, TransportErrorKind};

use super::Inner;

/// How long opening a link may take.
const OPEN: Duration = Duration::from_secs(1);

/// How long the resolution of a host name may take.
const RESOLVE: Duration = Duration::from_secs(4);

/// How long an answer to gossip is waited for; the engine calls a member dead that gives none for so long.
const ANSWER: Duration = Duration::from_millis(1500);

/// The links that are open.
#[derive(Debug, Default)]
pub(super) struct ControlLinks {
    links: HashMap<LinkId, Link>,
}

impl ControlLinks {
    pub(super) fn close_all(&mut self) {
        for (_, link) in self.links.drain() {
            link.close();
        }
    }
}

impl Inner {
    pub(super) fn control(&self) -> MutexGuard<'_, ControlLinks> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn resolve(self: &Arc<Self>, seed: Endpoint) {
        let members = Arc::downgrade(self);
        let network = Arc::clone(&self.network);
        self.spawn(async move {
            let addresses = match timeout(RESOLVE, network.resolve(&seed)).await {
                Ok(Ok(addresses)) => addresses,
                Ok(Err(error)) => {
                    tracing::warn!("seed {seed}: {error}");
                    Vec::new()
                }
                Err(_) => Vec::new(),
            };
            if let Some(members) = members.upgrade() {
                members.step(Input::Resolved { seed, addresses });
            }
        });
    }

    /// Opens a link and watches it to its end.
    pub(super) fn dial(self: &Arc<Self>, id: LinkId, to: Endpoint) {
        let members = Arc::downgrade(self);
        let network = Arc::clone(&self.network);
        let limits = self.limits;
        self.spawn(async move {
            // The introduction of this moment, not of the moment when the engine spoke.
            let Some(hello) = members.upgrade().map(|members| members.hello(Channel::Control)) else { return };
            let opened = Link::open(&*network, &to, hello, limits, OPEN).await;
            let Some(this) = members.upgrade() else { return };
            let link = match opened {
                Ok((link, welcome)) => {
                    this.control().links.insert(id, link.clone());
                    this.step(Input::Opened { link: id, introduction: welcome.introduction });
                    link
                }
                Err(error) => return this.step(Input::NotOpened { link: id, failure: failure(error) }),
            };
            drop(this);
            link.closed().await;
            let Some(this) = members.upgrade() else { return };
            let was_open = this.control().links.remove(&id).is_some();
            if was_open {
                this.step(Input::Lost { link: id });
            }
        });
    }

    /// What sends gossip and takes its answer; `None` where the link has ended.
    pub(super) fn exchange(self: &Arc<Self>, id: LinkId, gossip: Gossip) -> Option<impl Future<Output = ()> + Send + use<>> {
        let link = self.control().links.get(&id)?.clone();
        let members = Arc::downgrade(self);
        let operation = Operation::Gossip(gossip);
        let request =
            Request { time_left: u32::MAX, scope: Scope::Peer, operation_id: None, is_retry: false, operation, known: None };
        Some(async move {
            let answer = link.ask(request, ANSWER).await;
            if let (Ok(Reply::Done(Answer::Gossip(gossip))), Some(members)) = (answer, members.upgrade()) {
                members.step(Input::Answered { link: id, gossip });
            }
        })
    }

    pub(super) fn close(&self, id: LinkId) {
        if let Some(link) = self.control().links.remove(&id) {
            link.close();
        }
    }

    pub(super) async fn leave(self: &Arc<Self>, within: Duration) {
        let mut farewells = JoinSet::new();
        self.act(|engine, now| {
            let mut rest = Vec::new();
            for output in engine.step(now, Input::Leave) {
                match output {
                    Output::Gossip { link, gossip } => {
                        if let Some(exchange) = self.exchange(link, gossip) {
                            farewells.spawn_on(exchange, &self.runtime);
                        }
                    }
                    other => rest.push(other),
                }
            }
            ((), rest)
        });
        // Whoever has not answered in time finds out by itself.
        let _ = timeout(within, async { while farewells.join_next().await.is_some() {} }).await;
    }
}

fn failure(error: TransportError) -> DialFailure {
    match error.kind {
        TransportErrorKind::Refused => DialFailure::Refused,
        TransportErrorKind::Rejected(fault) => DialFailure::Rejected(fault),
        _ => DialFailure::Unreachable,
    }
}
