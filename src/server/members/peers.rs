//! The members as the rest of the server asks them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::cluster::message::Message;
use crate::failure::Phase;
use crate::protocol::{Fault, Gossip, Introduction, Reply, Request};
use crate::server::peers::Peers;
use crate::topology::{NodeId, View};
use crate::transport::{BoxFuture, TransportError, TransportErrorKind};

use super::Members;

/// How long a farewell to all others may take.
const FAREWELL: Duration = Duration::from_millis(400);

impl Peers for Members {
    fn introduction(&self) -> Introduction {
        self.introduction()
    }

    fn admit(&self, introduction: &Introduction) -> Result<(), Fault> {
        self.admit(introduction)
    }

    fn gossip(&self, gossip: Gossip) -> Result<Gossip, Fault> {
        Ok(self.answer_gossip(gossip))
    }

    fn views(&self) -> watch::Receiver<Arc<View>> {
        self.subscribe()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings()
    }

    fn set_quiescing(&self) {
        self.set_quiescing();
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.leave(FAREWELL))
    }

    fn met(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.met())
    }

    fn has_tree(&self) {
        self.has_tree();
    }

    fn tell(&self, peer: NodeId, messages: Vec<Message>) {
        self.inner.tell(peer, messages);
    }

    fn joined(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(self.ready())
    }

    fn unready(&self) -> Option<String> {
        self.unready()
    }

    fn ask(&self, peer: NodeId, request: Request, within: Duration) -> BoxFuture<'_, Result<Reply, TransportError>> {
        Box::pin(async move {
            let until = Instant::now() + within;
            let link = self.data_link(peer, within).await?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(TransportError::new(Phase::Connect, TransportErrorKind::TimedOut(within)));
            }
            link.ask(request, left).await
        })
    }
}
