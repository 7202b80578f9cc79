//! What is asked of a cluster beside names: what became of a change, and that a dead member is none any longer.

use std::sync::Arc;

use tokio::time::Instant;

use crate::cluster::engine::{OperationStatus, Trace};
use crate::failure::CompletionStatus;
use crate::naming::ErrorKind;
use crate::protocol::{Answer, Became, Fault, Operation, OperationId, Reply};
use crate::topology::NodeId;

use super::fault;
use super::listing::until;
use crate::server::core::Core;
use crate::server::peers::ask_all;

impl Core {
    /// What became of a change, as far as this node and its peers know.
    pub async fn became(self: Arc<Self>, id: OperationId) -> Reply {
        let shown = |Trace { name, version }: Trace| (name.to_string(), version);
        Reply::Done(Answer::Became(match self.replication.status_of(id).await {
            OperationStatus::Done(trace) => {
                let (name, version) = shown(trace);
                Became::Done { name, version }
            }
            OperationStatus::Pending(trace) => {
                let (name, version) = shown(trace);
                Became::Pending { name, version }
            }
            OperationStatus::Withdrawn => Became::Withdrawn,
            OperationStatus::Forgotten => Became::Forgotten,
            OperationStatus::Unknown { silent } => {
                let bulletin = self.bulletin();
                let name = |id: NodeId| bulletin.name_of(id).cloned().unwrap_or_else(|| Arc::from(id.to_string()));
                Became::Unknown { silent: silent.into_iter().map(name).collect() }
            }
        }))
    }

    /// This node counts a dead member no longer.
    pub fn forget_here(&self, node: &str) -> Reply {
        if self.bulletin().view.members().iter().any(|member| member.name == node) {
            let message = format!("node {node} is a member that is there; quiesce or stop it, and forget it then");
            return Reply::Failed(Fault::new(ErrorKind::OperationNotSupported, CompletionStatus::No, message));
        }
        self.replication.forget(node);
        Reply::Done(Answer::Accepted)
    }

    /// No node that is there counts a dead member any longer.
    pub async fn forget(self: Arc<Self>, node: String, deadline: Instant) -> Reply {
        let here = self.forget_here(&node);
        if !matches!(here, Reply::Done(_)) {
            return here;
        }
        let (mut answered, mut silent) = (vec![Arc::clone(&self.name)], Vec::new());
        for (peer, reply) in ask_all(&self.peers, &self.bulletins, &Operation::Forget { node }, until(deadline)).await {
            match reply {
                Some(Reply::Done(_)) => answered.push(peer.name),
                Some(refused) => return refused,
                None => silent.push(peer.name),
            }
        }
        if silent.is_empty() { here } else { Reply::Failed(fault::silence(answered, silent, Vec::new())) }
    }
}
