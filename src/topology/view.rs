//! The live members at one moment.

use serde::{Deserialize, Serialize};

use super::{ClusterId, Member, NodeId};

/// The live members as one node sees them, ordered by name. Two nodes that see the same members have views with
/// the same id; the id changes whenever a member comes, goes or changes its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    id: u64,
    cluster: String,
    cluster_id: Option<ClusterId>,
    members: Vec<Member>,
}

/// What changed from one view to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewDiff {
    /// Members that the earlier view did not have.
    pub joined: Vec<Member>,
    /// Members that the later view no longer has.
    pub left: Vec<Member>,
    /// Members in both whose state or address changed, as they are in the later view.
    pub changed: Vec<Member>,
}

impl View {
    /// A view of `members` of the cluster named `cluster`; they are put in order by name, then incarnation.
    pub fn new(cluster: impl Into<String>, cluster_id: Option<ClusterId>, mut members: Vec<Member>) -> Self {
        members.sort();
        let cluster = cluster.into();
        let id = digest(&cluster, cluster_id, &members);
        Self { id, cluster, cluster_id, members }
    }

    /// The view's id: equal for equal members.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The cluster's name.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// The cluster's id, once it has one.
    pub fn cluster_id(&self) -> Option<ClusterId> {
        self.cluster_id
    }

    /// The members, in order of their names.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The member of this incarnation.
    pub fn member(&self, id: NodeId) -> Option<&Member> {
        self.members.iter().find(|m| m.id == id)
    }

    /// What changed from `self` to `later`.
    pub fn diff(&self, later: &Self) -> ViewDiff {
        let mut diff = ViewDiff::default();
        for member in &later.members {
            match self.member(member.id) {
                None => diff.joined.push(member.clone()),
                Some(before) if before != member => diff.changed.push(member.clone()),
                Some(_) => {}
            }
        }
        diff.left.extend(self.members.iter().filter(|m| later.member(m.id).is_none()).cloned());
        diff
    }
}

/// FNV-1a over all that the view says, in 63 bits so that every language holds it in a signed integer.
fn digest(cluster: &str, cluster_id: Option<ClusterId>, members: &[Member]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut eat = |bytes: &[u8]| {
        for byte in bytes.iter().chain(&[0]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    eat(cluster.as_bytes());
    eat(&cluster_id.map_or(0, |c| c.0).to_le_bytes());
    for member in members {
        eat(member.name.as_bytes());
        eat(&member.id.0.to_le_bytes());
        eat(member.endpoint.to_string().as_bytes());
        eat(member.state.as_str().as_bytes());
    }
    hash >> 1
}
