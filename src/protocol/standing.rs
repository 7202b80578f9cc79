//! What a node says of itself: to people, and to the other nodes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::topology::{ClusterId, Member, NodeId, View};

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

/// What nodes tell each other, every few hundred milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gossip {
    /// Who speaks.
    pub from: Introduction,
    /// Whom it believes alive.
    pub members: Vec<GossipMember>,
    /// It leaves now.
    pub leaving: bool,
    /// Every seed that it was given is in its cluster: nobody whom it should know is still unheard of. A cluster's id
    /// becomes firm when all members say so.
    pub settled: bool,
}

/// A member as another node knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GossipMember {
    /// The member.
    pub member: Member,
    /// How long ago the speaker heard from it itself, in milliseconds.
    pub heard: u32,
}

impl Gossip {
    /// The incarnations named.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.members.iter().map(|m| m.member.id)
    }

    /// The speaker's cluster id.
    pub fn cluster_id(&self) -> Option<ClusterId> {
        self.from.cluster_id
    }

    /// The speaker.
    pub fn speaker(&self) -> &Member {
        &self.from.member
    }
}
