//! How this node's copy of the cluster tree compares with others', for people and tests.

use std::sync::Arc;

use crate::cluster::fingerprint;
use crate::protocol::TreeCopy;
use crate::topology::NodeId;

use super::Replication;

impl Replication {
    /// How the copy stands at this moment. `name_of` knows the members.
    pub fn copy(&self, name_of: impl Fn(NodeId) -> Option<Arc<str>>) -> TreeCopy {
        let state = self.lock();
        let replica = state.engine.replica();
        TreeCopy {
            writes: replica.seen().count(),
            seen: fingerprint::of_seen(replica.seen()),
            digest: replica.digest(),
            conflicts: u64::try_from(replica.conflict_count()).unwrap_or(u64::MAX),
            lagging: state.engine.lagging().filter_map(name_of).collect(),
        }
    }
}
