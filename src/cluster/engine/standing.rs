//! Where a node stands: it joins, serves, leaves.
//!
//! A node serves nobody before its first sync: what it has may have been deleted meanwhile, and be purged everywhere
//! else. It is *ready* when one node that serves has answered it completely; where nobody serves yet, when all that are
//! there have. One that is gone before it has is waited for a while: who copies a large tree, or sends it, may seem dead for
//! a moment. A node falls back to joining when it turns out to be below a peer's floor. One that leaves refuses what is new,
//! ends what runs, and waits until the others have all that it has.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::cluster::message::Message;
use crate::cluster::reply::{Refusal, Reply};
use crate::cluster::rules::Rule;
use crate::cluster::vector::Vector;
use crate::protocol::OperationId;
use crate::topology::NodeId;

use super::request::Asker;
use super::{Engine, Output};

/// Where a node stands.
#[derive(Debug, Default)]
pub(super) struct Standing {
    is_ready: bool,
    is_leaving: bool,
    has_handed_over: bool,
    /// Whose answers are in, until it is ready.
    met: BTreeSet<NodeId>,
    /// When somebody was gone whose answer was not, until it is ready.
    lost: Option<Duration>,
    /// What peers are known to have purged.
    floor: Vector,
}

impl Engine {
    /// Whether the first sync is through, so that this node may serve.
    pub fn is_ready(&self) -> bool {
        self.standing.is_ready
    }

    /// Why nothing new is taken, if that is so.
    pub(super) fn serves_nobody(&self) -> Option<Refusal> {
        if self.standing.is_leaving {
            Some(Refusal::Quiescing)
        } else if !self.standing.is_ready && self.rules.hold(Rule::ReadyFirst) {
            Some(Refusal::Joining)
        } else {
            None
        }
    }

    pub(super) fn refuse(&mut self, asker: Asker, operation: OperationId, refusal: Refusal) {
        let reply = Reply::Refused(refusal);
        self.outputs.push(match asker {
            Asker::Client(asker) => Output::Answer { asker, reply, token: None },
            Asker::Node(to) => {
                let token = self.replica.seen().clone();
                Output::Send { to, message: Message::Forwarded { operation, reply, token } }
            }
        });
    }

    /// A whole answer of a peer was taken up.
    pub(super) fn synced_with(&mut self, peer: NodeId) {
        self.told_by(peer);
        if !self.standing.is_ready {
            self.standing.met.insert(peer);
            self.view_changed();
        }
    }

    pub(super) fn view_changed(&mut self) {
        if self.standing.is_ready {
            return;
        }
        let met = |node: &NodeId| self.standing.met.contains(node);
        let is_ready = match self.peers().next() {
            Some(_) => self.peers().any(|peer| met(&peer)) && !self.replica.is_below(&self.standing.floor),
            None => self.guests.iter().all(met) && !self.is_awaiting_lost_ones(),
        };
        if is_ready {
            self.standing.is_ready = true;
            self.standing.met.clear();
            self.standing.lost = None;
            self.outputs.push(Output::Ready);
        }
    }

    /// These are gone. Those among them that had the tree take it with them, unless they come back.
    pub(super) fn notice_lost_ones<'a>(&mut self, mut gone: impl Iterator<Item = &'a NodeId>) {
        if !self.standing.is_ready && gone.any(|node| !self.standing.met.contains(node)) {
            self.standing.lost = Some(self.now);
        }
    }

    fn is_awaiting_lost_ones(&self) -> bool {
        let is_recent = |lost: Duration| self.now < lost + self.timing.lost_ones;
        self.standing.lost.is_some_and(is_recent) && self.rules.hold(Rule::LostOnesAwaited)
    }

    /// At each beat: perhaps they were waited for long enough.
    pub(super) fn await_lost_ones(&mut self) {
        if self.standing.lost.is_some() {
            self.view_changed();
        }
    }

    /// A peer has purged what this node has not seen: only a full sync from it tells what was deleted.
    pub(super) fn notice_floor(&mut self, from: NodeId, floor: &Vector) {
        if self.replica.is_below(floor) {
            self.standing.floor.join(floor);
            if self.standing.is_ready {
                self.standing.is_ready = false;
                self.outputs.push(Output::NotReady);
            }
            self.pull_from(from);
        }
    }

    pub(super) fn quiesce(&mut self) {
        self.standing.is_leaving = true;
        self.hand_over();
    }

    /// While this node leaves, at each beat: asks those to pull who lack something.
    pub(super) fn hand_over(&mut self) {
        self.check_handed_over();
        if self.standing.is_leaving && !self.standing.has_handed_over {
            for peer in self.lacking() {
                self.send(peer, Message::Lagging);
            }
        }
    }

    /// While this node leaves: says when nothing is under way and the others have all that it has.
    pub(super) fn check_handed_over(&mut self) {
        if !self.standing.is_leaving || self.standing.has_handed_over {
            return;
        }
        let is_idle = self.callers.is_empty() && self.writings.is_empty();
        if is_idle && (self.lacking().is_empty() || !self.rules.hold(Rule::HandsOver)) {
            self.standing.has_handed_over = true;
            self.outputs.push(Output::HandedOver);
        }
    }

    /// The peers that are not known to have seen all that this node has.
    fn lacking(&self) -> Vec<NodeId> {
        let seen = self.replica.seen().vector();
        let lacks = |peer: &NodeId| self.vectors.get(peer).is_none_or(|vector| !vector.includes(seen));
        self.peers().filter(lacks).collect()
    }
}
