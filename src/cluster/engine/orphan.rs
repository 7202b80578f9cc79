//! A bind that was under way when its coordinator died, and whose client does not come again.
//!
//! Nobody would ever settle it: readers would be shown it, and whoever binds the name would be told for ever that another
//! bind of it is under way. So its coordinator offers it again where it comes back with what it had. Where it doesn't, the
//! owner of the name goes on after a while as if the client had come again, with a version of its own beside that one.

use std::collections::BTreeMap;
use std::mem;
use std::time::Duration;

use crate::cluster::history::Outcome;
use crate::cluster::oplog::Standing;
use crate::cluster::record::Sibling;
use crate::cluster::replica::{Bound, Draft};
use crate::cluster::rules::Rule;
use crate::cluster::vector::Dot;
use crate::naming::Name;

use super::Engine;
use super::request::owner_among;
use super::write::{Moved, Writing};

/// Since when this node has known of binds that are not settled.
#[derive(Debug, Default)]
pub(super) struct Orphans(BTreeMap<Dot, Duration>);

impl Engine {
    /// At each beat: goes on with what nobody else seems to go on with.
    pub(super) fn adopt_orphans(&mut self) {
        if !self.is_ready() || self.is_waking() || !self.rules.hold(Rule::OrphansAdopted) {
            return;
        }
        let before = mem::take(&mut self.orphans.0);
        let mut due = Vec::new();
        // There may be thousands that this node has under way itself, of which nothing is to be looked up.
        for (dot, name) in self.replica.unsettled().filter(|(dot, _)| !self.writings.contains_key(dot)) {
            let since = before.get(&dot).copied().unwrap_or(self.now);
            let is_due = dot.actor == self.replica.actor() || self.now >= since + self.timing.orphaned;
            self.orphans.0.insert(dot, if is_due { self.now } else { since });
            if is_due {
                due.push((dot, name.clone()));
            }
        }
        for (dot, name) in due {
            if dot.actor == self.replica.actor() { self.go_on_with(&name, dot) } else { self.adopt(&name, dot) }
        }
    }

    /// What this node had under way when it died. What it took away for that, a rename's value, is put back if it comes to
    /// nothing.
    fn go_on_with(&mut self, name: &Name, dot: Dot) {
        let Some(own) = self.record_of(name).siblings.iter().find(|own| own.dot == dot).cloned() else { return };
        let operation = own.operation;
        if self.is_writing(operation) {
            return;
        }
        let taken = self.replica.events_of(operation).find(|(_, event)| event.outcome == Outcome::Part);
        let moved = taken.map(|(from, _)| Moved { from: from.clone(), versions: vec![own] });
        let writing = self.writing(operation, name, true);
        self.writings.insert(dot, Writing { moved, ..writing });
        self.offer(dot);
    }

    fn adopt(&mut self, name: &Name, dot: Dot) {
        let record = self.record_of(name);
        let Some(orphan) = record.sibling(dot).filter(|_| owner_among(name, &self.live) == Some(self.id)) else { return };
        let operation = orphan.operation;
        let is_under_way = self.callers.contains_key(&operation) || self.is_writing(operation);
        let Standing::Pending(event) = self.replica.standing(operation, Some(name)) else { return };
        // Of several the first; what is settled beside it has won, or is in conflict with it.
        let age = |sibling: &Sibling| (sibling.created, sibling.operation);
        let is_first = record.siblings.iter().all(|other| !Self::is_settled(&record, other.dot) && age(orphan) <= age(other));
        if is_under_way || !is_first {
            return;
        }
        let (content, created, lease) = (orphan.content.clone(), Some(orphan.created), orphan.lease);
        let bound = Bound { content, operation, created, lease };
        let keep = record.siblings.iter().map(|sibling| sibling.dot).collect();
        let draft = Draft { binds: Some(bound), keep, event: Some((operation, event.digest, Outcome::Pending)) };
        let beside = self.replica.write(self.now, name, draft);
        let writing = self.writing(operation, name, true);
        self.writings.insert(beside, writing);
        self.offer(beside);
    }
}
