//! What must be the only one of its kind: bind, rename, `create_subcontext`; one winner while the nodes see each other
//! (3.6).
//!
//! A bind is stored here and offered to *all* live members, lagging ones too. A receiver holds it, or objects: it has
//! another binding, settled or not. Of two binds under way the one created first wins: its receiver takes back its own
//! and holds the other's. The coordinator settles a bind that all live members hold, or after a while a majority of
//! all members; else it waits until the silent ones have left the view. Only a version's coordinator withdraws it; a
//! retry that finds its operation under way elsewhere makes its own version *beside* that one, as old as that one.
//!
//! A rename is a bind of the new name; it is its owner's who owns the old one, where two renames of one thing meet.
//! Withdrawn, it puts back what it took away. Contexts that were made on the way stay.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::history::{Event, Outcome};
use crate::cluster::message::{Message, Write};
use crate::cluster::obstacle::{Existing, Obstacle};
use crate::cluster::record::{Named, Sibling};
use crate::cluster::reply::{Refusal, Reply};
use crate::cluster::rules::Rule;
use crate::cluster::vector::Dot;
use crate::naming::Name;
use crate::protocol::OperationId;
use crate::topology::NodeId;

use super::Engine;
use super::timer::Timer;
use super::write::Writing;

impl Engine {
    pub(super) fn is_offered(&self, peer: NodeId) -> bool {
        !self.lagging.contains_key(&peer) || self.rules.hold(Rule::CreateToLagging)
    }

    pub(super) fn offer(&mut self, dot: Dot) {
        let Some(write) = self.outgoing(dot) else { return };
        for peer in self.audience() {
            if self.is_offered(peer) {
                self.send(peer, Message::Create(write.clone()));
            }
        }
        let waits = write.operation.map_or(self.timing.lagging_after, |operation| self.waits_for_peers(operation));
        self.is_due_in(waits, dot);
        self.check(dot);
    }

    /// The offer may be lost, or the answer to it: with a connection, or by a node that could store nothing for a moment.
    pub(super) fn offer_again(&mut self, dot: Dot) {
        let Some(writing) = self.writings.get(&dot).filter(|writing| writing.is_create) else { return };
        let silent = writing.waits_for.difference(&writing.held_by).filter(|peer| self.live.contains(peer));
        let silent: Vec<NodeId> = silent.copied().collect();
        let Some(write) = self.outgoing(dot).filter(|_| self.rules.hold(Rule::OfferedAgain)) else { return };
        for peer in silent {
            self.send(peer, Message::Create(write.clone()));
        }
        self.is_due_in(self.timing.lagging_after, dot);
    }

    /// What a retry must not do: replace the versions that its operation has under way. See
    /// [`Rule::CoordinatorWithdraws`].
    pub(super) fn supersede_own(&mut self, operation: OperationId, name: &Name) {
        if !self.rules.hold(Rule::CoordinatorWithdraws) {
            for own in self.record_of(name).siblings.iter().filter(|sibling| sibling.operation == operation) {
                self.replica.settle(self.now, name, own.dot, Outcome::Withdrawn);
            }
        }
    }

    /// A majority of all members, live or not, is enough in the end: two of them share a member, which objects.
    pub(super) fn may_commit_late(&self, writing: &Writing) -> bool {
        let is_majority = writing.held_by.len() * 2 > self.members.len();
        writing.is_overdue && (is_majority || !self.rules.hold(Rule::MajorityCommits))
    }

    pub(super) fn commit_create(&mut self, dot: Dot, writing: &Writing) {
        self.replica.settle(self.now, &writing.name, dot, Outcome::Done);
        self.announce(dot, std::slice::from_ref(&writing.name));
    }

    /// This node was frozen, or could store nothing: the others may have given it up, and what they acknowledged may no
    /// longer hold.
    pub(super) fn distrust_creates(&mut self) {
        if !self.rules.hold(Rule::FrozenDistrusts) {
            return;
        }
        let creates: Vec<Dot> = self.writings.iter().filter(|(_, w)| w.is_create).map(|(dot, _)| *dot).collect();
        for dot in creates {
            let peers = self.peers().collect();
            if let Some(writing) = self.writings.get_mut(&dot) {
                writing.held_by = BTreeSet::from([self.id]);
                writing.is_overdue = false;
                writing.waits_for = peers;
            }
            self.offer(dot);
        }
    }

    pub(super) fn receive_create(&mut self, from: NodeId, write: &Write) {
        let (Some(Named { name, record }), Some(operation), dot) = (write.principal(), write.operation, write.dot) else {
            return;
        };
        let here = self.record_of(name);
        let is_final = |event: &Event| matches!(event.outcome, Outcome::Done | Outcome::Nothing);
        let is_answered = |event: &Event| event.dot != dot && is_final(event) && !record.supersedes(event.dot);
        if here.history.of(operation).any(is_answered) && self.rules.hold(Rule::KnownAnswered) {
            let records = self.bundle([name]);
            self.send(from, Message::CreateKnown { dot, records });
            return;
        }
        let is_rival = |s: &&Arc<Sibling>| s.dot != dot && s.operation != operation && !record.supersedes(s.dot);
        let rivals: Vec<&Arc<Sibling>> = here.siblings.iter().filter(is_rival).collect();
        if rivals.is_empty() {
            self.hold(from, write);
            return;
        }
        let age = |sibling: &Sibling| (sibling.created, sibling.operation);
        let offered = record.sibling(dot).map(|sibling| age(sibling));
        let is_own_create = |rival: &Sibling| self.writings.get(&rival.dot).is_some_and(|writing| writing.is_create);
        let gives_way = rivals.iter().all(|rival| is_own_create(rival) && offered < Some(age(rival)));
        if gives_way && self.rules.hold(Rule::FirstCreatedWins) {
            for rival in rivals {
                self.withdraw(rival.dot);
            }
            self.hold(from, write);
        } else {
            let records = self.bundle([name]);
            self.send(from, Message::CreateObjection { dot, records });
        }
    }

    fn hold(&mut self, from: NodeId, write: &Write) {
        self.take_up(&write.records);
        self.send(from, Message::CreateHeld(write.dot));
    }

    /// Whether a version may still be withdrawn. What is settled is perhaps being sent again, and late answers to its offer
    /// say nothing any more.
    fn is_under_way(&self, dot: Dot) -> bool {
        let is_create = self.writings.get(&dot).is_some_and(|writing| writing.is_create);
        is_create || !self.rules.hold(Rule::SettledStays)
    }

    pub(super) fn create_objected(&mut self, dot: Dot, records: &[Named]) {
        if self.is_under_way(dot) {
            self.take_up(records);
            self.withdraw(dot);
        }
    }

    pub(super) fn create_known(&mut self, dot: Dot, records: &[Named]) {
        if !self.is_under_way(dot) {
            return;
        }
        self.take_up(records);
        let Some(writing) = self.writings.remove(&dot) else { return };
        let mut known = records.iter().flat_map(|named| named.record.history.of(writing.operation));
        let done = known.find(|event| event.outcome == Outcome::Done);
        // What it moved was moved by the other execution too, unless that moved something else.
        let own = self.record_of(&writing.name).history.get(dot).map(|event| event.digest);
        let moved = writing.moved.filter(|_| done.map(|event| event.digest) != own);
        self.retract(&writing.name, dot, moved);
        let is_settled = self.settle_from_memory(writing.operation);
        if let Some(event) = done.filter(|_| !is_settled) {
            self.done(writing.operation, event.dot);
        }
    }

    /// Takes an own bind back, and looks what became of the other.
    fn withdraw(&mut self, dot: Dot) {
        let Some(writing) = self.writings.remove(&dot) else { return };
        if self.rules.hold(Rule::Withdraws) {
            self.retract(&writing.name, dot, writing.moved);
        }
        if self.rules.hold(Rule::LooksAgain) {
            self.look_again(writing.operation);
        } else {
            let record = self.record_of(&writing.name);
            let rival = record.siblings.iter().find(|sibling| sibling.operation != writing.operation);
            let existing =
                rival.map_or_else(|| Existing::context(&self.replica.shown(&writing.name)), |rival| Existing::of(rival));
            let obstacle = Obstacle::AlreadyBound { name: writing.name, existing };
            self.answer(writing.operation, &Reply::Obstructed(obstacle));
        }
    }

    /// Another bind of the name is under way. It may come to nothing: wait a little.
    pub(super) fn look_again(&mut self, operation: OperationId) {
        let pause = self.jitter(20, 80);
        if pause > self.time_left(operation) {
            self.answer(operation, &Reply::Refused(Refusal::Contended));
        } else {
            self.timers.add(self.now + pause, Timer::LookAgain(operation));
        }
    }

    /// The other bind had time to come to something; so had this operation, at another node that was asked for it.
    pub(super) fn looked_again(&mut self, operation: OperationId) {
        if !self.is_writing(operation) && !self.settle_from_memory(operation) {
            self.execute(operation);
        }
    }
}
