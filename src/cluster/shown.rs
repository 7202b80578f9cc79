//! What a reader is shown at a name of the replicated tree: nothing, a value, or a context.

use std::sync::Arc;

use super::record::Sibling;

/// What a reader is shown at a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// Nothing is bound.
    Nothing,
    /// A context; by whose creation, unless only what lies under it makes it one.
    Context(Option<Arc<Sibling>>),
    /// A value, reference or link.
    Value(Arc<Sibling>),
}

impl Shown {
    /// The version shown; `None` for nothing, and for a context that is there for what lies under it.
    pub fn sibling(&self) -> Option<&Arc<Sibling>> {
        match self {
            Self::Nothing => None,
            Self::Context(sibling) => sibling.as_ref(),
            Self::Value(sibling) => Some(sibling),
        }
    }

    /// Whether the same version is shown as the same kind of thing.
    pub fn is_same(&self, other: &Self) -> bool {
        let dot = |shown: &Self| shown.sibling().map(|sibling| sibling.dot);
        std::mem::discriminant(self) == std::mem::discriminant(other) && dot(self) == dot(other)
    }

    /// Whether it is a context.
    pub fn is_context(&self) -> bool {
        matches!(self, Self::Context(_))
    }
}
