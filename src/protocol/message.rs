//! What the frames carry: hello and welcome, requests and replies.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::failure::CompletionStatus;
use crate::naming::{ErrorKind, Listed};
use crate::topology::{ClusterId, Member, View};

use super::operation::{Answer, Operation, OperationId};

/// The first four bytes of a hello's body: `HNAM`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"HNAM");

/// The protocol version spoken here.
pub const PROTOCOL_VERSION: u8 = 1;

/// The kinds of frames. The numbers stand on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FrameKind {
    /// [`Hello`]: the first frame of the side that dialled.
    Hello = 1,
    /// [`Welcome`]: the answer to it; a refused hello has a [`Fault`] for a body.
    Welcome = 2,
    /// [`Request`].
    Request = 3,
    /// [`Reply`] to the request of the same id.
    Reply = 4,
    /// [`View`]: pushed by the server after each change; the request id is 0.
    View = 5,
    /// What one node's engine tells another's, which nobody replies to; the request id is 0.
    Message = 6,
}

impl FrameKind {
    /// The kind behind its number.
    pub fn from_u8(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Hello,
            2 => Self::Welcome,
            3 => Self::Request,
            4 => Self::Reply,
            5 => Self::View,
            6 => Self::Message,
            _ => return None,
        })
    }

    /// The word used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hello => "hello",
            Self::Welcome => "welcome",
            Self::Request => "request",
            Self::Reply => "reply",
            Self::View => "view",
            Self::Message => "message",
        }
    }
}

/// Who dials, and from which cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`MAGIC`].
    pub magic: u32,
    /// The lowest protocol version spoken.
    pub lowest: u8,
    /// The highest protocol version spoken.
    pub highest: u8,
    /// Features offered, a bit each; none is defined yet.
    pub features: u64,
    /// The cluster wanted; `None` takes any (clients only).
    pub cluster: Option<String>,
    /// Room for credentials; empty until TLS exists.
    pub credentials: Bytes,
    /// Client or peer.
    pub role: Role,
}

/// As what a connection is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// A client, with the random id that its operation ids start with.
    Client {
        /// Drawn anew for every context.
        id: u128,
    },
    /// Another node of the cluster.
    Peer {
        /// Who it is.
        introduction: Introduction,
        /// What the connection carries.
        channel: Channel,
    },
}

/// What a connection between nodes carries: control never waits behind bulk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Channel {
    /// Membership.
    Control,
    /// Delegated lookups.
    Data,
    /// Writes of the cluster tree: messages in one direction, from the node that dialled.
    Replication,
    /// Copies of many of its records at once: messages in the same direction.
    Copies,
}

/// How a node introduces itself to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Introduction {
    /// The node.
    pub member: Member,
    /// Its cluster's name.
    pub cluster: String,
    /// Its cluster's id, once it has one.
    pub cluster_id: Option<ClusterId>,
    /// The id is firm: the cluster had another member, or data.
    pub firm: bool,
}

/// The answer to a hello.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The protocol version chosen.
    pub version: u8,
    /// Features of the hello that are taken.
    pub features: u64,
    /// Who answers.
    pub introduction: Introduction,
    /// The view at this moment.
    pub view: View,
}

/// From which trees a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// The whole cluster, by the lookup rule: an HA context.
    Cluster,
    /// This node's local tree alone: a local context from outside.
    Local,
    /// This node's local tree alone, asked by a peer: never delegated again, answered while joining or quiescing too.
    Peer,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What remains of the attempt's time, in microseconds, counted from when the frame was written.
    pub time_left: u32,
    /// From which trees.
    pub scope: Scope,
    /// Set for mutations.
    pub operation_id: Option<OperationId>,
    /// The mutation was sent before, and may have run.
    pub is_retry: bool,
    /// What is asked.
    pub operation: Operation,
}

/// How a request ended, as its reply's header tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done: the body is an [`Answer`].
    Done,
    /// Failed or refused: the body is a [`Fault`].
    Failed(ErrorKind),
}

impl Outcome {
    /// The outcome as a header's flags.
    pub fn to_flags(self) -> u16 {
        match self {
            Self::Done => 0,
            Self::Failed(kind) => kind.code() & 0x0FFF,
        }
    }

    /// The outcome behind a header's flags.
    pub fn from_flags(flags: u16) -> Self {
        match flags & 0x0FFF {
            0 => Self::Done,
            code => Self::Failed(ErrorKind::from_code(code)),
        }
    }
}

/// A reply, decoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It was done.
    Done(Answer),
    /// It failed, or was refused before it ran.
    Failed(Fault),
}

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
}

impl RefusalReason {
    /// The word used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Quiescing => "quiescing",
            Self::Overloaded => "overloaded",
            Self::Closed => "closed",
        }
    }
}
