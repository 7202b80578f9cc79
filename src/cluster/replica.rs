//! One node's copy of the cluster tree: its records, what it has seen, what it has purged.
//!
//! Every change goes through `put`, which keeps the indexes and adds the change to the transaction that
//! the driver makes durable. The replica decides nothing about other nodes; `sync.rs` says what is exchanged with them
//! and `purge.rs` what is dropped.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, RngExt};

use crate::naming::{Content, Name};
use crate::protocol::OperationId;

use super::history::{Digest, Event, Learned, Outcome};
use super::index::Index;
use super::merge::Merge;
use super::oplog::{Horizons, Standing, standing};
use super::projection::{Projection, Records};
use super::record::{Record, Sibling};
use super::rules::{Rule, Rules};
use super::stamp::{HybridClock, Stamp};
use super::store::{Meta, State, Transaction};
use super::vector::{Actor, Dot, Seen, Vector};

/// How long a node remembers.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// How long what became of an operation is known.
    pub operations: Duration,
    /// How long a tombstone is kept at least. A matter of efficiency: a peer that missed it needs a full sync.
    pub tombstones: Duration,
    /// How long a client's forgotten operations are refused.
    pub clients: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        let day = Duration::from_secs(24 * 3600);
        Self { operations: Duration::from_secs(600), tombstones: day, clients: day }
    }
}

/// A local write at one name.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What is bound; `None` where something is removed.
    pub binds: Option<Bound>,
    /// The live versions that stay beside it. Everything else here is superseded.
    pub keep: Vec<Dot>,
    /// What is remembered: the operation, a digest of what it asked for, and what became of it so far. `None` where
    /// the node itself writes (it withdraws or voids a version) or the event is remembered at another name.
    pub event: Option<(OperationId, Digest, Outcome)>,
}

/// A version that is made.
#[derive(Clone, Debug)]
pub struct Bound {
    /// What is bound.
    pub content: Content,
    /// By which operation.
    pub operation: OperationId,
    /// When the name's life began, where the write does not take that over from what it replaces.
    pub created: Option<Stamp>,
    /// How long it stays unless it is renewed.
    pub lease: Option<Duration>,
}

impl Draft {
    /// What an operation binds, or (`None`) removes; what becomes of it is not settled.
    pub fn of(operation: OperationId, content: Option<Content>) -> Self {
        let bound = |content| Bound { content, operation, created: None, lease: None };
        Self { binds: content.map(bound), keep: Vec::new(), event: Some((operation, Digest::default(), Outcome::Pending)) }
    }
}

/// One node's copy of the cluster tree.
pub struct Replica {
    pub(super) rules: Rules,
    pub(super) retention: Retention,
    pub(super) actor: Actor,
    pub(super) sequence: u64,
    pub(super) records: Records,
    pub(super) seen: Seen,
    pub(super) floor: Vector,
    pub(super) clock: HybridClock,
    pub(super) horizons: Horizons,
    pub(super) index: Index,
    pub(super) projection: Projection,
    writer: Arc<str>,
    rng: StdRng,
    transaction: Transaction,
    meta_changed: bool,
}

impl Replica {
    /// A replica without data, of the node `writer`, whose driver's time 0 was `epoch` after 1970.
    pub fn new(writer: Arc<str>, epoch: Duration, mut rng: StdRng, rules: Rules) -> Self {
        Self {
            rules,
            retention: Retention::default(),
            actor: rng.random(),
            sequence: 0,
            records: Records::new(),
            seen: Seen::default(),
            floor: Vector::default(),
            clock: HybridClock::new(epoch, Stamp::default()),
            horizons: Horizons::default(),
            index: Index::default(),
            projection: Projection::default(),
            writer,
            rng,
            transaction: Transaction::default(),
            meta_changed: true,
        }
    }

    /// A replica that goes on from what a store held.
    pub fn restore(state: State, writer: Arc<str>, epoch: Duration, rng: StdRng, rules: Rules) -> Self {
        let mut replica = Self::new(writer, epoch, rng, rules);
        let meta = state.meta;
        replica.meta_changed = meta.actor.is_none();
        replica.actor = meta.actor.unwrap_or(replica.actor);
        replica.sequence = meta.sequence;
        replica.seen = meta.seen;
        replica.floor = meta.floor;
        replica.horizons = meta.horizons;
        replica.clock = HybridClock::new(epoch, meta.stamp);
        for (name, record) in state.records {
            replica.replace(Duration::ZERO, &name, Some(record));
        }
        // Whoever starts from here reads all of it at once.
        replica.take_changes();
        replica
    }

    /// Sets how long the replica remembers.
    pub fn with_retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// Draws a new actor, when a peer has seen more of this one than it wrote: its data is older than it was.
    pub fn renew_actor(&mut self) {
        if self.rules.hold(Rule::DotsUsedOnce) {
            self.actor = self.rng.random();
            self.sequence = 0;
            self.meta_changed = true;
        }
    }

    /// Whose writes are this replica's own.
    pub fn actor(&self) -> Actor {
        self.actor
    }

    /// How many writes of that actor there are.
    pub fn written(&self) -> u64 {
        self.sequence
    }

    /// Whether `seen` tells of writes of this actor that this replica has not made.
    pub fn is_outrun_by(&self, seen: &Seen) -> bool {
        seen.has_more_of(self.actor, self.sequence)
    }

    /// All that it has seen.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// What it has purged, or what a peer had purged from whom it synced fully.
    pub fn floor(&self) -> &Vector {
        &self.floor
    }

    /// What is known of a name.
    pub fn record(&self, name: &Name) -> Option<&Arc<Record>> {
        self.records.get(name)
    }

    /// All records, in the names' order.
    pub fn records(&self) -> impl Iterator<Item = (&Name, &Arc<Record>)> {
        self.records.iter()
    }

    /// The names at and beneath `context`, with their records.
    pub fn beneath<'a>(&'a self, context: &'a Name) -> impl Iterator<Item = (&'a Name, &'a Arc<Record>)> {
        self.records.range(context.clone()..).take_while(move |(name, _)| name.starts_with(context))
    }

    /// What became of an operation (at `name`, where that is known), as far as this node knows. A version that is live and pending may yet be
    /// withdrawn; one that was superseded without being withdrawn did take effect.
    pub fn standing(&self, operation: OperationId, name: Option<&Name>) -> Standing {
        let mut events = Vec::new();
        for name in self.index.oplog.names(operation) {
            let Some(record) = self.records.get(name) else { continue };
            events.extend(record.history.of(operation).map(|event| {
                let effective = event.outcome == Outcome::Pending && record.sibling(event.dot).is_none();
                Event { outcome: if effective { Outcome::Done } else { event.outcome }, ..*event }
            }));
        }
        let at_name =
            || name.and_then(|name| self.records.get(name)).is_some_and(|record| record.history.has_forgotten(operation));
        match standing(events) {
            Standing::Unknown if self.horizons.has_forgotten(operation) || at_name() => Standing::Forgotten,
            known => known,
        }
    }

    /// The names that were changed together with one of a record's live versions, or with what was moved away from it.
    pub fn companions<'a>(&'a self, record: &'a Record) -> impl Iterator<Item = Name> + 'a {
        let parts = record.history.iter().filter(|event| event.outcome == Outcome::Part);
        let operations = record.siblings.iter().map(|sibling| sibling.operation).chain(parts.map(|event| event.operation));
        operations.flat_map(|operation| self.index.oplog.names(operation)).cloned()
    }

    /// The events of an operation, and where they stand.
    pub fn events_of(&self, operation: OperationId) -> impl Iterator<Item = (&Name, &Event)> {
        let at = |name| Some((name, self.records.get(name)?));
        let records = self.index.oplog.names(operation).iter().filter_map(at);
        records.flat_map(move |(name, record)| record.history.of(operation).map(move |event| (name, event)))
    }

    /// The versions that have a lease, where they stand and how long it is.
    pub fn leased(&self) -> impl Iterator<Item = (Dot, &Name, Duration)> {
        self.projection.leased.iter().map(|(dot, (name, lease))| (*dot, name, *lease))
    }

    /// What is not settled, of what stands there and of what was replaced.
    pub fn unsettled(&self) -> impl Iterator<Item = (Dot, &Name)> {
        self.index.unsettled.iter().map(|(dot, name)| (*dot, name))
    }

    /// A stamp of now, later than all before.
    pub fn tick(&mut self, now: Duration) -> Stamp {
        self.clock.tick(now)
    }

    /// Writes at one name: the next dot, the new record, what it supersedes.
    pub fn write(&mut self, now: Duration, name: &Name, draft: Draft) -> Dot {
        self.sequence += 1;
        let dot = Dot { actor: self.actor, sequence: self.sequence };
        debug_assert!(!self.rules.hold(Rule::DotsUsedOnce) || !self.seen.has(dot), "invariant 1: {dot} was used before");
        let stamp = self.clock.tick(now);
        self.projection.touch(&self.records, name);
        let entry = self.records.entry(name.clone()).or_default();
        // In place, where nobody else holds it: a name that is written all the time has a long history.
        let record = Arc::make_mut(entry);
        let before = record.take_versions();
        let siblings = before.siblings.iter().cloned();
        let (kept, replaced): (Vec<_>, Vec<_>) = siblings.partition(|s| draft.keep.contains(&s.dot));
        for sibling in &replaced {
            record.last.raise(sibling.dot);
        }
        record.last.raise(dot);
        if self.rules.hold(Rule::CoverageOnWrites) {
            record.coverage.join(&self.floor);
        }
        let inherited = replaced.iter().map(|sibling| sibling.created).min();
        record.siblings = kept;
        let mut learned = Learned::default();
        if let Some((operation, digest, outcome)) = draft.event {
            if record.history.is_empty() {
                self.index.remembers(name, stamp);
            }
            let event = Event { dot, operation, digest, stamp, outcome };
            record.history.note(event);
            learned.noted.push(event);
        }
        if let Some(Bound { content, operation, created, lease }) = draft.binds {
            let created = created.or(inherited).unwrap_or(stamp);
            let sibling = Sibling { dot, stamp, created, content, operation, writer: Arc::clone(&self.writer), lease };
            record.siblings.reserve_exact(1);
            record.siblings.push(Arc::new(sibling));
            record.siblings.sort_unstable_by_key(|sibling| sibling.dot);
        }
        let trimmed = record.history.trim();
        learned.gone = trimmed.events;
        let record = Arc::clone(entry);
        self.seen.add(dot);
        self.refuse(now, &trimmed.clients);
        self.index.replaced(now, name, &before, &record, &learned);
        self.projection.replaced(&self.records, name, &before, &record);
        self.store(name, Some(record));
        dot
    }

    /// What a busy name no longer remembers is refused everywhere, if it comes again.
    fn refuse(&mut self, now: Duration, operations: &[OperationId]) {
        for operation in operations {
            self.horizons.raise(*operation, self.clock.reading(now));
        }
    }

    /// Takes up a record from elsewhere: one that was fanned out, or (with all that its sender has seen) one of a full
    /// sync. Whether anything changed.
    pub fn merge(&mut self, now: Duration, name: &Name, remote: &Record, sender: Option<&Seen>) -> bool {
        let merge = Merge { seen: &self.seen, sender, rules: self.rules };
        let merged = merge.apply(self.records.get(name).map(Arc::as_ref), remote);
        for dot in remote.dots() {
            if !self.seen.has(dot) {
                self.seen.add(dot);
                self.meta_changed = true;
            }
        }
        for sibling in &remote.siblings {
            self.clock.observe(now, sibling.stamp);
        }
        let changed = merged.is_some();
        if let Some(mut record) = merged {
            let trimmed = record.history.trim();
            self.refuse(now, &trimmed.clients);
            self.put(now, name, Some(Arc::new(record)));
        }
        changed
    }

    /// Says what became of a write. Whether that was news.
    pub fn settle(&mut self, now: Duration, name: &Name, dot: Dot, outcome: Outcome) -> bool {
        let Some(entry) = self.records.get_mut(name) else { return false };
        let Some(&event) = entry.history.get(dot).filter(|event| event.outcome < outcome) else { return false };
        let event = Event { outcome, ..event };
        Arc::make_mut(entry).history.note(event);
        let record = Arc::clone(entry);
        let learned = Learned { noted: vec![event], gone: Vec::new() };
        self.index.replaced(now, name, &record, &record, &learned);
        self.store(name, Some(record));
        true
    }

    /// The change since the last call: to be committed before anything is said about it.
    pub fn take_transaction(&mut self) -> Transaction {
        let mut transaction = mem::take(&mut self.transaction);
        if mem::take(&mut self.meta_changed) {
            transaction.meta = Some(self.meta());
        }
        transaction
    }

    /// Replaces the record of a name, in memory and in the transaction; `None` purges it.
    pub(super) fn put(&mut self, now: Duration, name: &Name, record: Option<Arc<Record>>) {
        self.replace(now, name, record.clone());
        self.store(name, record);
    }

    fn store(&mut self, name: &Name, record: Option<Arc<Record>>) {
        self.transaction.records.insert(name.clone(), record);
        self.meta_changed = true;
    }

    fn replace(&mut self, now: Duration, name: &Name, record: Option<Arc<Record>>) {
        self.projection.touch(&self.records, name);
        let old = match &record {
            Some(record) => self.records.insert(name.clone(), Arc::clone(record)),
            None => self.records.remove(name),
        };
        let (old, new) = (old.unwrap_or_default(), record.unwrap_or_default());
        let (knew, knows) = (old.history.oldest(), new.history.oldest());
        if let Some(stamp) = knows.filter(|stamp| knew.is_none_or(|known| *stamp < known)) {
            self.index.remembers(name, stamp);
        }
        self.index.replaced(now, name, &old, &new, &Learned::between(&old.history, &new.history));
        self.projection.replaced(&self.records, name, &old, &new);
    }

    /// Marks what is known beside the records as changed.
    pub(super) fn touch(&mut self) {
        self.meta_changed = true;
    }

    /// A random number, for sessions.
    pub(super) fn draw(&mut self) -> u64 {
        self.rng.next_u64()
    }

    fn meta(&self) -> Meta {
        Meta {
            actor: Some(self.actor),
            sequence: self.sequence,
            seen: self.seen.clone(),
            floor: self.floor.clone(),
            stamp: self.clock.last(),
            horizons: self.horizons.clone(),
        }
    }
}
