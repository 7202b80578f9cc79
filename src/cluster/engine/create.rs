//! `bind`: create if absent, with one winner while the nodes see each other (3.6).
//!
//! A bind is stored here and offered to *all* live members, lagging ones too. A receiver holds it, or objects: it has
//! another binding, settled or not. Of two binds under way the one created first wins: its receiver takes back its own
//! and holds the other's. The coordinator settles a bind that all live members hold, or after a while a majority of
//! all members; else it waits until the silent ones have left the view. Only a version's coordinator withdraws it; a
//! retry that finds its operation under way elsewhere makes its own version *beside* that one, as old as that one.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::history::{Event, Outcome};
use crate::cluster::message::{Message, Refusal, Reply, Request, Write};
use crate::cluster::record::{Record, Sibling};
use crate::cluster::replica::Draft;
use crate::cluster::rules::Rule;
use crate::cluster::vector::Dot;
use crate::protocol::OperationId;
use crate::topology::NodeId;

use super::Engine;
use super::timer::Timer;
use super::write::Writing;

impl Engine {
    pub(super) fn execute_bind(&mut self, request: &Request, record: &Record) {
        let operation = request.operation;
        let others: Vec<&Arc<Sibling>> = record.siblings.iter().filter(|s| s.operation != operation).collect();
        if let Some(other) = others.first() {
            let is_taken = others.iter().any(|other| Self::is_settled(record, other.dot));
            if is_taken || !self.rules.hold(Rule::LooksAgain) {
                self.answer(operation, &Reply::AlreadyBound { version: other.dot, writer: Arc::clone(&other.writer) });
            } else {
                self.look_again(operation);
            }
            return;
        }
        let own = || record.siblings.iter().filter(|sibling| sibling.operation == operation);
        let beside = self.rules.hold(Rule::CoordinatorWithdraws);
        let keep = if beside { own().map(|sibling| sibling.dot).collect() } else { Vec::new() };
        let created = own().map(|sibling| sibling.created).min().filter(|_| self.rules.hold(Rule::SameCreation));
        let asked = Some((operation, request.intent.digest(&request.name)));
        let draft = Draft { content: request.intent.content().cloned(), keep, created, operation: asked };
        let dot = self.replica.write(self.now, &request.name, draft);
        if !beside {
            for replaced in own() {
                self.replica.settle(self.now, &request.name, replaced.dot, Outcome::Withdrawn);
            }
        }
        let waits_for = self.peers().into_iter().filter(|peer| self.is_offered(*peer)).collect();
        let writing = Writing {
            operation,
            name: request.name.clone(),
            is_create: true,
            waits_for,
            held_by: BTreeSet::from([self.id]),
            is_overdue: false,
            is_frugal: false,
        };
        self.writings.insert(dot, writing);
        self.offer(dot);
    }

    fn is_offered(&self, peer: NodeId) -> bool {
        !self.lagging.contains_key(&peer) || self.rules.hold(Rule::CreateToLagging)
    }

    fn offer(&mut self, dot: Dot) {
        let Some(writing) = self.writings.get(&dot) else { return };
        let (operation, name) = (Some(writing.operation), writing.name.clone());
        let record = self.record_of(&name);
        for peer in self.peers() {
            if self.is_offered(peer) {
                let write = Write { dot, operation, name: name.clone(), record: Arc::clone(&record) };
                self.send(peer, Message::Create(write));
            }
        }
        self.timers.add(self.now + self.timing.lagging_after, Timer::Overdue(dot));
        self.check(dot);
    }

    /// A majority of all members, live or not, is enough in the end: two of them share a member, which objects.
    pub(super) fn may_commit_late(&self, writing: &Writing) -> bool {
        let is_majority = writing.held_by.len() * 2 > self.members.len();
        writing.is_overdue && (is_majority || !self.rules.hold(Rule::MajorityCommits))
    }

    pub(super) fn commit_create(&mut self, dot: Dot, writing: &Writing) {
        self.replica.settle(self.now, &writing.name, dot, Outcome::Done);
        let record = self.record_of(&writing.name);
        let write = Write { dot, operation: Some(writing.operation), name: writing.name.clone(), record };
        self.broadcast(&Message::Write(write));
    }

    /// This node was frozen: the others may have given it up, and what they acknowledged may no longer hold.
    pub(super) fn distrust_creates(&mut self) {
        if !self.rules.hold(Rule::FrozenDistrusts) {
            return;
        }
        let creates: Vec<Dot> = self.writings.iter().filter(|(_, w)| w.is_create).map(|(dot, _)| *dot).collect();
        for dot in creates {
            let peers = self.peers().into_iter().collect();
            if let Some(writing) = self.writings.get_mut(&dot) {
                writing.held_by = BTreeSet::from([self.id]);
                writing.is_overdue = false;
                writing.waits_for = peers;
            }
            self.offer(dot);
        }
    }

    pub(super) fn receive_create(&mut self, from: NodeId, write: &Write) {
        let (dot, name) = (write.dot, &write.name);
        let here = self.record_of(name);
        let Some(operation) = write.operation else { return };
        let took_effect =
            |event: &Event| event.dot != dot && event.outcome == Outcome::Done && !write.record.supersedes(event.dot);
        if here.history.of(operation).any(took_effect) && self.rules.hold(Rule::KnownAnswered) {
            self.send(from, Message::CreateKnown { dot, record: here });
            return;
        }
        let rivals: Vec<&Arc<Sibling>> = here
            .siblings
            .iter()
            .filter(|s| s.dot != dot && s.operation != operation && !write.record.supersedes(s.dot))
            .collect();
        if rivals.is_empty() {
            self.hold(from, write);
            return;
        }
        let age = |sibling: &Sibling| (sibling.created, sibling.operation);
        let offered = write.record.sibling(dot).map(|sibling| age(sibling));
        let is_own_create = |rival: &Sibling| self.writings.get(&rival.dot).is_some_and(|writing| writing.is_create);
        let gives_way = rivals.iter().all(|rival| is_own_create(rival) && offered < Some(age(rival)));
        if gives_way && self.rules.hold(Rule::FirstCreatedWins) {
            for rival in rivals {
                self.withdraw(rival.dot);
            }
            self.hold(from, write);
        } else {
            self.send(from, Message::CreateObjection { dot, record: here });
        }
    }

    fn hold(&mut self, from: NodeId, write: &Write) {
        self.take_up(&write.name, &write.record);
        self.send(from, Message::CreateHeld(write.dot));
    }

    pub(super) fn create_objected(&mut self, dot: Dot, record: &Record) {
        let Some(name) = self.writings.get(&dot).map(|writing| writing.name.clone()) else { return };
        self.take_up(&name, record);
        self.withdraw(dot);
    }

    pub(super) fn create_known(&mut self, dot: Dot, record: &Record) {
        let Some(name) = self.writings.get(&dot).map(|writing| writing.name.clone()) else { return };
        self.take_up(&name, record);
        let Some(writing) = self.writings.remove(&dot) else { return };
        self.retract(&name, dot);
        let done = record.history.of(writing.operation).find(|event| event.outcome == Outcome::Done).map(|event| event.dot);
        let receipt = self.receipt([self.id]);
        self.answer(writing.operation, &Reply::Done { version: done, receipt });
    }

    /// Takes an own bind back, and looks what became of the other.
    fn withdraw(&mut self, dot: Dot) {
        let Some(writing) = self.writings.remove(&dot) else { return };
        if self.rules.hold(Rule::Withdraws) {
            self.retract(&writing.name, dot);
        }
        if self.rules.hold(Rule::LooksAgain) {
            self.look_again(writing.operation);
        } else {
            let rival = self.record_of(&writing.name).siblings.iter().find(|s| s.operation != writing.operation).cloned();
            let (version, writer) = rival.map_or((dot, Arc::from("")), |rival| (rival.dot, Arc::clone(&rival.writer)));
            self.answer(writing.operation, &Reply::AlreadyBound { version, writer });
        }
    }

    /// Another bind of the name is under way. It may come to nothing: wait a little.
    fn look_again(&mut self, operation: OperationId) {
        let pause = self.jitter(20, 80);
        if pause > self.time_left(operation) {
            self.answer(operation, &Reply::Refused(Refusal::Contended));
        } else {
            self.timers.add(self.now + pause, Timer::LookAgain(operation));
        }
    }
}
