//! The other nodes of a node without a network, who have met it. How they are told and asked is for the test to say.

use std::fmt::Debug;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use hanaming::cluster::message::Message;
use hanaming::protocol::{Fault, Gossip, Introduction, Reply, Request};
use hanaming::server::peers::Peers;
use hanaming::topology::{Member, NodeId, View};
use hanaming::transport::{BoxFuture, TransportError};
use tokio::sync::watch;

/// Carries what a node says to another, or does not.
pub trait Carrier: Debug + Send + Sync + 'static {
    /// One engine tells another.
    fn tell(self: Arc<Self>, from: NodeId, to: NodeId, messages: Vec<Message>);

    /// One node asks another.
    fn ask(&self, to: NodeId, request: Request, within: Duration) -> BoxFuture<'_, Result<Reply, TransportError>>;
}

/// A node's way to the others.
#[derive(Debug)]
pub struct Companions<C> {
    /// The node.
    pub member: Member,
    /// Its cluster's name.
    pub cluster: &'static str,
    /// Whom it sees.
    pub views: watch::Sender<Arc<View>>,
    /// What is done with what it says.
    pub carrier: Arc<C>,
}

impl<C: Carrier> Peers for Companions<C> {
    fn introduction(&self) -> Introduction {
        Introduction { member: self.member.clone(), cluster: self.cluster.to_owned(), cluster_id: None, firm: false }
    }

    fn admit(&self, _: &Introduction) -> Result<(), Fault> {
        Ok(())
    }

    fn gossip(&self, gossip: Gossip) -> Result<Gossip, Fault> {
        Ok(gossip)
    }

    fn views(&self) -> watch::Receiver<Arc<View>> {
        self.views.subscribe()
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn set_quiescing(&self) {}

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    fn met(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    fn has_tree(&self) {}

    fn tell(&self, peer: NodeId, messages: Vec<Message>) {
        Arc::clone(&self.carrier).tell(self.member.id, peer, messages);
    }

    fn joined(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(ready(Ok(())))
    }

    fn unready(&self) -> Option<String> {
        None
    }

    fn ask(&self, peer: NodeId, request: Request, within: Duration) -> BoxFuture<'_, Result<Reply, TransportError>> {
        self.carrier.ask(peer, request, within)
    }
}
