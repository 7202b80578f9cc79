//! Whether this node may answer a client of the whole cluster from what it shows (3.5): not where the client has seen
//! more of the cluster tree, and nobody while the node finds out what it missed in a freeze.
//!
//! It tries to catch up for a moment and refuses otherwise, before any step of the lookup rule: a name that it lacks may
//! be bound. Where all nodes are behind (those that had more are gone, perhaps for good) the client says that it will have
//! what there is; the answer is marked then.

use std::sync::Arc;

use tokio::time::Instant;

use crate::cluster::vector::Seen;
use crate::protocol::{Fault, Known, Operation, RefusalReason, Reply, Request, Scope};

use crate::server::connection::Caller;
use crate::server::core::Core;

/// The answer to a request that was put off.
#[derive(Debug)]
pub struct Answered {
    /// The answer.
    pub reply: Reply,
    /// What the client has seen with it, where that may be more than this node shows: another one has made the change.
    pub token: Option<Box<Seen>>,
}

impl From<Reply> for Answered {
    fn from(reply: Reply) -> Self {
        Self { reply, token: None }
    }
}

impl Core {
    /// Whether the request may be answered from what this node shows.
    pub fn may_show(&self, request: &Request) -> bool {
        if request.scope != Scope::Cluster {
            return true;
        }
        match (&request.known, &request.operation) {
            // A change is held against what the client has seen by the engine, and by its name's owner too.
            (
                _,
                Operation::Mutate(_)
                | Operation::Status
                | Operation::Quiesce
                | Operation::Gossip(_)
                | Operation::Became { .. }
                | Operation::Forget { .. },
            ) => true,
            (Some(known), _) if known.is_required => self.replication.may_show(&known.seen),
            (_, _) => !self.replication.is_waking(),
        }
    }

    /// Answers as soon as this node may, if that is soon.
    pub(super) async fn answer_when_shown(self: Arc<Self>, request: Request, deadline: Instant) -> Answered {
        let required = request.known.as_ref().filter(|known| known.is_required);
        let seen = required.map_or_else(Seen::default, |known| known.seen.clone());
        if !self.replication.catches_up(seen).await {
            return Reply::Failed(self.refused_to_show()).into();
        }
        match self.answer_now(Caller::Client, &request) {
            Some(reply) => reply.into(),
            None => self.answer_at_last(request, deadline).await,
        }
    }

    /// Why this node does not answer.
    pub(super) fn refused_to_show(&self) -> Fault {
        let is_waking = self.replication.is_waking();
        self.refused(if is_waking { RefusalReason::Waking } else { RefusalReason::Behind })
    }

    /// The reply; marked where the client takes what there is, and this node lacks some of what it has seen.
    pub(super) fn marked(&self, known: Option<&Known>, reply: Reply) -> Reply {
        let is_refusal = matches!(&reply, Reply::Failed(Fault { refusal: Some(_), .. }));
        match known {
            Some(known) if !known.is_required && !is_refusal && !self.replication.may_show(&known.seen) => {
                Reply::Stale(Box::new(reply))
            }
            _ => reply,
        }
    }

    /// What a change is held against.
    pub(super) fn token_of(&self, known: Option<&Known>) -> Seen {
        match known {
            Some(known) if known.is_required || self.replication.may_show(&known.seen) => known.seen.clone(),
            _ => Seen::default(),
        }
    }
}
