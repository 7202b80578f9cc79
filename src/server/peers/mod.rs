//! The border between a node and the others: how one is asked, and what is done when its connection breaks.

pub mod delegation;
pub mod inquiries;
pub mod queue;
pub mod remembered;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use crate::cluster::message::Message;
use crate::protocol::{Fault, Gossip, Introduction, Operation, Reply, Request, Scope};
use crate::topology::{NodeId, View};
use crate::transport::{BoxFuture, TransportError};

use crate::server::bulletin::{Bulletin, Peer};
use delegation::AGAIN;

/// The other nodes: carries requests to them, and speaks for this node where it meets them.
pub trait Peers: Debug + Send + Sync + 'static {
    /// Who this node is, and in which state.
    fn introduction(&self) -> Introduction;

    /// Whether a node that introduces itself so may come in.
    fn admit(&self, introduction: &Introduction) -> Result<(), Fault>;

    /// Takes what another node tells of the members, and tells what is known here.
    fn gossip(&self, gossip: Gossip) -> Result<Gossip, Fault>;

    /// The members, as they change; this node is one of them.
    fn views(&self) -> watch::Receiver<Arc<View>>;

    /// What a person should know.
    fn warnings(&self) -> Vec<String>;

    /// Tells the others that this node is quiescing.
    fn set_quiescing(&self);

    /// Tells the others that this node leaves now. Ends when they were told, or can't be.
    fn leave(&self) -> BoxFuture<'_, ()>;

    /// Waits until this node has met all whom it should know, before it is in its cluster.
    fn met(&self) -> BoxFuture<'_, ()>;

    /// This node has the cluster tree, which it waited for.
    fn has_tree(&self);

    /// Hands messages to a peer's engine, in order and at most once each, without waiting.
    fn tell(&self, peer: NodeId, messages: Vec<Message>);

    /// Waits until this node is in its cluster; the fault says why it never will be.
    fn joined(&self) -> BoxFuture<'_, Result<(), Fault>>;

    /// What it still waits for before it is, in words.
    fn unready(&self) -> Option<String>;

    /// Asks one, and gives its reply or how the exchange broke, at the latest after `within`.
    fn ask(&self, peer: NodeId, request: Request, within: Duration) -> BoxFuture<'_, Result<Reply, TransportError>>;
}

/// A question to a peer's own tree.
pub fn question(operation: Operation, within: Duration) -> Request {
    let time_left = u32::try_from(within.as_micros()).unwrap_or(u32::MAX);
    Request { time_left, scope: Scope::Peer, operation_id: None, is_retry: false, operation, known: None }
}

/// Asks all peers the same at once, and waits for all of them until `until`. One whose connection breaks is asked
/// again; one that leaves the view is left out of the result, one that is silent has no reply. In order of their names.
pub async fn ask_all(
    peers: &Arc<dyn Peers>,
    bulletins: &watch::Receiver<Arc<Bulletin>>,
    operation: &Operation,
    until: Instant,
) -> Vec<(Peer, Option<Reply>)> {
    let asked = bulletins.borrow().peers.clone();
    let mut asking = FuturesUnordered::new();
    for (place, peer) in asked.iter().enumerate() {
        let one = ask_one(Arc::clone(peers), bulletins.clone(), peer.id, operation.clone(), until);
        asking.push(async move { (place, one.await) });
    }
    let mut told: Vec<Option<Option<Reply>>> = asked.iter().map(|_| Some(None)).collect();
    while let Some((place, what)) = asking.next().await {
        told[place] = what;
    }
    asked.into_iter().zip(told).filter_map(|(peer, told)| Some((peer, told?))).collect()
}

/// One peer's reply, if it gave one in time; `None` where it left the view.
async fn ask_one(
    peers: Arc<dyn Peers>,
    mut bulletins: watch::Receiver<Arc<Bulletin>>,
    peer: NodeId,
    operation: Operation,
    until: Instant,
) -> Option<Option<Reply>> {
    let asking = async {
        loop {
            let within = until.saturating_duration_since(Instant::now());
            match peers.ask(peer, question(operation.clone(), within), within).await {
                Ok(Reply::Failed(fault)) if fault.refusal.is_some() => {}
                Ok(reply) => return reply,
                Err(_) => {}
            }
            sleep(AGAIN).await;
        }
    };
    let gone = async {
        // The sender lives as long as the node; without it nobody is asked either.
        let _ = bulletins.wait_for(|bulletin| bulletin.name_of(peer).is_none()).await;
    };
    tokio::select! {
        biased;
        told = timeout_at(until, asking) => Some(told.ok()),
        () = gone => None,
    }
}
