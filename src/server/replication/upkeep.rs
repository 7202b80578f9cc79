//! What an engine and its members are asked for, and told, beside changes.

use tokio::sync::oneshot;

use crate::cluster::engine::{Input, OperationStatus};
use crate::naming::{Name, Version};
use crate::protocol::OperationId;

use super::{Asking, Replication};

impl Replication {
    /// What became of a change, as far as this node and its peers know.
    pub async fn status_of(&self, operation: OperationId) -> OperationStatus {
        let unknown = || OperationStatus::Unknown { silent: Vec::new() };
        let receiver = {
            let mut state = self.lock();
            if Self::not_begun(&state).is_some() {
                // The engine is told nothing for now.
                return state.engine.operation_status(operation);
            }
            let (sender, receiver) = oneshot::channel();
            let asker = state.enter(Asking::Status(sender));
            self.step_locked(&mut state, Input::Status { asker, operation });
            receiver
        };
        receiver.await.unwrap_or_else(|_| unknown())
    }

    /// The version of a name that is shown as `text`: one that stands there, or stood there not long ago.
    pub fn version_shown_as(&self, name: &Name, text: &str) -> Option<Version> {
        let state = self.lock();
        let record = state.engine.replica().record(name)?;
        let standing = record.siblings.iter().map(|sibling| sibling.dot);
        standing.chain(record.history.iter().map(|event| event.dot)).find(|version| version.to_string() == text)
    }

    /// How many leases are overdue and held all the same, and of how many.
    pub fn held_leases(&self) -> Option<(usize, usize)> {
        self.lock().held_leases
    }

    /// A member that is dead is counted no longer, unless it comes back.
    pub fn forget(&self, member: &str) {
        self.forgotten.send_modify(|names| names.push(member.to_owned()));
    }
}
