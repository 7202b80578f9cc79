//! A write: stored here, sent to all live nodes at once, answered when they hold it.
//!
//! A peer that does not acknowledge in time *lags*: it is still sent everything and no longer waited for, so that one
//! slow node costs one write a quarter of a second and the others nothing. `acked_by` names who holds the write.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::cluster::history::Outcome;
use crate::cluster::message::{Level, Message, Refusal, Reply, Uncertainty, Write};
use crate::cluster::record::Record;
use crate::cluster::replica::Draft;
use crate::cluster::rules::Rule;
use crate::cluster::vector::Dot;
use crate::naming::Name;
use crate::protocol::OperationId;
use crate::topology::NodeId;

use super::Engine;
use super::timer::Timer;

/// A write whose acknowledgements are awaited.
#[derive(Debug)]
pub(super) struct Writing {
    pub operation: OperationId,
    pub name: Name,
    /// Others may object (a bind).
    pub is_create: bool,
    pub waits_for: BTreeSet<NodeId>,
    pub held_by: BTreeSet<NodeId>,
    pub is_overdue: bool,
    pub is_frugal: bool,
}

impl Engine {
    /// Runs a request: here and now, on what this node knows.
    pub(super) fn execute(&mut self, operation: OperationId) {
        let Some(caller) = self.callers.get(&operation) else { return };
        if self.writings.values().any(|writing| writing.operation == operation) {
            return;
        }
        let request = caller.request.clone();
        let record = self.record_of(&request.name);
        if self.live.len() < self.timing.min_replicas && self.rules.hold(Rule::MinReplicas) {
            self.answer(operation, &Reply::Refused(Refusal::TooFew));
        } else if request.intent.is_bind() {
            self.execute_bind(&request, &record);
        } else if request.intent.content().is_none() && record.is_tombstone() {
            let receipt = self.receipt([self.id]);
            self.answer(operation, &Reply::Done { version: None, receipt });
        } else {
            let asked = Some((operation, request.intent.digest(&request.name)));
            let draft = Draft { content: request.intent.content().cloned(), keep: Vec::new(), created: None, operation: asked };
            let dot = self.replica.write(self.now, &request.name, draft);
            // Nobody can object to it: it took effect when it was stored.
            self.replica.settle(self.now, &request.name, dot, Outcome::Done);
            self.fan_out(operation, &request.name, dot);
        }
    }

    /// Sends a write to all live nodes and waits for those that don't lag.
    pub(super) fn fan_out(&mut self, operation: OperationId, name: &Name, dot: Dot) {
        let waits_for = self.peers().into_iter().filter(|peer| !self.lagging.contains_key(peer)).collect();
        let frugal = self.callers.get(&operation).is_some_and(|caller| caller.request.level == Level::One);
        let writing = Writing {
            operation,
            name: name.clone(),
            is_create: false,
            waits_for,
            held_by: BTreeSet::from([self.id]),
            is_overdue: false,
            is_frugal: frugal,
        };
        self.writings.insert(dot, writing);
        let write = Write { dot, operation: Some(operation), name: name.clone(), record: self.record_of(name) };
        for peer in self.peers() {
            if !self.lagging.contains_key(&peer) || self.rules.hold(Rule::LaggingSentTo) {
                self.send(peer, Message::Write(write.clone()));
            }
        }
        self.timers.add(self.now + self.timing.lagging_after, Timer::Overdue(dot));
        self.check(dot);
    }

    pub(super) fn receive_write(&mut self, from: NodeId, write: &Write) {
        self.take_up(&write.name, &write.record);
        self.send(from, Message::Held(write.dot));
    }

    pub(super) fn acknowledged(&mut self, from: NodeId, dot: Dot) {
        if let Some(writing) = self.writings.get_mut(&dot) {
            writing.held_by.insert(from);
            self.check(dot);
        }
    }

    pub(super) fn overdue(&mut self, dot: Dot) {
        if let Some(writing) = self.writings.get_mut(&dot) {
            writing.is_overdue = true;
            self.check(dot);
        }
    }

    pub(super) fn check_all(&mut self) {
        let dots: Vec<Dot> = self.writings.keys().copied().collect();
        for dot in dots {
            self.check(dot);
        }
    }

    /// Answers the write's caller if nobody is to be waited for any more.
    pub(super) fn check(&mut self, dot: Dot) {
        let Some(writing) = self.writings.get(&dot) else { return };
        let silent: Vec<NodeId> =
            writing.waits_for.difference(&writing.held_by).copied().filter(|node| self.live.contains(node)).collect();
        let enough = silent.is_empty() || if writing.is_create { self.may_commit_late(writing) } else { self.may_go_on(writing) };
        if !enough || (writing.is_create && self.was_frozen() && self.rules.hold(Rule::FrozenDistrusts)) {
            return;
        }
        let Some(writing) = self.writings.remove(&dot) else { return };
        if writing.is_overdue {
            for node in silent {
                self.mark_lagging(node);
            }
        }
        if writing.is_create {
            self.commit_create(dot, &writing);
        }
        let receipt = self.receipt(writing.held_by.iter().copied());
        let too_few = receipt.acked_by.len() < self.timing.min_replicas && self.rules.hold(Rule::MinReplicas);
        let reply = if too_few {
            Reply::Unknown { reason: Uncertainty::TooFewHold, receipt }
        } else {
            Reply::Done { version: Some(dot), receipt }
        };
        self.answer(writing.operation, &reply);
    }

    fn may_go_on(&self, writing: &Writing) -> bool {
        writing.is_frugal || (writing.is_overdue && self.rules.hold(Rule::LaggingNotWaitedFor))
    }

    /// Merges a record from a peer, and takes back what turns out to be a repetition.
    pub(super) fn take_up(&mut self, name: &Name, record: &Record) {
        self.replica.merge(self.now, name, record, None);
        self.void_repetitions(name);
    }

    /// Removes one version alone, by an event of its own: what stands beside it stays.
    pub(super) fn retract(&mut self, name: &Name, dot: Dot) {
        let record = self.record_of(name);
        let keep = record.siblings.iter().map(|sibling| sibling.dot).filter(|other| *other != dot).collect();
        let draft = Draft { content: None, keep, created: None, operation: None };
        let event = self.replica.write(self.now, name, draft);
        self.replica.settle(self.now, name, dot, Outcome::Withdrawn);
        let write = Write { dot: event, operation: None, name: name.clone(), record: self.record_of(name) };
        self.broadcast(&Message::Write(write));
    }

    /// How long a caller still waits.
    pub(super) fn time_left(&self, operation: OperationId) -> Duration {
        self.callers.get(&operation).map_or(Duration::ZERO, |caller| caller.until.saturating_sub(self.now))
    }
}
