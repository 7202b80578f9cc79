//! Watching names, as questions and answers.
//!
//! A node keeps a *log* of what has changed, in its order. Who watches asks for the current state, in pages; where it
//! took more than one, then for the names that changed meanwhile, as they are now; and from then on for each change behind a *position* in the
//! log. A node that has nothing to say holds the question until it has, or until its time is over. So a watch is a row of ordinary requests: one that reads
//! slowly asks rarely and holds up nobody, one whose node dies asks another, and a node keeps nothing for it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::naming::{Content, Version};

/// What is watched of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WatchScope {
    /// What is bound at the name.
    Object,
    /// What is bound at the names directly beneath it.
    OneLevel,
    /// Both, and all that is deeper.
    Subtree,
}

impl WatchScope {
    /// All scopes.
    pub const ALL: [Self; 3] = [Self::Object, Self::OneLevel, Self::Subtree];

    /// The word used in options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::OneLevel => "one_level",
            Self::Subtree => "subtree",
        }
    }
}

/// A position in one node's log. Positions in different logs can't be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// Whose log it is: drawn at random for every log.
    pub log: u128,
    /// How many changes there had been.
    pub sequence: u64,
}

/// From where on a watch asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WatchFrom {
    /// The current state, from its beginning.
    Start,
    /// The current state, behind this name.
    Rest {
        /// Where the log was at the beginning.
        position: Position,
        /// The last name told.
        after: String,
    },
    /// The names that have changed behind this position, as they are now.
    Behind(Position),
    /// Each change behind this position.
    Position(Position),
}

/// What a watch asks. Links are neither followed nor resolved: it is of the names as they stand in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchRequest {
    /// The name.
    pub name: String,
    /// What is watched of it.
    pub scope: WatchScope,
    /// From where on.
    pub from: WatchFrom,
    /// For how many milliseconds the node may hold the question while nothing has changed.
    pub hold: u32,
}

/// What is bound at a watched name, or was after one change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchRow {
    /// The name, from the root.
    pub name: String,
    /// What is bound there, and by which write; `None` for nothing.
    pub bound: Option<(Content, Version)>,
    /// Versions of it disagree.
    pub is_conflict: bool,
    /// The name from which it was moved.
    pub moved_from: Option<String>,
    /// The write that it was part of ends here.
    pub ends_write: bool,
}

/// What comes behind an answer's rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WatchNext {
    /// More of the current state.
    Rest {
        /// Where the log was at the beginning.
        position: Position,
        /// The last name told.
        after: String,
    },
    /// The names that have changed behind this position.
    Behind(Position),
    /// Each change behind this position.
    Position(Position),
    /// The position asked for is not in the log, or no longer: the current state is to be asked for anew.
    Lost {
        /// Whose log it is.
        log: u128,
    },
}

/// What a watch is answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// The node that answers.
    #[serde(deserialize_with = "crate::naming::shared::deserialize")]
    pub node: Arc<str>,
    /// What is bound at each name; of changes, one behind the other.
    pub rows: Vec<WatchRow>,
    /// What comes behind.
    pub next: WatchNext,
}
