//! What a node says of itself: to people, and to the other nodes.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::topology::{NodeId, View};

use super::greeting::Introduction;

/// A node's state, for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// Who answers, and in which state it is.
    pub introduction: Introduction,
    /// Its view.
    pub view: View,
    /// Names in its copy of the cluster tree.
    pub cluster_names: u64,
    /// Names in its local tree.
    pub local_names: u64,
    /// Open connections.
    pub connections: u64,
    /// Requests served since it started.
    pub requests: u64,
    /// Time since it started, in milliseconds.
    pub uptime: u64,
    /// Warnings that a person should see, such as two clusters that refuse each other.
    pub warnings: Vec<String>,
    /// What it runs with.
    pub settings: Vec<Setting>,
    /// How its copy of the cluster tree compares with others'.
    pub copy: TreeCopy,
}

/// A copy of the cluster tree: how far it is, and whether it is the same as another. All of one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeCopy {
    /// How many writes it has seen.
    pub writes: u64,
    /// Which ones: equal where they are the same.
    pub seen: u64,
    /// Equal where the same versions stand at the same names: always, where the same writes were seen.
    pub digest: u64,
    /// Names at which versions disagree.
    pub conflicts: u64,
    /// Nodes that missed a write of this one and have not caught up.
    pub lagging: Vec<Arc<str>>,
}

/// One of a node's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name, e.g. `listen`.
    pub name: String,
    /// Its value, in words.
    pub value: String,
    /// Where it is from: `default`, `argument`, `flag`, a file's path, an environment variable.
    pub source: String,
}

/// What one node tells another, and is answered, several times a second. Its size does not depend on that of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gossip {
    /// Who speaks.
    pub speaker: NodeId,
    /// Counts what the speaker said of itself: this is the number of what it says now.
    pub edition: u32,
    /// What it says of itself, where the other side isn't known to have it.
    pub introduction: Option<Box<Introduction>>,
    /// The number of what the other side said last of itself, as far as the speaker has it.
    pub has: Option<u32>,
    /// A number for whom it believes alive: equal where those are the same.
    pub beheld: u64,
    /// The other side is among them.
    pub sees_you: bool,
    /// It leaves now.
    pub leaving: bool,
    /// Every seed that it was given is in its cluster: nobody whom it should know is still unheard of. A cluster's id
    /// becomes firm when all members say so.
    pub settled: bool,
    /// Packets of the failure detector.
    pub packets: Vec<Bytes>,
}
