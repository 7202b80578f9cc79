//! What readers see of the cluster tree: a tree of their own, in which nobody waits, and the log of its changes.

use std::sync::Arc;

use crate::cluster::history::Outcome;
use crate::cluster::projection::Change;
use crate::cluster::replica::Replica;
use crate::cluster::shown::Shown;
use crate::naming::{Content, Display, Entry, Name, Tree, Version};
use crate::server::log::ChangeLog;

/// What readers see.
#[derive(Clone, Debug)]
pub struct Readers {
    /// What is bound.
    pub tree: Arc<Tree>,
    /// Which names have changed, and at which versions disagree. The tree tells it of its writes.
    pub log: Arc<ChangeLog>,
}

impl Readers {
    /// Shows all that a replica holds, as one step.
    pub fn show_all(&self, replica: &Replica) {
        for conflict in replica.conflicts() {
            self.log.note_conflict(conflict.name.text(), true);
        }
        let all: Vec<Display> = replica.all_shown().map(|(name, shown)| display(name, &shown)).collect();
        if !all.is_empty() {
            self.tree.show(all);
        }
    }

    /// Shows what has changed, as one step.
    pub fn show(&self, replica: &Replica, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
        }
        let may_hold_moves = changes.iter().any(is_removal);
        for change in changes.iter().filter(|change| change.was_conflict != change.is_conflict) {
            self.log.note_conflict(change.name.text(), change.is_conflict);
        }
        self.tree.show(changes.into_iter().map(|change| {
            let moved_from = if may_hold_moves { moved_from(replica, &change) } else { None };
            Display { moved_from, ..display(change.name, &change.new) }
        }));
    }
}

fn display(name: Name, shown: &Shown) -> Display {
    Display { name, entry: entry(shown), moved_from: None }
}

fn is_removal(change: &Change) -> bool {
    matches!((&change.old, &change.new), (Shown::Value(_), Shown::Nothing))
}

/// From where the rename that made what is shown moved it.
fn moved_from(replica: &Replica, change: &Change) -> Option<Name> {
    let (Shown::Nothing, Shown::Value(sibling)) = (&change.old, &change.new) else { return None };
    let mut events = replica.events_of(sibling.operation);
    events.find(|(name, event)| **name != change.name && event.outcome == Outcome::Part).map(|(name, _)| name.clone())
}

fn entry(shown: &Shown) -> Option<Arc<Entry>> {
    let sibling = match shown {
        Shown::Nothing => return None,
        // Nobody made it: it is there for what lies under it.
        Shown::Context(None) => {
            let version = Version { actor: 0, sequence: 0 };
            return Some(Arc::new(Entry { content: Content::context(), version }));
        }
        Shown::Context(Some(sibling)) | Shown::Value(sibling) => sibling,
    };
    Some(Arc::new(Entry { content: sibling.content.clone(), version: sibling.dot }))
}
