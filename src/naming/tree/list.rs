//! Listing a context, page by page.

use std::hint::black_box;
use std::ops::Bound;
use std::sync::Arc;

use super::super::error::NamingError;
use super::super::name::Name;
use super::lookup::{Lookup, truth};
use super::place::{Path, Place};
use super::{Change, Entry, Tree};

/// How many names are looked at together.
const CHUNK: usize = 64;

/// A part of a context's listing, in the order of the components' canonical texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreePage {
    /// The names: each a component in its canonical text (a name by itself, as it can be looked up), and what is bound.
    pub rows: Vec<(String, Arc<Entry>)>,
    /// There are more behind the last row.
    pub more: bool,
}

impl Tree {
    /// At most `limit` names of a context, those behind the component `after`. One page is one moment of the tree;
    /// the next may be a later one. `NameNotFound`, `NotContext` or `InvalidName` where it is no context; a link at the
    /// name is followed by the caller, as one on the way.
    pub fn list(&self, name: &Name, after: Option<&str>, limit: usize) -> Result<Change<TreePage>, NamingError> {
        name.check_operation()?;
        let context = if name.is_empty() { String::new() } else { format!("{name}/") };
        let start = Place { context: &context, component: after.unwrap_or("") };
        let bindings = self.published.load();
        let mut names = bindings.range::<_, Place>((Bound::Excluded(start), Bound::Unbounded));
        let mut page = TreePage { rows: Vec::with_capacity(limit.min(2 * CHUNK)), more: false };
        loop {
            let wanted = (limit - page.rows.len()).saturating_add(1).min(CHUNK);
            let chunk: Vec<_> = names.by_ref().take(wanted).collect();
            let found = chunk.iter().take_while(|(key, _)| key.place().context == context).count();
            // Reading all entries before the first is cloned lets the processor fetch them side by side; a clone,
            // being an atomic write, waits for its own entry and holds up the next.
            black_box(chunk[..found].iter().fold(0, |sum, (_, entry)| sum ^ entry.version.sequence));
            for (key, entry) in &chunk[..found] {
                if page.rows.len() == limit {
                    page.more = true;
                    break;
                }
                page.rows.push((key.place().component.to_owned(), Arc::clone(entry)));
            }
            if page.more || found < CHUNK {
                break;
            }
        }
        if !page.rows.is_empty() || page.more || name.is_empty() {
            return Ok(Change::Done(page));
        }
        // An empty context, the end of one, or none at all.
        match truth(&bindings, &Path::new(name)) {
            Lookup::Found(entry) if entry.is_context() => Ok(Change::Done(page)),
            Lookup::Found(_) => Err(NamingError::not_context(name, name.len())),
            Lookup::Link(link) => Ok(Change::Link(link)),
            Lookup::Missing { resolved, .. } => Err(NamingError::name_not_found(name, resolved.len())),
            Lookup::NotContext { resolved, .. } => Err(NamingError::not_context(name, resolved.len())),
            Lookup::Invalid(error) => Err(error),
        }
    }
}
