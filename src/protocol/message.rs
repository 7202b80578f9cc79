//! Requests and replies.

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::operation::{Answer, Operation, OperationId};
use super::seen::Known;

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
    /// What the client has seen of the cluster tree, where it isn't sure that this node has all of it.
    pub known: Option<Box<Known>>,
}

/// A reply, decoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It was done.
    Done(Answer),
    /// It failed, or was refused before it ran.
    Failed(Fault),
    /// One of these, from a node that lacks some of what the client has seen.
    Stale(Box<Self>),
}
