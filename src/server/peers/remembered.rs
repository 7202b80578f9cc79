//! Which peer had a name the last time.
//!
//! It is a hint and never an answer: the peer is asked first, that is all. So it may be lost at any time, and its size
//! is bounded by forgetting the older half at once, which costs nothing per name.

use std::collections::HashMap;
use std::sync::Arc;

use crate::topology::NodeId;

/// A bounded memory of which peer had which name.
#[derive(Debug)]
pub struct Remembered {
    young: HashMap<Arc<str>, NodeId>,
    old: HashMap<Arc<str>, NodeId>,
    half: usize,
}

impl Remembered {
    /// Remembers at most `capacity` names.
    pub fn new(capacity: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), half: (capacity / 2).max(1) }
    }

    /// Who had `name`.
    pub fn get(&mut self, name: &str) -> Option<NodeId> {
        if let Some(node) = self.young.get(name) {
            return Some(*node);
        }
        let (name, node) = self.old.remove_entry(name)?;
        self.insert_young(name, node);
        Some(node)
    }

    /// `node` has `name`.
    pub fn put(&mut self, name: &Arc<str>, node: NodeId) {
        if let Some(known) = self.young.get_mut(&**name) {
            *known = node;
            return;
        }
        self.old.remove(&**name);
        self.insert_young(Arc::clone(name), node);
    }

    /// `node` no longer has `name`.
    pub fn forget(&mut self, name: &str, node: NodeId) {
        for half in [&mut self.young, &mut self.old] {
            if half.get(name) == Some(&node) {
                half.remove(name);
            }
        }
    }

    /// Forgets all nodes that are not `live`.
    pub fn retain(&mut self, live: &[NodeId]) {
        self.young.retain(|_, node| live.contains(node));
        self.old.retain(|_, node| live.contains(node));
    }

    /// How many names are remembered.
    pub fn len(&self) -> usize {
        self.young.len() + self.old.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn insert_young(&mut self, name: Arc<str>, node: NodeId) {
        if self.young.len() >= self.half {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(name, node);
    }
}
