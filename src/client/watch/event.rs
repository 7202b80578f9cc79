//! What a watch tells.

use std::sync::Arc;

use crate::naming::{Content, Name, Version};

/// What happened to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// It is bound, and was not.
    Added,
    /// It is bound no longer.
    Removed,
    /// It is bound otherwise.
    Changed,
    /// What was bound at another name is bound at this one now, and not at the other.
    Renamed,
    /// Versions of it disagree; one of them is shown.
    Conflict,
    /// So much has changed that not all of it could be followed. The events that come next lead from what was told to what
    /// is; what was in between is not told.
    Resynchronised,
}

impl EventKind {
    /// The word used on the Python side.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
            Self::Renamed => "renamed",
            Self::Conflict => "conflict",
            Self::Resynchronised => "resynchronised",
        }
    }
}

/// Something happened to a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// The name, from the root: of a rename the new one.
    pub name: Name,
    /// What this watch told of it last: of a rename, of the old name.
    pub old: Option<Told>,
    /// What is bound there now.
    pub new: Option<Told>,
}

/// What is bound at a name, as it was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// The name, from the root.
    pub name: Name,
    /// What is bound.
    pub content: Content,
    /// By which write.
    pub version: Version,
    /// The node that said so.
    pub node: Arc<str>,
}
