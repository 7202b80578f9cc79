//! A write: stored here, sent to all live nodes at once, answered when they hold it.
//!
//! A peer that does not acknowledge in time *lags*: it is still sent everything and no longer waited for, so that one
//! slow node costs one write a quarter of a second and the others nothing. `acked_by` names who holds the write. What
//! one event wrote travels as one bundle and is taken up as one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::cluster::history::{Digest, Outcome};
use crate::cluster::message::{Message, Write};
use crate::cluster::record::{Named, Sibling};
use crate::cluster::replica::{Bound, Draft};
use crate::cluster::reply::{Refusal, Reply, Uncertainty};
use crate::cluster::request::{Level, Request};
use crate::cluster::rules::Rule;
use crate::cluster::vector::Dot;
use crate::naming::{Content, Name};
use crate::protocol::OperationId;
use crate::topology::NodeId;

use super::Engine;
use super::decide::{Decision, Event};
use super::timer::Timer;

/// A write whose acknowledgements are awaited.
#[derive(Debug)]
pub(super) struct Writing {
    pub operation: OperationId,
    pub name: Name,
    /// The names that were written beside it.
    pub beside: Vec<Name>,
    /// Others may object (a bind).
    pub is_create: bool,
    pub waits_for: BTreeSet<NodeId>,
    pub held_by: BTreeSet<NodeId>,
    /// When those who have not acknowledged it are silent.
    pub due: Duration,
    pub is_overdue: bool,
    pub is_frugal: bool,
    /// What a rename took away, to be put back if it comes to nothing.
    pub moved: Option<Moved>,
    /// What is answered, where all that is written is that the operation came to nothing.
    pub instead: Option<Reply>,
}

/// What a rename took away from its old name.
#[derive(Debug)]
pub(super) struct Moved {
    pub from: Name,
    pub versions: Vec<Arc<Sibling>>,
}

impl Engine {
    /// Runs a request: here and now, on what this node knows.
    pub(super) fn execute(&mut self, operation: OperationId) {
        let Some(caller) = self.callers.get(&operation) else { return };
        if self.is_writing(operation) {
            return;
        }
        let request = caller.request.clone();
        if self.live.len() < self.timing.min_replicas && self.rules.hold(Rule::MinReplicas) {
            self.answer(operation, &Reply::Refused(Refusal::TooFew));
            return;
        }
        match self.decide(&request) {
            Decision::Nothing => {
                let receipt = self.receipt([self.id]);
                self.came_to_nothing(&request, Reply::Done { version: None, receipt });
            }
            Decision::Answer(reply) => self.came_to_nothing(&request, reply),
            Decision::Contended => self.look_again(operation),
            Decision::Renewal(version) => self.renewed_here(&request, version),
            Decision::Event(event) => self.write(&request, event),
        }
    }

    /// Writes an event: all of it in this step, and so in one transaction.
    fn write(&mut self, request: &Request, event: Event) {
        let (operation, name) = (request.operation, request.principal());
        let digest = Digest { asked: request.digest(), moved: event.moved };
        let is_create = request.intent.is_exclusive();
        for parent in &event.parents {
            let bound = Bound { content: Content::context(), operation, created: None, lease: None };
            self.replica.write(self.now, parent, Draft { binds: Some(bound), keep: Vec::new(), event: None });
        }
        let moved = event.source.map(|(from, bound_by)| {
            let record = self.record_of(&from);
            let (versions, others): (Vec<_>, Vec<_>) = record.siblings.iter().cloned().partition(|s| s.operation == bound_by);
            let keep = others.iter().map(|sibling| sibling.dot).collect();
            self.replica.write(self.now, &from, Draft { binds: None, keep, event: Some((operation, digest, Outcome::Part)) });
            Moved { from, versions }
        });
        if is_create {
            self.supersede_own(operation, name);
        }
        // What nobody can object to takes effect when it is stored.
        let outcome = if is_create { Outcome::Pending } else { Outcome::Done };
        let draft = Draft { binds: event.binds, keep: event.keep, event: Some((operation, digest, outcome)) };
        let dot = self.replica.write(self.now, name, draft);
        let writing = self.writing(operation, name, is_create);
        self.writings.insert(dot, Writing { beside: event.parents, moved, ..writing });
        if is_create { self.offer(dot) } else { self.fan_out(dot) }
    }

    /// A write of which nobody has acknowledged anything yet.
    pub(super) fn writing(&self, operation: OperationId, name: &Name, is_create: bool) -> Writing {
        let silent = self.callers.get(&operation).and_then(|caller| caller.silent_owner);
        let is_silent = |peer: &NodeId| silent == Some(*peer) && self.rules.hold(Rule::SilentOwnerLags);
        let is_waited_for = |peer: &NodeId| {
            if is_create { self.is_offered(*peer) } else { !self.lagging.contains_key(peer) && !is_silent(peer) }
        };
        let is_frugal = |level| level == Level::One && !is_create;
        Writing {
            operation,
            name: name.clone(),
            beside: Vec::new(),
            is_create,
            waits_for: self.peers().filter(is_waited_for).collect(),
            held_by: BTreeSet::from([self.id]),
            due: self.now,
            is_overdue: false,
            is_frugal: self.callers.get(&operation).is_some_and(|caller| is_frugal(caller.request.level)),
            moved: None,
            instead: None,
        }
    }

    pub(super) fn is_writing(&self, operation: OperationId) -> bool {
        self.writings.values().any(|writing| writing.operation == operation)
    }

    /// Sends once more what took effect and still stands, so that the receipt is true.
    pub(super) fn repeat(&mut self, operation: OperationId, name: &Name, dot: Dot) {
        let writing = self.writing(operation, name, false);
        self.writings.insert(dot, writing);
        self.fan_out(dot);
    }

    /// Sends a write to all nodes and waits for the live ones that don't lag.
    pub(super) fn fan_out(&mut self, dot: Dot) {
        let Some(write) = self.outgoing(dot) else { return };
        for peer in self.audience() {
            if !self.lagging.contains_key(&peer) || self.rules.hold(Rule::LaggingSentTo) {
                self.send(peer, Message::Write(write.clone()));
            }
        }
        self.is_due_in(self.timing.lagging_after, dot);
        self.check(dot);
    }

    /// Who has not acknowledged a write by then is silent.
    pub(super) fn is_due_in(&mut self, time: Duration, dot: Dot) {
        let due = self.now + time;
        if let Some(writing) = self.writings.get_mut(&dot) {
            writing.due = due;
            self.timers.add(due, Timer::Overdue(dot));
        }
    }

    /// A write under way, as it is sent.
    pub(super) fn outgoing(&self, dot: Dot) -> Option<Write> {
        let writing = self.writings.get(&dot)?;
        let records = self.bundle(std::iter::once(&writing.name).chain(&writing.beside));
        Some(Write { dot, operation: Some(writing.operation), records })
    }

    /// What is known of these names, and of all names that were changed together with one of them.
    pub(super) fn bundle<'a>(&self, names: impl IntoIterator<Item = &'a Name>) -> Vec<Named> {
        let mut records: Vec<Named> = Vec::new();
        let mut names: Vec<Name> = names.into_iter().cloned().collect();
        names.reverse();
        while let Some(name) = names.pop() {
            let Some(record) = self.replica.record(&name) else { continue };
            if records.iter().all(|known| known.name != name) {
                let record = Arc::clone(record);
                if self.rules.hold(Rule::WholeEvents) {
                    names.extend(self.replica.companions(&record).filter(|other| *other != name));
                }
                records.push(Named { name, record });
            }
        }
        records
    }

    pub(super) fn receive_write(&mut self, from: NodeId, write: &Write) {
        self.take_up(&write.records);
        if write.operation.is_some() {
            self.send(from, Message::Held(write.dot));
        }
    }

    pub(super) fn acknowledged(&mut self, from: NodeId, dot: Dot) {
        let is_counted = !self.guests.contains(&from);
        if let Some(writing) = self.writings.get_mut(&dot).filter(|_| is_counted) {
            writing.held_by.insert(from);
            self.check(dot);
        }
    }

    pub(super) fn overdue(&mut self, dot: Dot) {
        // One that was sent again since has a later time.
        if let Some(writing) = self.writings.get_mut(&dot).filter(|writing| self.now >= writing.due) {
            writing.is_overdue = true;
            self.check(dot);
            self.offer_again(dot);
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
        // Who lags by now is given up by writes under way too; whether a bind may do without it, its own rule says.
        let is_awaited = |node: &NodeId| self.live.contains(node) && (writing.is_create || !self.lagging.contains_key(node));
        let silent: Vec<NodeId> = writing.waits_for.difference(&writing.held_by).copied().filter(is_awaited).collect();
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
        let reply = match writing.instead {
            Some(Reply::Done { version, .. }) => Reply::Done { version, receipt },
            Some(reply) => reply,
            None if too_few => Reply::Unknown { reason: Uncertainty::TooFewHold, receipt },
            None => Reply::Done { version: Some(dot), receipt },
        };
        self.answer(writing.operation, &reply);
    }

    fn may_go_on(&self, writing: &Writing) -> bool {
        writing.is_frugal || (writing.is_overdue && self.rules.hold(Rule::LaggingNotWaitedFor))
    }

    /// Merges records from a peer, all in this step, and takes back what turns out to be a repetition.
    pub(super) fn take_up(&mut self, records: &[Named]) {
        for Named { name, record } in records {
            self.replica.merge(self.now, name, record, None);
        }
        for Named { name, .. } in records {
            self.void_repetitions(name);
        }
    }

    /// Takes one version back, by an event of its own: what stands beside it stays. What it had moved away comes back.
    pub(super) fn retract(&mut self, name: &Name, dot: Dot, moved: Option<Moved>) {
        let mut names = vec![name.clone()];
        if let Some(Moved { from, versions }) = moved.filter(|_| self.rules.hold(Rule::MovedPutBack)) {
            for version in &versions {
                self.put_back(&from, version);
            }
            names.push(from);
        }
        let event = self.drop_version(name, dot);
        self.replica.settle(self.now, name, dot, Outcome::Withdrawn);
        self.announce(event, &names);
    }

    /// Somebody may have bound the name meanwhile: then both stay, and the conflict is told.
    fn put_back(&mut self, name: &Name, version: &Sibling) {
        let keep = self.record_of(name).siblings.iter().map(|sibling| sibling.dot).collect();
        // An operation of its own: that of the version that was moved is superseded here, and would be voided.
        let operation = OperationId { client: self.replica.actor(), sequence: self.replica.written() + 1 };
        let (content, created, lease) = (version.content.clone(), Some(version.created), version.lease);
        let bound = Bound { content, operation, created, lease };
        self.replica.write(self.now, name, Draft { binds: Some(bound), keep, event: None });
    }

    /// Removes one version alone, by a write that belongs to no operation.
    pub(super) fn drop_version(&mut self, name: &Name, dot: Dot) -> Dot {
        let record = self.record_of(name);
        let keep = record.siblings.iter().map(|sibling| sibling.dot).filter(|other| *other != dot).collect();
        self.replica.write(self.now, name, Draft { binds: None, keep, event: None })
    }

    /// Tells all nodes of a write of this node's own.
    pub(super) fn announce(&mut self, dot: Dot, names: &[Name]) {
        let write = Write { dot, operation: None, records: self.bundle(names) };
        self.broadcast(&Message::Write(write));
    }

    /// How long a caller still waits.
    pub(super) fn time_left(&self, operation: OperationId) -> Duration {
        self.callers.get(&operation).map_or(Duration::ZERO, |caller| caller.until.saturating_sub(self.now))
    }
}
