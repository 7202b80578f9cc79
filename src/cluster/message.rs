//! What engines tell each other.
//!
//! Names whose records one event changed travel together, as one *bundle*: whoever takes one up takes up all, in one
//! transaction. Of a rename nobody has one half.

use serde::{Deserialize, Serialize};

use crate::naming::Name;
use crate::protocol::OperationId;

use super::record::Named;
use super::reply::Reply;
use super::request::Request;
use super::sync::{SyncPart, SyncRequest};
use super::vector::{Dot, Seen, Vector};
use super::wire;

/// What engines tell each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// A client's request, from the node that it was sent to, to the owner of the name.
    Forward(Request),
    /// What came of a forwarded request.
    Forwarded {
        /// The request's.
        #[serde(with = "wire::numbered")]
        operation: OperationId,
        /// What came of it.
        reply: Reply,
        /// What the replying node had seen.
        token: Seen,
    },
    /// A bind, which a receiver may object to.
    Create(Write),
    /// No objection: it is held.
    CreateHeld(#[serde(with = "wire::numbered")] Dot),
    /// The name is taken, by a version of the first of these records. Its history says whether that is settled.
    CreateObjection {
        /// The bind.
        #[serde(with = "wire::numbered")]
        dot: Dot,
        /// What stands at the name, and what was written with it.
        records: Vec<Named>,
    },
    /// The bind's operation took effect under another dot.
    CreateKnown {
        /// The bind.
        #[serde(with = "wire::numbered")]
        dot: Dot,
        /// The records whose histories say so.
        records: Vec<Named>,
    },
    /// A write that nobody may object to.
    Write(Write),
    /// It is held.
    Held(#[serde(with = "wire::numbered")] Dot),
    /// What do you know of this operation?
    Inquire(#[serde(with = "wire::numbered")] OperationId),
    /// This.
    Informed {
        /// The operation.
        #[serde(with = "wire::numbered")]
        operation: OperationId,
        /// The names at which it ran; none where it isn't known.
        records: Vec<Named>,
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
    /// A lease goes on.
    Renewed {
        /// The name.
        #[serde(with = "wire::name")]
        name: Name,
        /// The version that was given the lease.
        #[serde(with = "wire::numbered")]
        version: Dot,
    },
    /// I can store nothing for now: don't wait for me. Anything else that is heard from me says that I can again.
    Suspended,
}

/// A write, as it is fanned out: one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Write {
    /// The write that is acknowledged; those that the event made beside it are in the records.
    #[serde(with = "wire::numbered")]
    pub dot: Dot,
    /// The operation that it executes, whose caller hears who holds it; `None` where nobody waits for that: a node withdrew,
    /// voided or let go a version by itself, or settled one that the others hold.
    #[serde(with = "wire::perhaps_numbered")]
    pub operation: Option<OperationId>,
    /// What is known after it of the names that it changed; the name of `dot` first.
    pub records: Vec<Named>,
}

impl Write {
    /// The name that the write is about, and what is known of it.
    pub fn principal(&self) -> Option<&Named> {
        self.records.first()
    }
}
