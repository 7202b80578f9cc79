//! Why something was not done: what was wrong with it, or that the node refused it before it ran.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::failure::CompletionStatus;
use crate::naming::{ErrorKind, Listed};
use crate::topology::View;

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// The error's code; the header carries it too.
    pub code: u16,
    /// Whether the operation ran.
    pub completion: CompletionStatus,
    /// What went wrong, in words, without the name.
    pub message: String,
    /// The part of the name that was resolved.
    pub resolved_name: Option<String>,
    /// The part that could not be.
    pub remaining_name: Option<String>,
    /// What already stands at the name.
    pub existing: Option<Box<Listed>>,
    /// The nodes that answered.
    pub answered: Vec<Arc<str>>,
    /// The nodes that were silent.
    pub silent: Vec<Arc<str>>,
    /// What a listing had gathered.
    pub partial: Vec<Listed>,
    /// Set where the request was refused before it ran, by the node's state and not by what was asked.
    pub refusal: Option<Refusal>,
}

impl Fault {
    /// A fault that says no more than what went wrong and whether the operation ran.
    pub fn new(kind: ErrorKind, completion: CompletionStatus, message: impl Into<String>) -> Self {
        Self {
            code: kind.code(),
            completion,
            message: message.into(),
            resolved_name: None,
            remaining_name: None,
            existing: None,
            answered: Vec::new(),
            silent: Vec::new(),
            partial: Vec::new(),
            refusal: None,
        }
    }
}

/// A refusal before anything ran (completion `NO`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// Why.
    pub reason: RefusalReason,
    /// After how many milliseconds it may be otherwise.
    pub retry_after: u32,
    /// The view, so that the client knows where else to go.
    pub view: Option<View>,
}

/// Why a node refuses all requests of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RefusalReason {
    /// Not yet in the cluster.
    Joining,
    /// Leaving.
    Quiescing,
    /// Too much is in flight.
    Overloaded,
    /// The node was closed in this process.
    Closed,
    /// It lacks some of what the client has seen of the cluster tree.
    Behind,
    /// It stood still, and finds out what it missed.
    Waking,
}

impl RefusalReason {
    /// The word used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Quiescing => "quiescing",
            Self::Overloaded => "overloaded",
            Self::Closed => "closed",
            Self::Behind => "behind",
            Self::Waking => "waking",
        }
    }
}
