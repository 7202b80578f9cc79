//! A cluster of one node.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::failure::Phase;
use crate::protocol::{Fault, Gossip, Introduction, Reply, Request};
use crate::topology::{Member, MemberState, NodeId, View};
use crate::transport::{BoxFuture, TransportError, TransportErrorKind};

use super::answer::fault;
use super::peers::Peers;

/// The membership of a node that has no others.
#[derive(Debug)]
pub struct Alone {
    member: Member,
    cluster: String,
    views: watch::Sender<Arc<View>>,
}

impl Alone {
    /// A node alone in its cluster, serving.
    pub fn new(member: Member, cluster: &str) -> Self {
        let member = Member { state: MemberState::Live, ..member };
        let view = View::new(cluster, None, vec![member.clone()]);
        Self { member, cluster: cluster.to_owned(), views: watch::Sender::new(Arc::new(view)) }
    }
}

impl Peers for Alone {
    fn introduction(&self) -> Introduction {
        Introduction { member: self.member.clone(), cluster: self.cluster.clone(), cluster_id: None, firm: false }
    }

    fn admit(&self, _: &Introduction) -> Result<(), Fault> {
        Err(fault::not_supported("this node takes no others"))
    }

    fn gossip(&self, _: Gossip) -> Result<Gossip, Fault> {
        Err(fault::not_supported("this node takes no others"))
    }

    fn views(&self) -> watch::Receiver<Arc<View>> {
        self.views.subscribe()
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn set_quiescing(&self) {
        let member = Member { state: MemberState::Quiescing, ..self.member.clone() };
        self.views.send_replace(Arc::new(View::new(self.cluster.as_str(), None, vec![member])));
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn ask(&self, _: NodeId, _: Request, _: Duration) -> BoxFuture<'_, Result<Reply, TransportError>> {
        Box::pin(std::future::ready(Err(TransportError::new(Phase::Connect, TransportErrorKind::Unreachable))))
    }
}
