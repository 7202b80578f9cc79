//! The operations that change a tree. Each is one transaction; links on the way are left to the caller, a link at the
//! end is what the operation is about.

use std::sync::Arc;

use super::super::entry::{Content, EntryKind, Version};
use super::super::error::NamingError;
use super::super::name::Name;
use super::place::Path;
use super::refusal::{no_context_moves, not_empty};
use super::transaction::Transaction;
use super::{Change, Entry, Tree, TreeLink};

/// How [`Tree::bind`] treats what is there and what is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BindOptions {
    /// What is bound there gives way (`rebind`), an empty context too.
    pub replace: bool,
    /// Contexts that are missing on the way are made.
    pub create_parents: bool,
}

/// What is to be shown at a name, as it was decided elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Display {
    /// The name.
    pub name: Name,
    /// What is bound there; `None` for nothing.
    pub entry: Option<Arc<Entry>>,
    /// The name from which it was moved.
    pub moved_from: Option<Name>,
}

impl Tree {
    /// Binds a name. Gives the version of the new binding.
    pub fn bind(&self, name: &Name, content: Content, options: BindOptions) -> Result<Change<Version>, NamingError> {
        name.check_mutation()?;
        content.check().map_err(|error| error.with_name(name.as_str()))?;
        let path = Path::new(name);
        let mut transaction = Transaction::begin(self);
        if let Some(link) = transaction.open_way(&path, options.create_parents)? {
            return Ok(Change::Link(link));
        }
        if let Some(entry) = transaction.bound(&path, name.len()) {
            if !options.replace {
                return Err(self.already_bound(name, &entry));
            }
            transaction.check_gives_way(&path, &entry)?;
        }
        let version = transaction.put(&path, name.len(), content);
        transaction.commit();
        Ok(Change::Done(version))
    }

    /// Removes what is bound, an empty context too. Gives the version of the removal; `None` where nothing was there.
    pub fn unbind(&self, name: &Name) -> Result<Change<Option<Version>>, NamingError> {
        self.remove(name, |_| Ok(()))
    }

    /// Removes an empty context. Gives the version of the removal; `None` where nothing was there.
    pub fn destroy_subcontext(&self, name: &Name) -> Result<Change<Option<Version>>, NamingError> {
        self.remove(name, |entry| if entry.is_context() { Ok(()) } else { Err(NamingError::not_context(name, name.len())) })
    }

    fn remove(
        &self,
        name: &Name,
        check: impl FnOnce(&Entry) -> Result<(), NamingError>,
    ) -> Result<Change<Option<Version>>, NamingError> {
        name.check_mutation()?;
        let path = Path::new(name);
        let mut transaction = Transaction::begin(self);
        if let Some(link) = transaction.open_way(&path, false)? {
            return Ok(Change::Link(link));
        }
        let Some(entry) = transaction.bound(&path, name.len()) else { return Ok(Change::Done(None)) };
        check(&entry)?;
        transaction.check_gives_way(&path, &entry)?;
        let version = transaction.remove(&path);
        transaction.commit();
        Ok(Change::Done(Some(version)))
    }

    /// Moves a value or a link to a name that is free, in one step. Gives the version of the new binding; `None` where
    /// both names are one and nothing happened. A [`Change::Link`] may stand on either name's way.
    pub fn rename(&self, from: &Name, to: &Name) -> Result<Change<Option<Version>>, NamingError> {
        from.check_mutation()?;
        to.check_mutation()?;
        let (from_path, to_path) = (Path::new(from), Path::new(to));
        let mut transaction = Transaction::begin(self);
        if let Some(link) = transaction.open_way(&from_path, false)? {
            return Ok(Change::Link(link));
        }
        let Some(entry) = transaction.bound(&from_path, from.len()) else {
            return Err(NamingError::name_not_found(from, from.len() - 1));
        };
        if from == to {
            return Ok(Change::Done(None));
        }
        if entry.is_context() {
            return Err(no_context_moves(from));
        }
        if let Some(link) = transaction.open_way(&to_path, false)? {
            return Ok(Change::Link(link));
        }
        if let Some(taken) = transaction.bound(&to_path, to.len()) {
            return Err(self.already_bound(to, &taken));
        }
        transaction.remove(&from_path);
        let version = transaction.put(&to_path, to.len(), entry.content.clone());
        transaction.moved(from, to);
        transaction.commit();
        Ok(Change::Done(Some(version)))
    }

    /// Makes a context. Gives its version.
    pub fn create_subcontext(&self, name: &Name, create_parents: bool) -> Result<Change<Version>, NamingError> {
        name.check_mutation()?;
        let path = Path::new(name);
        let mut transaction = Transaction::begin(self);
        if let Some(link) = transaction.open_way(&path, create_parents)? {
            return Ok(Change::Link(link));
        }
        if let Some(entry) = transaction.bound(&path, name.len()) {
            return Err(self.already_bound(name, &entry));
        }
        let version = transaction.put(&path, name.len(), Content::context());
        transaction.commit();
        Ok(Change::Done(version))
    }
}

impl Tree {
    /// Shows at each of these names what was decided elsewhere (`None`: nothing), in one step: readers see all of it or
    /// nothing. Links and what is bound there decide nothing, and the names have passed [`Name::check_operation`].
    /// Whoever decides also sees to it that all names on the way to a bound name are contexts.
    pub fn show(&self, changes: impl IntoIterator<Item = Display>) {
        let mut transaction = Transaction::begin(self);
        for Display { name, entry, moved_from } in changes {
            transaction.set(&Path::new(&name), entry);
            if let Some(from) = moved_from {
                transaction.moved(&from, &name);
            }
        }
        transaction.commit();
    }
}

impl Transaction<'_> {
    /// Sees that all contexts on the way to a name exist, or makes them. Gives the link on the way, if there is one.
    fn open_way(&mut self, path: &Path, create: bool) -> Result<Option<TreeLink>, NamingError> {
        let name = path.name;
        let nearest = (1..name.len()).rev().find_map(|count| Some((count, self.bound(path, count)?)));
        let reached = match nearest {
            None => 0,
            Some((count, entry)) => match entry.content.kind {
                EntryKind::Context => count,
                EntryKind::Link => return Ok(Some(TreeLink::on(name, count, entry))),
                EntryKind::Value | EntryKind::Reference => return Err(NamingError::not_context(name, count)),
            },
        };
        if reached + 1 < name.len() && !create {
            return Err(NamingError::name_not_found(name, reached));
        }
        for count in reached + 1..name.len() {
            self.put(path, count, Content::context());
        }
        Ok(None)
    }

    /// Refuses (`ContextNotEmpty`) to lose a context with names in it.
    fn check_gives_way(&self, path: &Path, entry: &Arc<Entry>) -> Result<(), NamingError> {
        if !entry.is_context() {
            return Ok(());
        }
        match self.child_of(path) {
            None => Ok(()),
            Some(child) => Err(not_empty(path.name, child)),
        }
    }
}
