//! What readers are shown, kept in step with the records, and how it changes.
//!
//! A server's readers have a structure of their own, in which nobody waits. It follows the replica by [`Change`]s:
//! after each step, for each name that shows something else than before, what it showed and what it shows. A context
//! may appear or vanish without a record of its own, for what lies under it; so for each name it is counted how many
//! names directly beneath it exist, and a change goes up only as far as a count falls to zero or rises from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::naming::{Content, Name};

use super::fingerprint;
use super::record::{Record, Sibling};
use super::shown::Shown;
use super::vector::Dot;

/// The records by name.
pub(super) type Records = BTreeMap<Name, Arc<Record>>;

/// A name shows something else than before, or its versions disagree now and didn't before, or the other way round.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The name.
    pub name: Name,
    /// What it showed.
    pub old: Shown,
    /// What it shows.
    pub new: Shown,
    /// Whether it was a conflict.
    pub was_conflict: bool,
    /// Whether it is one.
    pub is_conflict: bool,
}

/// What is shown, beyond the records themselves.
#[derive(Default)]
pub(super) struct Projection {
    /// How many names directly beneath a name exist, where any does.
    children: BTreeMap<Name, u32>,
    /// The names at which versions disagree.
    pub conflicts: BTreeSet<Name>,
    /// How many names are bound, and how many bytes their values take.
    pub names: u64,
    /// How many bytes all values take.
    pub bytes: u64,
    /// The versions with a lease: where they stand, and how long it is.
    pub leased: BTreeMap<Dot, (Name, Duration)>,
    /// Equal where the same versions stand at the same names, and else, in all likelihood, not.
    pub digest: u64,
    /// What the names changed since the last call of `take` showed before.
    touched: BTreeMap<Name, (Shown, bool)>,
}

impl Projection {
    /// What stands at a name. The root is always a context.
    pub fn shown(&self, records: &Records, name: &Name) -> Shown {
        let sibling = records.get(name).and_then(|record| record.shown()).cloned();
        match sibling {
            Some(context) if context.is_context() => Shown::Context(Some(context)),
            _ if self.is_implied(name) => Shown::Context(None),
            Some(value) => Shown::Value(value),
            None => Shown::Nothing,
        }
    }

    /// Whether anything lies under a name, or it is the root.
    pub fn is_implied(&self, name: &Name) -> bool {
        name.is_empty() || self.children.contains_key(name)
    }

    /// The contexts that have something under them, in order.
    pub fn implied(&self) -> impl Iterator<Item = &Name> {
        self.children.keys()
    }

    /// A record is about to be replaced: what its name shows is kept until `take`.
    pub fn touch(&mut self, records: &Records, name: &Name) {
        if !self.touched.contains_key(name) {
            let before = (self.shown(records, name), self.conflicts.contains(name));
            self.touched.insert(name.clone(), before);
        }
    }

    /// It was replaced.
    pub fn replaced(&mut self, records: &Records, name: &Name, old: &Record, new: &Record) {
        self.weigh(name, old, new);
        let (was_live, is_live) = (!old.is_tombstone(), !new.is_tombstone());
        if was_live != is_live && !self.children.contains_key(name) {
            self.exists(records, name, is_live);
        }
        self.judge(records, name);
    }

    /// All that shows something else than at the last call.
    pub fn take(&mut self, records: &Records) -> Vec<Change> {
        let touched = std::mem::take(&mut self.touched);
        let change = |(name, (old, was_conflict))| {
            let (new, is_conflict) = (self.shown(records, &name), self.conflicts.contains(&name));
            let is_change = !new.is_same(&old) || was_conflict != is_conflict;
            is_change.then_some(Change { name, old, new, was_conflict, is_conflict })
        };
        touched.into_iter().filter_map(change).collect()
    }

    /// A name came into being or ceased to be: its context counts it, and may do the same.
    fn exists(&mut self, records: &Records, name: &Name, appeared: bool) {
        let mut name = name.clone();
        while let Some(parent) = name.parent().filter(|parent| !parent.is_empty()) {
            let count = self.children.get(&parent).copied().unwrap_or(0);
            let count = if appeared { count + 1 } else { count.saturating_sub(1) };
            if count > u32::from(appeared) {
                self.children.insert(parent, count);
                return;
            }
            self.touch(records, &parent);
            if appeared {
                self.children.insert(parent.clone(), count);
            } else {
                self.children.remove(&parent);
            }
            self.judge(records, &parent);
            if records.get(&parent).is_some_and(|record| !record.is_tombstone()) {
                return;
            }
            name = parent;
        }
    }

    fn judge(&mut self, records: &Records, name: &Name) {
        let is_conflict = records.get(name).is_some_and(|record| {
            let hides = || record.siblings.iter().any(|sibling| !sibling.is_context()) && self.is_implied(name);
            record.is_conflict() || hides()
        });
        if is_conflict {
            self.conflicts.insert(name.clone());
        } else if !self.conflicts.is_empty() {
            self.conflicts.remove(name);
        }
    }

    fn weigh(&mut self, name: &Name, old: &Record, new: &Record) {
        self.names = self.names + u64::from(!new.is_tombstone()) - u64::from(!old.is_tombstone());
        for gone in old.siblings.iter().filter(|sibling| new.sibling(sibling.dot).is_none()) {
            self.bytes -= weight(&gone.content);
            self.digest ^= digest(name, gone);
            self.leased.remove(&gone.dot);
        }
        for come in new.siblings.iter().filter(|sibling| old.sibling(sibling.dot).is_none()) {
            self.bytes += weight(&come.content);
            self.digest ^= digest(name, come);
            if let Some(lease) = come.lease {
                self.leased.insert(come.dot, (name.clone(), lease));
            }
        }
    }
}

/// What a version takes of the quota of bytes.
pub(super) fn weight(content: &Content) -> u64 {
    let metadata = content.instance.as_ref().map_or(0, |instance| instance.metadata.len());
    (content.value.len() + metadata) as u64
}

/// Of a version where it stands. All versions' are combined to the tree's.
fn digest(name: &Name, sibling: &Sibling) -> u64 {
    let dot = sibling.dot;
    fingerprint::of(name.as_str().bytes().chain([0]).chain(dot.actor.to_le_bytes()).chain(dot.sequence.to_le_bytes()))
}
