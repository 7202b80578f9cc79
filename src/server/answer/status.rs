//! A node's state, for people.

use crate::protocol::{NodeStatus, TreeCopy};

use crate::server::core::Core;

impl Core {
    /// The state at this moment.
    pub fn status(&self) -> NodeStatus {
        NodeStatus {
            introduction: self.peers.introduction(),
            view: (*self.bulletin().view).clone(),
            cluster_names: wide(self.cluster.len()),
            local_names: wide(self.local.len()),
            connections: wide(self.load.connections.level()),
            requests: self.load.served(),
            uptime: u64::try_from(self.clock.now().as_millis()).unwrap_or(u64::MAX),
            warnings: self.warnings(),
            settings: self.settings.clone(),
            copy: self.copy(),
        }
    }

    /// How its copy of the cluster tree compares with others'.
    pub fn copy(&self) -> TreeCopy {
        let bulletin = self.bulletin();
        self.replication.copy(|peer| bulletin.name_of(peer).cloned())
    }

    /// What a person should know.
    fn warnings(&self) -> Vec<String> {
        let bulletin = self.bulletin();
        let suspended = self.replication.suspended().into_iter().filter_map(|peer| bulletin.name_of(peer).cloned());
        let suspended = suspended.map(|peer| format!("node {peer} takes no changes: its disk is full, or fails"));
        let held = self.replication.held_leases().map(|(overdue, all)| {
            format!("{overdue} of {all} leases are overdue at once; they are held until their holders are heard, or are fewer")
        });
        self.replication.trouble().into_iter().chain(suspended).chain(held).chain(self.peers.warnings()).collect()
    }
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
