//! Looking one name up.

use std::sync::Arc;

use super::super::entry::EntryKind;
use super::super::error::NamingError;
use super::super::name::Name;
use super::index::Probe;
use super::place::Path;
use super::{Bindings, Entry, Tree, TreeLink};

/// What a tree answers for a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup {
    /// This is bound there, and it is no link.
    Found(Arc<Entry>),
    /// A link stands at the name (nothing remains) or on the way to it.
    Link(TreeLink),
    /// Nothing is bound there.
    Missing {
        /// The context that the name leads to so far.
        resolved: Name,
        /// What that context doesn't have.
        remaining: Name,
    },
    /// Something on the way is no context.
    NotContext {
        /// The name of what is no context.
        resolved: Name,
        /// What stands behind it in the name.
        remaining: Name,
    },
    /// The text is no name that an operation takes.
    Invalid(NamingError),
}

/// A tree as it is at one moment, to look several names up in.
pub struct Moment {
    bindings: Arc<Bindings>,
    root: Arc<Entry>,
}

impl Moment {
    /// Looks up a name by its text.
    pub fn lookup(&self, text: &str) -> Lookup {
        match Name::parse(text) {
            Ok(name) if name.is_empty() => Lookup::Found(self.root.clone()),
            Ok(name) => name.check_operation().map_or_else(Lookup::Invalid, |()| truth(&self.bindings, &Path::new(&name))),
            Err(error) => Lookup::Invalid(error),
        }
    }
}

impl Tree {
    /// The tree as it is now: what is looked up there is of one state, however many writes follow.
    pub fn moment(&self) -> Moment {
        Moment { bindings: self.published.load_full(), root: self.root.clone() }
    }

    /// Looks up a name by its text. The canonical text of a bound name is found without being read; any other
    /// spelling is read first.
    pub fn lookup(&self, text: &str) -> Lookup {
        if text.is_empty() {
            return Lookup::Found(self.root.clone());
        }
        if let Probe::Bound(entry) = self.index.probe(text)
            && entry.content.kind != EntryKind::Link
        {
            return Lookup::Found(entry);
        }
        match Name::parse(text) {
            Ok(name) => self.lookup_name(&name),
            Err(error) => Lookup::Invalid(error),
        }
    }

    /// Whether one probe makes it certain that nothing is bound at a name or anywhere on the way to it: the tree was never
    /// written to, or doesn't even have the first component. `false` says nothing.
    pub fn surely_lacks(&self, text: &str) -> bool {
        let first = || text.split('/').next().unwrap_or_default();
        Name::is_plain(text) && (self.index.is_untouched() || matches!(self.index.probe(first()), Probe::Absent))
    }

    /// Looks up a name.
    pub fn lookup_name(&self, name: &Name) -> Lookup {
        if name.is_empty() {
            return Lookup::Found(self.root.clone());
        }
        if let Err(error) = name.check_operation() {
            return Lookup::Invalid(error);
        }
        let path = Path::new(name);
        let indexed = self.index.undisturbed(|| {
            answer(&path, |count| match self.index.probe(path.text(count)) {
                Probe::Bound(entry) => Some(Some(entry)),
                Probe::Absent => Some(None),
                Probe::Unsure => None,
            })
        });
        indexed.unwrap_or_else(|| truth(&self.published.load(), &path))
    }
}

/// The answer of one state.
pub(super) fn truth(bindings: &Bindings, path: &Path) -> Lookup {
    answer(path, |count| Some(bindings.get(&path.place(count)).cloned())).unwrap_or_else(|| missing(path, 0))
}

/// The answer, given what is bound at each prefix of the name; `None` as soon as that can't be told.
fn answer(path: &Path, bound: impl Fn(usize) -> Option<Option<Arc<Entry>>>) -> Option<Lookup> {
    let name = path.name;
    for count in (1..=name.len()).rev() {
        let Some(entry) = bound(count)? else { continue };
        let whole = count == name.len();
        return Some(match entry.content.kind {
            EntryKind::Link => Lookup::Link(TreeLink::on(name, count, entry)),
            _ if whole => Lookup::Found(entry),
            EntryKind::Context => missing(path, count),
            EntryKind::Value | EntryKind::Reference => {
                Lookup::NotContext { resolved: name.prefix(count), remaining: name.suffix(count) }
            }
        });
    }
    Some(missing(path, 0))
}

fn missing(path: &Path, count: usize) -> Lookup {
    Lookup::Missing { resolved: path.name.prefix(count), remaining: path.name.suffix(count) }
}
