//! What a tree refuses, in words.

use super::super::entry::{Content, EntryKind, Listed};
use super::super::error::{Detail, ErrorKind, NamingError};
use super::super::name::{Name, escaped};
use super::super::shown::Short;
use super::{Entry, Tree};

impl Entry {
    /// Whether it is a context.
    pub fn is_context(&self) -> bool {
        self.content.kind == EntryKind::Context
    }
}

impl NamingError {
    /// `NameNotFound`: the first `resolved` components of `name` lead to a context that has not the next one.
    pub fn name_not_found(name: &Name, resolved: usize) -> Self {
        let message = match (name.get(resolved), resolved) {
            (Some(missing), 1..) => {
                format!("no such name: '{}' holds no '{}'", Short(name.prefix(resolved).as_str()), Short(&escaped(missing)))
            }
            (Some(missing), 0) if name.len() > 1 => format!("no such name: the root holds no '{}'", Short(&escaped(missing))),
            _ => "no such name".to_owned(),
        };
        Self::new(ErrorKind::NameNotFound, message).resolved(name, resolved)
    }

    /// `NotContext`: what is bound at the first `resolved` components of `name` is no context.
    pub fn not_context(name: &Name, resolved: usize) -> Self {
        Self::new(ErrorKind::NotContext, format!("'{}' is not a context", Short(name.prefix(resolved).as_str())))
            .resolved(name, resolved)
    }

    fn resolved(self, name: &Name, resolved: usize) -> Self {
        self.with_name(name.as_str()).with_resolution(name.prefix(resolved).as_str(), name.suffix(resolved).as_str())
    }
}

impl Name {
    /// Refuses (`InvalidName`) what no operation may change: the context itself, and what no operation takes.
    pub fn check_mutation(&self) -> Result<(), NamingError> {
        if self.is_empty() {
            let message = "the empty name means the context itself, which can't be changed";
            return Err(NamingError::new(ErrorKind::InvalidName, message).with_name(""));
        }
        self.check_operation()
    }
}

/// `ContextNotEmpty`.
pub(super) fn not_empty(name: &Name, child: &str) -> NamingError {
    NamingError::new(ErrorKind::ContextNotEmpty, format!("the context is not empty: it holds '{}'", Short(child)))
        .resolved(name, name.len())
}

/// `OperationNotSupported`, for the renaming of a context.
pub(super) fn no_context_moves(name: &Name) -> NamingError {
    let message = "a context can't be renamed; rename what it holds, name by name";
    NamingError::new(ErrorKind::OperationNotSupported, message).with_name(name.as_str())
}

impl Tree {
    /// `NameAlreadyBound`, saying where and by which write.
    pub(super) fn already_bound(&self, name: &Name, entry: &Entry) -> NamingError {
        let what = match entry.content.kind {
            EntryKind::Context => "a context".to_owned(),
            EntryKind::Link => "a link".to_owned(),
            EntryKind::Value | EntryKind::Reference => format!("a value of class '{}'", Short(&entry.content.class_name)),
        };
        let place = match (self.source.as_str(), &*self.node) {
            (source, "") => format!("the {source} tree"),
            (source, node) => format!("the {source} tree of {node}"),
        };
        let message = format!("already bound in {place}, to {what} (version {})", entry.version);
        let existing = Listed {
            component: name.last().map(escaped).unwrap_or_default().into_owned(),
            content: Content { value: bytes::Bytes::new(), ..entry.content.clone() },
            source: self.source,
            node: self.node.clone(),
            version: Some(entry.version),
            sources: vec![(self.source, self.node.clone())],
        };
        NamingError::new(ErrorKind::NameAlreadyBound, message)
            .resolved(name, name.len())
            .with_detail(Detail::Existing(Box::new(existing)))
    }
}
