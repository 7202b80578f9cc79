//! All bindings of one moment.

use std::ops::Bound;
use std::sync::Arc;

use super::super::name::Name;
use super::place::{Path, Place};
use super::{Bindings, Entry};

/// A tree as it was at one moment. Holding it costs nothing but the memory of what has changed since.
#[derive(Clone)]
pub struct Snapshot(Arc<Bindings>);

impl Snapshot {
    pub(super) fn new(bindings: Arc<Bindings>) -> Self {
        Self(bindings)
    }

    /// How many names are bound.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is bound.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is bound at a name; `None` also for the root and for what no operation takes.
    pub fn get(&self, name: &Name) -> Option<&Arc<Entry>> {
        if name.is_empty() || name.check_operation().is_err() {
            return None;
        }
        self.0.get(&Path::new(name).place(name.len()))
    }

    /// Every name's canonical text and what is bound there; the names of one context follow each other.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<Entry>)> {
        self.0.iter().map(|(key, entry)| (key.text(), entry))
    }

    /// The same for what stands beneath a context, however deep.
    pub fn beneath(&self, name: &Name) -> impl Iterator<Item = (&Arc<str>, &Arc<Entry>)> {
        self.beneath_after(name, None)
    }

    /// The same, of the names that come behind `after`, which need not be bound any longer.
    pub fn beneath_after(&self, name: &Name, after: Option<&Name>) -> impl Iterator<Item = (&Arc<str>, &Arc<Entry>)> {
        let context = if name.is_empty() { String::new() } else { format!("{name}/") };
        let range = match after.filter(|after| !after.is_empty()).map(Path::new) {
            Some(after) => self.0.range::<_, Place>((Bound::Excluded(after.place(after.name.len())), Bound::Unbounded)),
            None => self.0.range::<_, Place>((Bound::Included(Place::first_in(&context)), Bound::Unbounded)),
        };
        range.take_while(move |(key, _)| key.text().starts_with(&context)).map(|(key, entry)| (key.text(), entry))
    }
}
