//! What readers see of the cluster tree: a tree of their own, in which nobody waits.

use std::sync::Arc;

use crate::cluster::context::Shown;
use crate::cluster::projection::Change;
use crate::cluster::replica::Replica;
use crate::naming::{Content, Entry, Tree, Version};

/// Shows all that a replica holds, as one step.
pub(super) fn show_all(tree: &Tree, replica: &Replica) {
    let all: Vec<_> = replica.all_shown().map(|(name, shown)| (name, entry(&shown))).collect();
    if !all.is_empty() {
        tree.show(all);
    }
}

/// Shows what has changed, as one step.
pub(super) fn show(tree: &Tree, changes: Vec<Change>) {
    if changes.is_empty() {
        return;
    }
    tree.show(changes.into_iter().map(|change| (change.name, entry(&change.new))));
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
