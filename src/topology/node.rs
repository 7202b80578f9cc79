//! One server of the cluster, as others know it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Endpoint;

/// One *incarnation* of a node: drawn anew at every start, so that a node that was restarted is never taken for
/// what it was before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u128);

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The identity of a cluster. Two clusters may bear one name; their ids tell them apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClusterId(pub u128);

impl fmt::Debug for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Where a member stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum MemberState {
    /// Not yet serving: answers peers, refuses clients with `NO`.
    Joining,
    /// Serving.
    Live,
    /// Leaving: refuses new requests with `NO`, finishes those in flight, still answers peers.
    Quiescing,
}

impl MemberState {
    /// The word used in messages and on the Python side.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Live => "live",
            Self::Quiescing => "quiescing",
        }
    }
}

/// A member of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Member {
    /// The node's name, unique in its cluster.
    pub name: String,
    /// Its incarnation.
    pub id: NodeId,
    /// The address that it advertises.
    pub endpoint: Endpoint,
    /// Where it stands in its life.
    pub state: MemberState,
}
