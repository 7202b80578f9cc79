//! One node's copy of the cluster tree: its records, what it has seen, what it has purged.
//!
//! Every change goes through `put`, which keeps the indexes and adds the change to the transaction that
//! the driver makes durable. The replica decides nothing about other nodes; `sync.rs` says what is exchanged with them
//! and `purge.rs` what is dropped.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, RngExt};

use crate::naming::{Content, Name};
use crate::protocol::OperationId;

use super::history::{Event, Outcome};
use super::merge::Merge;
use super::oplog::{Horizons, Oplog, Standing, standing};
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
    pub content: Option<Content>,
    /// The live versions that stay beside it. Everything else here is superseded.
    pub keep: Vec<Dot>,
    /// When the name's life began, where the write does not take that over from what it replaces.
    pub created: Option<Stamp>,
    /// The operation that asks for it; `None` where the node itself does (it withdraws or voids a version).
    pub operation: Option<(OperationId, u64)>,
}

/// One node's copy of the cluster tree.
pub struct Replica {
    pub(super) rules: Rules,
    pub(super) retention: Retention,
    pub(super) actor: Actor,
    pub(super) sequence: u64,
    pub(super) records: BTreeMap<Name, Arc<Record>>,
    pub(super) seen: Seen,
    pub(super) floor: Vector,
    pub(super) clock: HybridClock,
    pub(super) horizons: Horizons,
    /// The name at which each last or live write stands: what a peer lacks is found without reading all records.
    pub(super) by_dot: BTreeMap<Dot, Name>,
    /// Since when each tombstone is one, by this node's time.
    pub(super) tombstones: BTreeMap<Name, Duration>,
    pub(super) oplog: Oplog,
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
            records: BTreeMap::new(),
            seen: Seen::default(),
            floor: Vector::default(),
            clock: HybridClock::new(epoch, Stamp::default()),
            horizons: Horizons::default(),
            by_dot: BTreeMap::new(),
            tombstones: BTreeMap::new(),
            oplog: Oplog::default(),
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
            replica.index(Duration::ZERO, &name, None, Some(&record));
            replica.records.insert(name, record);
        }
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

    /// What became of an operation, as far as this node knows. A version that is live and pending may yet be
    /// withdrawn; one that was superseded without being withdrawn did take effect.
    pub fn standing(&self, operation: OperationId) -> Standing {
        let mut events = Vec::new();
        for name in self.oplog.names(operation) {
            let Some(record) = self.records.get(name) else { continue };
            events.extend(record.history.of(operation).map(|event| {
                let effective = event.outcome == Outcome::Pending && record.sibling(event.dot).is_none();
                Event { outcome: if effective { Outcome::Done } else { event.outcome }, ..*event }
            }));
        }
        match standing(events) {
            Standing::Unknown if self.horizons.has_forgotten(operation) => Standing::Forgotten,
            known => known,
        }
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
        let mut record = self.records.get(name).map(|record| Record::clone(record)).unwrap_or_default();
        let (kept, replaced): (Vec<_>, Vec<_>) = record.siblings.drain(..).partition(|s| draft.keep.contains(&s.dot));
        for sibling in &replaced {
            record.last.raise(sibling.dot);
        }
        record.last.raise(dot);
        if self.rules.hold(Rule::CoverageOnWrites) {
            record.coverage.join(&self.floor);
        }
        let inherited = replaced.iter().map(|sibling| sibling.created).min();
        record.siblings = kept;
        if let Some((operation, digest)) = draft.operation {
            record.history.note(Event { dot, operation, digest, stamp, outcome: Outcome::Pending });
            if let Some(content) = draft.content {
                let created = draft.created.or(inherited).unwrap_or(stamp);
                let sibling = Sibling { dot, stamp, created, content, operation, writer: Arc::clone(&self.writer) };
                record.siblings.push(Arc::new(sibling));
                record.siblings.sort_unstable_by_key(|sibling| sibling.dot);
            }
        }
        self.seen.add(dot);
        self.put(now, name, Some(Arc::new(record)));
        dot
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
        if let Some(record) = merged {
            self.put(now, name, Some(Arc::new(record)));
        }
        changed
    }

    /// Says what became of a write. Whether that was news.
    pub fn settle(&mut self, now: Duration, name: &Name, dot: Dot, outcome: Outcome) -> bool {
        let Some(record) = self.records.get(name) else { return false };
        if record.history.get(dot).is_none_or(|event| event.outcome >= outcome) {
            return false;
        }
        let mut record = Record::clone(record);
        record.history.settle(dot, outcome);
        self.put(now, name, Some(Arc::new(record)));
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
        let old = match &record {
            Some(record) => self.records.insert(name.clone(), Arc::clone(record)),
            None => self.records.remove(name),
        };
        self.index(now, name, old.as_deref(), record.as_deref());
        self.transaction.records.insert(name.clone(), record);
        self.meta_changed = true;
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

    fn index(&mut self, now: Duration, name: &Name, old: Option<&Record>, new: Option<&Record>) {
        let nothing = Record::default();
        let (old, new) = (old.unwrap_or(&nothing), new.unwrap_or(&nothing));
        for dot in old.dots().filter(|dot| new.dots().all(|other| other != *dot)) {
            self.by_dot.remove(&dot);
        }
        self.by_dot.extend(new.dots().map(|dot| (dot, name.clone())));
        if new.is_tombstone() && !new.last.is_empty() {
            self.tombstones.entry(name.clone()).or_insert(now);
        } else {
            self.tombstones.remove(name);
        }
        for event in old.history.iter().filter(|event| new.history.get(event.dot).is_none()) {
            self.oplog.remove(event.operation, name);
        }
        for event in new.history.iter() {
            self.oplog.add(event.operation, name);
        }
    }
}
