//! What the tests of this area share.

use std::sync::Arc;

use hanaming::naming::{
    BindOptions, Change, Content, Entry, ErrorKind, Lookup, Name, NamingError, Source, Tree, TreeLink, Value,
};

pub const BIND: BindOptions = BindOptions { replace: false, create_parents: false };
pub const REBIND: BindOptions = BindOptions { replace: true, create_parents: false };
pub const WITH_PARENTS: BindOptions = BindOptions { replace: false, create_parents: true };

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub fn content(value: impl Into<Value>) -> Content {
    value.into().to_content().unwrap()
}

/// The local tree of the node n1.
pub fn tree() -> Tree {
    Tree::new(7).with_origin(Source::Local, "n1")
}

/// A tree with these names bound to their own texts, and their parents.
pub fn tree_of(names: &[&str]) -> Tree {
    let tree = tree();
    for text in names {
        done(tree.bind(&name(text), content(*text), WITH_PARENTS));
    }
    tree
}

#[track_caller]
pub fn done<T: std::fmt::Debug>(result: Result<Change<T>, NamingError>) -> T {
    match result {
        Ok(Change::Done(done)) => done,
        other => panic!("not done: {other:?}"),
    }
}

#[track_caller]
pub fn link<T: std::fmt::Debug>(result: Result<Change<T>, NamingError>) -> TreeLink {
    match result {
        Ok(Change::Link(link)) => link,
        other => panic!("no link: {other:?}"),
    }
}

/// The error, which is of this kind and tells these parts of the name: the whole, the resolved, the remaining.
#[track_caller]
pub fn refused<T: std::fmt::Debug>(
    result: Result<Change<T>, NamingError>,
    kind: ErrorKind,
    parts: (&str, Option<(&str, &str)>),
) -> NamingError {
    let error = result.expect_err("refused");
    assert_eq!(error.kind(), kind, "{error}");
    let fields = error.fields();
    let resolution = fields.resolved_name.as_deref().zip(fields.remaining_name.as_deref());
    assert_eq!((fields.name.as_deref().unwrap_or("no name"), resolution), parts, "{error}");
    error
}

#[track_caller]
pub fn found(tree: &Tree, text: &str) -> Arc<Entry> {
    match tree.lookup(text) {
        Lookup::Found(entry) => entry,
        other => panic!("'{text}' not found: {other:?}"),
    }
}

/// What is bound, as a value.
#[track_caller]
pub fn value(tree: &Tree, text: &str) -> Value {
    Value::from_content(&found(tree, text).content).unwrap()
}

pub fn is_missing(tree: &Tree, text: &str) -> bool {
    matches!(tree.lookup(text), Lookup::Missing { .. })
}
