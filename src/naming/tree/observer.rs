//! Who is told of each write, so that others can follow a tree without comparing its states.

use std::fmt;
use std::sync::Arc;

use super::Entry;

/// A name that a write touched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touched<'a> {
    /// Its canonical text.
    pub name: &'a Arc<str>,
    /// What is bound there now.
    pub entry: Option<&'a Arc<Entry>>,
    /// The name from which what is bound here was moved.
    pub moved_from: Option<&'a Arc<str>>,
}

/// Is told of each write to a tree, in their order, by the writer itself: so it is to be quick. What is bound at the
/// names can be seen by then.
pub trait Observer: fmt::Debug + Send + Sync + 'static {
    /// One write touched all of these names.
    fn wrote(&self, touched: &mut dyn Iterator<Item = Touched<'_>>);
}
