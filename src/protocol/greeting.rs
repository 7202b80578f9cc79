//! How two sides introduce themselves to each other: who dials and who answers.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::topology::{ClusterId, Member, View};

/// The first four bytes of a hello's body: `HNAM`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"HNAM");

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
