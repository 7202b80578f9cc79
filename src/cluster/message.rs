//! What an engine is asked, what it answers, and what engines tell each other.

use std::sync::Arc;
use std::time::Duration;

use crate::naming::{Content, EntryKind, Name};
use crate::protocol::OperationId;
use crate::topology::NodeId;

use super::record::Record;
use super::sync::{SyncPart, SyncRequest};
use super::vector::{Dot, Seen, Vector};

/// A change that a client asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Marks it, however often it is sent and to whomever.
    pub operation: OperationId,
    /// The name to change.
    pub name: Name,
    /// How.
    pub intent: Intent,
    /// The client says that it sent this before.
    pub is_retry: bool,
    /// All that the client has seen: a node that is behind it does not answer.
    pub token: Seen,
    /// Whose acknowledgements are waited for.
    pub level: Level,
    /// How long the client waits.
    pub within: Duration,
}

/// The change itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Intent {
    /// Create if absent.
    Bind(Content),
    /// Create or replace.
    Rebind(Content),
    /// Remove if present.
    Unbind,
}

impl Intent {
    /// Whether it must be the only one of its kind.
    pub fn is_bind(&self) -> bool {
        matches!(self, Self::Bind(_))
    }

    /// What is bound by it.
    pub fn content(&self) -> Option<&Content> {
        match self {
            Self::Bind(content) | Self::Rebind(content) => Some(content),
            Self::Unbind => None,
        }
    }

    /// A digest of what is asked for, to notice an id that is used for something else. FNV-1a: the same everywhere.
    pub fn digest(&self, name: &Name) -> u64 {
        let (kind, content) = match self {
            Self::Bind(content) => (1_u8, Some(content)),
            Self::Rebind(content) => (2, Some(content)),
            Self::Unbind => (3, None),
        };
        let entry = content.map_or(0, |content| match content.kind {
            EntryKind::Value => 1_u8,
            EntryKind::Reference => 2,
            EntryKind::Link => 3,
            EntryKind::Context => 4,
        });
        let text = name.as_str().bytes().chain([0, kind, entry]);
        let class = content.into_iter().flat_map(|content| content.class_name.bytes()).chain([0]);
        let value = content.into_iter().flat_map(|content| content.value.iter().copied());
        text.chain(class)
            .chain(value)
            .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
    }
}

/// Whose acknowledgements a write waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// The coordinator's own.
    One,
    /// Those of all live nodes that are not lagging.
    #[default]
    AllLive,
}

/// On which nodes a write is held, durable where they have a data folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// These.
    pub acked_by: Vec<NodeId>,
    /// How many members were live.
    pub live: usize,
    /// How many members there are.
    pub members: usize,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It took effect, once.
    Done {
        /// The write that it made; `None` where there was nothing to remove.
        version: Option<Dot>,
        /// Who holds it.
        receipt: Receipt,
    },
    /// The name is taken, by this version. It did not run.
    AlreadyBound {
        /// The version that stands there.
        version: Dot,
        /// Who wrote it.
        writer: Arc<str>,
    },
    /// It did not run, and may be sent again.
    Refused(Refusal),
    /// It may have run; nobody will run it again.
    Unknown {
        /// Why that isn't known.
        reason: Uncertainty,
        /// Who is known to hold it.
        receipt: Receipt,
    },
    /// The operation id was used before, for something else. This did not run.
    Misused,
}

/// Why a request did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The node lacks writes that the client has seen.
    Behind,
    /// Fewer members are live than a write must be held by.
    TooFew,
    /// Another bind of the name was under way until the time was up.
    Contended,
}

/// Why it is not known whether a request ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncertainty {
    /// It is older than what is remembered.
    Forgotten,
    /// It is stored, on fewer nodes than asked for.
    TooFewHold,
}

/// What engines tell each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// A client's request, from the node that it was sent to, to the owner of the name.
    Forward(Request),
    /// What came of a forwarded request.
    Forwarded {
        /// The request's.
        operation: OperationId,
        /// What came of it.
        reply: Reply,
        /// What the replying node had seen.
        token: Seen,
    },
    /// A bind, which a receiver may object to.
    Create(Write),
    /// No objection: it is held.
    CreateHeld(Dot),
    /// The name is taken, by a version of this record. Its history says whether that is settled.
    CreateObjection {
        /// The bind.
        dot: Dot,
        /// What stands at the name.
        record: Arc<Record>,
    },
    /// The bind's operation took effect under another dot.
    CreateKnown {
        /// The bind.
        dot: Dot,
        /// The record whose history says so.
        record: Arc<Record>,
    },
    /// A write that nobody may object to.
    Write(Write),
    /// It is held.
    Held(Dot),
    /// What do you know of this operation, which concerns this name?
    Inquire {
        /// The operation.
        operation: OperationId,
        /// The name.
        name: Name,
    },
    /// This.
    Informed {
        /// The operation.
        operation: OperationId,
        /// The name.
        name: Name,
        /// What is known of the name, and with it of the operation; `None` where the operation isn't known.
        record: Option<Arc<Record>>,
        /// It may have run and been forgotten.
        is_forgotten: bool,
    },
    /// Send what I lack.
    Pull(SyncRequest),
    /// A part of it.
    Part(SyncPart),
    /// I have seen this much.
    CaughtUp(Vector),
    /// You missed something: pull from me.
    Lagging,
}

/// A write, as it is fanned out.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// The write.
    pub dot: Dot,
    /// The operation that it executes; `None` where a node withdrew or voided a version.
    pub operation: Option<OperationId>,
    /// The name.
    pub name: Name,
    /// What is known of the name after it.
    pub record: Arc<Record>,
}
