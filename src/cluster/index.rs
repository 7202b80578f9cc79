//! What is looked up in a replica otherwise than by name, kept in step with each record that is written.
//!
//! Nothing here is a fact of its own: all of it follows from the records, and is built anew at a start.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::naming::Name;

use super::history::{Event, Learned, Outcome};
use super::oplog::Oplog;
use super::record::Record;
use super::stamp::Stamp;
use super::vector::{Actor, Dot};

/// Names by writes: an actor is kept once for all of its own.
#[derive(Default)]
pub(super) struct ByDot(BTreeMap<Actor, BTreeMap<u64, Name>>);

impl ByDot {
    /// The write stands at this name.
    pub fn add(&mut self, dot: Dot, name: &Name) {
        self.0.entry(dot.actor).or_default().entry(dot.sequence).or_insert_with(|| name.clone());
    }

    fn remove(&mut self, dot: Dot) {
        if let Some(of_actor) = self.0.get_mut(&dot.actor) {
            of_actor.remove(&dot.sequence);
            if of_actor.is_empty() {
                self.0.remove(&dot.actor);
            }
        }
    }

    /// The writes of the same actor from this one on, and their names.
    pub fn from(&self, first: Dot) -> impl Iterator<Item = (Dot, &Name)> {
        let of_actor = self.0.get(&first.actor).into_iter().flat_map(move |of_actor| of_actor.range(first.sequence..));
        of_actor.map(move |(&sequence, name)| (Dot { actor: first.actor, sequence }, name))
    }
}

/// The indexes of a replica.
#[derive(Default)]
pub(super) struct Index {
    /// The name at which each last or live write stands: what a peer lacks is found without reading all records.
    pub by_dot: ByDot,
    /// Since when each tombstone is one, by this node's time.
    pub tombstones: BTreeMap<Name, Duration>,
    /// The writes of which it is not known what became of them.
    pub unsettled: BTreeMap<Dot, Name>,
    /// For each record that remembers anything an entry that is no later than all of it. It does not follow what is
    /// forgotten: whoever comes by it for its age sees how old the record's memory really is.
    pub oldest: BTreeSet<(Stamp, Name)>,
    /// At which names an operation ran.
    pub oplog: Oplog,
}

impl Index {
    /// The record of a name was replaced, whose history has so changed. Of the old one that is not looked at.
    pub fn replaced(&mut self, now: Duration, name: &Name, old: &Record, new: &Record, learned: &Learned) {
        for dot in old.dots().filter(|dot| new.dots().all(|other| other != *dot)) {
            self.by_dot.remove(dot);
        }
        for dot in new.dots() {
            self.by_dot.add(dot, name);
        }
        if new.is_tombstone() && !new.last.is_empty() {
            self.tombstones.entry(name.clone()).or_insert(now);
        } else if old.is_tombstone() {
            self.tombstones.remove(name);
        }
        self.learned(name, new, learned);
    }

    fn learned(&mut self, name: &Name, new: &Record, learned: &Learned) {
        for event in &learned.gone {
            if new.history.of(event.operation).next().is_none() {
                self.oplog.remove(event.operation, name);
            }
            self.unsettled.remove(&event.dot);
        }
        for event in &learned.noted {
            self.oplog.add(event.operation, name);
            self.settled(name, event);
        }
    }

    /// The record of a name remembers something that happened then, and before it knew nothing as old.
    pub fn remembers(&mut self, name: &Name, stamp: Stamp) {
        self.oldest.insert((stamp, name.clone()));
    }

    fn settled(&mut self, name: &Name, event: &Event) {
        if event.outcome == Outcome::Pending {
            self.unsettled.insert(event.dot, name.clone());
        } else {
            self.unsettled.remove(&event.dot);
        }
    }
}
