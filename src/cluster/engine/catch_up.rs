//! How nodes catch up with each other: on meeting, on a reminder, and by asking around.

use std::mem;

use crate::cluster::message::Message;
use crate::cluster::record::Named;
use crate::cluster::rules::Rule;
use crate::cluster::sync::{Progress, SyncPart, SyncRequest};
use crate::cluster::vector::{Dot, Seen, Vector};
use crate::naming::Name;
use crate::topology::NodeId;

use super::Engine;
use super::timer::Timer;

impl Engine {
    /// Asks a peer for what this node lacks; where it is answering already, when it has answered.
    pub(super) fn pull_from(&mut self, peer: NodeId) {
        if self.pulls.is_answered(self.now, peer) && self.rules.hold(Rule::PullsAwaited) {
            return;
        }
        let (request, pull) = self.replica.begin_pull();
        self.pulls.begin(self.now, peer, pull);
        self.send(peer, Message::Pull(request));
    }

    /// The way from a peer is open again: what was under way with it may be lost. One that is not of the view can't be asked.
    pub(super) fn reconnected(&mut self, peer: NodeId) {
        if self.live.contains(&peer) || self.guests.contains(&peer) {
            self.pull_anew_from(peer);
        }
    }

    /// The way from a peer broke: a process that dies breaks it first, long before it is found dead. It is waited for again
    /// when it has caught up.
    pub(super) fn disconnected(&mut self, peer: NodeId) {
        if self.live.contains(&peer) && self.rules.hold(Rule::BrokenLags) {
            self.mark_lagging(peer);
            self.owners_gone(peer);
            self.check_all();
        }
    }

    /// Asks a peer of whom no earlier answer is waited for.
    pub(super) fn pull_anew_from(&mut self, peer: NodeId) {
        self.pulls.end(peer);
        self.pull_from(peer);
    }

    /// This node can store again: what it was told meanwhile is lost to it.
    pub(super) fn resumed(&mut self) {
        self.distrust_creates();
        self.pull_from_all();
    }

    fn pull_from_all(&mut self) {
        for peer in self.peers().collect::<Vec<_>>() {
            self.pull_from(peer);
        }
    }

    pub(super) fn answer_pull(&mut self, from: NodeId, request: &SyncRequest) {
        self.notice_own_writes(&request.seen);
        self.notice_floor(from, &request.floor);
        self.caught_up(from, request.seen.vector());
        for part in self.replica.answer_pull(request) {
            self.send(from, Message::Part(part));
        }
    }

    pub(super) fn take_part(&mut self, from: NodeId, part: SyncPart) {
        if let Some(claim) = &part.claim {
            self.notice_own_writes(&claim.seen);
        }
        let Some(pull) = self.pulls.get(from) else { return };
        let names: Vec<Name> = part.records.iter().map(|Named { name, .. }| name.clone()).collect();
        let progress = self.replica.take_part(self.now, pull, part);
        if progress != Progress::Ignored {
            self.pulls.heard(self.now, from, names);
        }
        if let Progress::Complete { .. } = progress {
            let (names, is_wanted_again) = self.pulls.end(from);
            self.synced_with(from);
            for name in names {
                self.void_repetitions(&name);
            }
            let vector = self.replica.seen().vector().clone();
            self.send(from, Message::CaughtUp(vector));
            if is_wanted_again {
                self.pull_from(from);
            }
        }
    }

    /// A peer has seen this much; perhaps it no longer lags.
    pub(super) fn caught_up(&mut self, from: NodeId, vector: &Vector) {
        if self.lagging.get(&from).is_some_and(|missed| vector.covers(*missed)) {
            self.lagging.remove(&from);
        }
        if !self.replica.seen().vector().includes(vector) {
            self.ahead.insert(from);
        }
        self.vectors.entry(from).or_default().join(vector);
        self.check_handed_over();
    }

    /// At each beat: what peers had seen and this node had not was most likely on its way. Where it has not arrived, its
    /// writer may have died before it was sent, and has come back with it.
    pub(super) fn ask_those_ahead(&mut self) {
        let mut ahead = mem::take(&mut self.ahead);
        let (seen, audience) = (self.replica.seen().vector(), self.audience());
        ahead.retain(|peer| audience.contains(peer) && self.vectors.get(peer).is_some_and(|vector| !seen.includes(vector)));
        for peer in ahead.into_iter().filter(|_| self.rules.hold(Rule::AheadAsked)).collect::<Vec<_>>() {
            self.pull_from(peer);
        }
    }

    /// The peer lags until it has seen all that this node wrote up to now.
    pub(super) fn mark_lagging(&mut self, peer: NodeId) {
        let missed = Dot { actor: self.replica.actor(), sequence: self.replica.written() };
        self.lagging.insert(peer, missed);
    }

    pub(super) fn remind_lagging(&mut self) {
        let lagging: Vec<NodeId> = self.lagging.keys().copied().collect();
        for peer in lagging {
            self.send(peer, Message::Lagging);
        }
    }

    /// Something was missed: a write is known and one before it is not.
    pub(super) fn close_gaps(&mut self) {
        if self.replica.seen().beyond().next().is_some()
            && let Some(peer) = self.random_peer().filter(|peer| !self.pulls.has(*peer))
        {
            self.pull_from(peer);
        }
    }

    pub(super) fn anti_entropy(&mut self) {
        self.timers.add(self.now + self.timing.anti_entropy, Timer::AntiEntropy);
        if let Some(peer) = self.random_peer() {
            self.pull_from(peer);
        }
        self.replica.forget_operations(self.now);
        if let Some(everybody) = self.everybody() {
            self.replica.purge(self.now, &everybody);
        }
    }

    /// What all members have seen, where that is known.
    fn everybody(&self) -> Option<Vector> {
        let mut covered = self.replica.seen().vector().clone();
        for member in self.members.iter().filter(|member| **member != self.id) {
            covered = covered.meet(self.vectors.get(member)?);
        }
        Some(covered)
    }

    /// A peer has seen writes of this node's actor that this node hasn't: its data is older than it was.
    fn notice_own_writes(&mut self, seen: &Seen) {
        if self.replica.is_outrun_by(seen) {
            self.replica.renew_actor();
        }
    }
}
