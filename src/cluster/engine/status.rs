//! What became of an operation: asked by a client whose call ended without an answer.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::cluster::message::Message;
use crate::cluster::oplog::Standing;
use crate::cluster::vector::Dot;
use crate::cluster::wire;
use crate::naming::Name;
use crate::protocol::OperationId;
use crate::topology::NodeId;

use super::timer::Timer;
use super::{Engine, Output};

/// What became of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperationStatus {
    /// It took effect.
    Done(Trace),
    /// It is stored, and not yet settled: it may be withdrawn.
    Pending(Trace),
    /// It was taken back.
    Withdrawn,
    /// It may have run, too long ago to be known.
    Forgotten,
    /// Nobody who answered knows of it. With nobody silent it did not run.
    Unknown {
        /// The live nodes that did not answer.
        silent: Vec<NodeId>,
    },
}

/// Where an operation left its trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The name.
    #[serde(with = "wire::name")]
    pub name: Name,
    /// The write.
    #[serde(with = "wire::numbered")]
    pub version: Dot,
}

/// Somebody asks.
#[derive(Debug, Default)]
pub(super) struct Inquiry {
    askers: Vec<u64>,
    silent: BTreeSet<NodeId>,
    is_forgotten: bool,
}

impl Engine {
    /// What this node knows of an operation.
    pub fn operation_status(&self, operation: OperationId) -> OperationStatus {
        let trace = |dot: Dot| {
            let (name, event) = self.replica.events_of(operation).find(|(_, event)| event.dot == dot)?;
            Some(Trace { name: name.clone(), version: event.dot })
        };
        let status = match self.replica.standing(operation, None) {
            Standing::Done(event) => trace(event.dot).map(OperationStatus::Done),
            Standing::Pending(event) => trace(event.dot).map(OperationStatus::Pending),
            Standing::Withdrawn | Standing::Nothing(_) => Some(OperationStatus::Withdrawn),
            Standing::Forgotten => Some(OperationStatus::Forgotten),
            Standing::Unknown => None,
        };
        status.unwrap_or(OperationStatus::Unknown { silent: Vec::new() })
    }

    /// Somebody asks: the peers are asked too, unless it is settled as far as this node knows.
    pub(super) fn asked_status(&mut self, asker: u64, operation: OperationId) {
        let peers: BTreeSet<NodeId> = self.peers().collect();
        let status = self.operation_status(operation);
        if peers.is_empty() || matches!(status, OperationStatus::Done(_)) {
            self.outputs.push(Output::Status { asker, status });
            return;
        }
        for &peer in &peers {
            self.send(peer, Message::Inquire(operation));
        }
        let inquiry = self.inquiries.entry(operation).or_default();
        inquiry.askers.push(asker);
        inquiry.silent = peers;
        self.timers.add(self.now + self.timing.patience, Timer::StatusDue(operation));
    }

    /// A peer said what it knows, which is taken up by now.
    pub(super) fn status_heard(&mut self, from: NodeId, operation: OperationId, is_forgotten: bool) {
        let Some(inquiry) = self.inquiries.get_mut(&operation) else { return };
        inquiry.silent.remove(&from);
        inquiry.is_forgotten |= is_forgotten;
        if inquiry.silent.is_empty() {
            self.status_due(operation);
        }
    }

    pub(super) fn status_due(&mut self, operation: OperationId) {
        let Some(inquiry) = self.inquiries.remove(&operation) else { return };
        let status = match self.operation_status(operation) {
            OperationStatus::Unknown { .. } if inquiry.is_forgotten => OperationStatus::Forgotten,
            OperationStatus::Unknown { .. } => OperationStatus::Unknown { silent: inquiry.silent.into_iter().collect() },
            known => known,
        };
        let answer = |asker| Output::Status { asker, status: status.clone() };
        self.outputs.extend(inquiry.askers.into_iter().map(answer));
    }
}
