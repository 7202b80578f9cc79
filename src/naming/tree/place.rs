//! Where a name stands in the order of a tree.
//!
//! Names are ordered by their context's text first and their last component second, so that a context's names are
//! neighbours whatever stands beneath them: a listing is one walk, and "has it children?" one step. A context's text
//! ends in `/` here, which makes everything beneath it neighbours as well.

use std::cmp::Ordering;
use std::sync::Arc;

use equivalent::{Comparable, Equivalent};

use super::super::name::{Name, escaped};

/// A name as a key: its canonical text, cut where the last component starts.
#[derive(Clone, Debug)]
pub(super) struct Key {
    text: Arc<str>,
    cut: usize,
}

/// A position in the order: a context's text, empty or ending in `/`, and the text of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place<'a> {
    pub(super) context: &'a str,
    pub(super) component: &'a str,
}

impl<'a> Place<'a> {
    /// Before all names of a context.
    pub(super) fn first_in(context: &'a str) -> Self {
        Self { context, component: "" }
    }
}

impl Key {
    pub(super) fn text(&self) -> &Arc<str> {
        &self.text
    }

    pub(super) fn place(&self) -> Place<'_> {
        let (context, component) = self.text.split_at(self.cut);
        Place { context, component }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Key {}

impl Equivalent<Key> for Place<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self == key.place()
    }
}

impl Comparable<Key> for Place<'_> {
    fn compare(&self, key: &Key) -> Ordering {
        self.cmp(&key.place())
    }
}

/// A name that operations take, and where the texts of its prefixes end in its own text.
pub(super) struct Path<'a> {
    pub(super) name: &'a Name,
    ends: [usize; Name::MAX_COMPONENTS],
}

impl<'a> Path<'a> {
    /// The path of a name that passed [`Name::check_operation`].
    pub(super) fn new(name: &'a Name) -> Self {
        let mut ends = [0; Name::MAX_COMPONENTS];
        let mut start = 0;
        for (end, component) in ends.iter_mut().zip(name) {
            *end = start + escaped(component).len();
            start = *end + 1;
        }
        Self { name, ends }
    }

    /// The text of the first `count` components.
    pub(super) fn text(&self, count: usize) -> &'a str {
        match count {
            0 => "",
            count => &self.name.as_str()[..self.ends[count - 1]],
        }
    }

    /// The key of the first `count` components, of which there is one at least.
    pub(super) fn key(&self, count: usize) -> Key {
        let text = if count == self.name.len() { self.name.text().clone() } else { Arc::from(self.text(count)) };
        Key { text, cut: self.cut(count) }
    }

    /// The place of the first `count` components, of which there is one at least.
    pub(super) fn place(&self, count: usize) -> Place<'a> {
        let (context, component) = self.text(count).split_at(self.cut(count));
        Place { context, component }
    }

    fn cut(&self, count: usize) -> usize {
        if count < 2 { 0 } else { self.ends[count - 2] + 1 }
    }
}
