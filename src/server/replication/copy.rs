//! How this node's copy of the cluster tree compares with others', for people and tests: what its readers are shown, which is
//! what it has made durable.

use std::sync::Arc;

use crate::cluster::fingerprint;
use crate::protocol::TreeCopy;
use crate::topology::NodeId;

use super::Replication;

impl Replication {
    /// How the copy stands at this moment. `name_of` knows the members.
    pub fn copy(&self, name_of: impl Fn(NodeId) -> Option<Arc<str>>) -> TreeCopy {
        let state = self.lock();
        // Shown under the same lock.
        let (seen, (digest, conflicts)) = (self.shown(), state.shown);
        TreeCopy {
            writes: seen.count(),
            seen: fingerprint::of_seen(&seen),
            digest,
            conflicts: u64::try_from(conflicts).unwrap_or(u64::MAX),
            lagging: state.engine.lagging().filter_map(name_of).collect(),
        }
    }
}
