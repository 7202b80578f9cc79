//! One write: it prepares the next state and publishes it in one step, or leaves no trace.

use std::collections::HashSet;
use std::sync::{Arc, MutexGuard, PoisonError};

use bytes::Bytes;

use super::super::entry::{Content, Version};
use super::super::name::Name;
use super::index::Probe;
use super::observer::Touched;
use super::place::{Key, Path, Place};
use super::{Bindings, Entry, Tree};

/// How many class names are kept once for all entries; what comes beyond has its own copy.
const SHARED_CLASS_NAMES: usize = 1024;

/// What the one writer keeps between writes.
#[derive(Default)]
pub(super) struct Writer {
    sequence: u64,
    class_names: HashSet<Arc<str>>,
}

impl Writer {
    /// The same content without spare memory: class names are shared, and the value has its own bytes, which may have
    /// been a slice of a whole frame.
    fn compact(&mut self, mut content: Content) -> Content {
        match self.class_names.get(&content.class_name) {
            Some(shared) => content.class_name = shared.clone(),
            None if self.class_names.len() < SHARED_CLASS_NAMES => {
                self.class_names.insert(content.class_name.clone());
            }
            None => {}
        }
        content.value = Bytes::copy_from_slice(&content.value);
        content
    }
}

/// A write in preparation. Dropping it undoes it.
pub(super) struct Transaction<'t> {
    tree: &'t Tree,
    writer: MutexGuard<'t, Writer>,
    bindings: Bindings,
    touched: Vec<(Key, Option<Arc<Entry>>)>,
    /// Of some of the names touched: from where what is bound there was moved.
    moves: Vec<(Arc<str>, Arc<str>)>,
}

impl<'t> Transaction<'t> {
    /// Waits for the writer before, and starts from what it published.
    pub(super) fn begin(tree: &'t Tree) -> Self {
        // A writer that panicked published all or nothing, so its state is sound.
        let writer = tree.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let bindings = Bindings::clone(&tree.published.load());
        Self { tree, writer, bindings, touched: Vec::with_capacity(2), moves: Vec::new() }
    }

    /// What is bound at the first `count` components, before this write.
    pub(super) fn bound(&self, path: &Path, count: usize) -> Option<Arc<Entry>> {
        match self.tree.index.probe(path.text(count)) {
            Probe::Bound(entry) => Some(entry),
            Probe::Absent => None,
            // The mark of a writer that panicked.
            Probe::Unsure => self.bindings.get(&path.place(count)).cloned(),
        }
    }

    /// A name in the context, if it has any.
    pub(super) fn child_of(&self, path: &Path) -> Option<&str> {
        let context = format!("{}/", path.name);
        let (key, _) = self.bindings.get_next(&Place::first_in(&context))?;
        let place = key.place();
        (place.context == context).then_some(place.component)
    }

    /// Binds the first `count` components.
    pub(super) fn put(&mut self, path: &Path, count: usize, content: Content) -> Version {
        self.writer.sequence += 1;
        let version = Version { actor: self.tree.actor, sequence: self.writer.sequence };
        let content = self.writer.compact(content);
        let entry = Arc::new(Entry { content, version });
        let key = path.key(count);
        self.bindings.insert(key.clone(), entry.clone());
        self.touched.push((key, Some(entry)));
        version
    }

    /// Removes what is bound at the whole name.
    pub(super) fn remove(&mut self, path: &Path) -> Version {
        self.writer.sequence += 1;
        let key = path.key(path.name.len());
        self.bindings.remove(&key.place());
        self.touched.push((key, None));
        Version { actor: self.tree.actor, sequence: self.writer.sequence }
    }

    /// Binds the whole name to what was decided elsewhere, or removes what is bound there.
    pub(super) fn set(&mut self, path: &Path, entry: Option<Arc<Entry>>) {
        let key = path.key(path.name.len());
        match &entry {
            Some(entry) => drop(self.bindings.insert(key.clone(), Arc::clone(entry))),
            None => drop(self.bindings.remove(&key.place())),
        }
        self.touched.push((key, entry));
    }

    /// Says that what is bound at `to` was moved there from `from`, for those who follow the tree.
    pub(super) fn moved(&mut self, from: &Name, to: &Name) {
        self.moves.push((Arc::clone(to.text()), Arc::clone(from.text())));
    }

    /// Makes it visible, all at once.
    pub(super) fn commit(self) {
        let index = &self.tree.index;
        index.begin();
        for (key, _) in &self.touched {
            index.mark(key.text());
        }
        self.tree.published.store(Arc::new(self.bindings));
        for (key, entry) in &self.touched {
            index.settle(key.text(), entry.as_ref());
        }
        if let Some(observer) = &self.tree.observer {
            let moved_from = |to: &str| self.moves.iter().find(|(known, _)| **known == *to).map(|(_, from)| from);
            observer.wrote(&mut self.touched.iter().map(|(key, entry)| {
                let name = key.text();
                Touched { name, entry: entry.as_ref(), moved_from: moved_from(name) }
            }));
        }
        index.end();
    }
}
