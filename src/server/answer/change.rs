//! Changes of the cluster tree: handed to its engine, whose replies are told as every answer is.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::cluster::reply::{LinkOnWay, Receipt, Refusal, Reply as Change, Uncertainty};
use crate::cluster::request::{Level, Request as Changing};
use crate::cluster::vector::Seen;
use crate::failure::CompletionStatus;
use crate::naming::{ErrorKind, Source, Version};
use crate::protocol::{Answer, Fault, Found, LinkMet, Mutation, OperationId, RefusalReason, Reply, Request, Written};

use super::fault;
use super::sight::Answered;
use crate::server::core::Core;
use crate::server::replication::Told;

/// One attempt at a change.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The operation.
    pub id: OperationId,
    /// It was sent before, and may have run.
    pub is_retry: bool,
    /// How long the client waits.
    pub within: Duration,
    /// What it has seen.
    pub token: Seen,
}

impl Core {
    /// Changes the cluster tree, where that needs no other node; `None` otherwise, and then it may have begun: it goes on
    /// with [`change`](Self::change).
    pub fn change_now(&self, request: &Request, mutation: &Mutation) -> Option<Reply> {
        // Only what bears an id is recognised when it comes again.
        let id = request.operation_id.filter(|_| self.is_alone() && self.replication.is_immediate())?;
        let within = Duration::from_micros(request.time_left.into());
        let token = self.token_of(request.known.as_deref());
        match self.begin(Attempt { id, is_retry: request.is_retry, within, token }, mutation) {
            Ok(mut told) => told.try_recv().ok().map(|told| self.changed(id, mutation, told.reply)),
            Err(refused) => Some(refused),
        }
    }

    /// Changes the cluster tree.
    pub async fn change(self: Arc<Self>, attempt: Attempt, mutation: Mutation) -> Answered {
        let id = attempt.id;
        match self.begin(attempt, &mutation) {
            Ok(told) => {
                let Ok(Told { reply, token }) = told.await else {
                    let message = format!("node {} ended while the change was under way", self.name);
                    return Reply::Failed(fault::internal(message)).into();
                };
                Answered { reply: self.changed(id, &mutation, reply), token: token.map(Box::new) }
            }
            Err(refused) => refused.into(),
        }
    }

    fn begin(&self, attempt: Attempt, mutation: &Mutation) -> Result<oneshot::Receiver<Told>, Reply> {
        let (name, intent) = self.understood(mutation).map_err(|error| Reply::Failed(fault::from_error(error)))?;
        Ok(self.replication.submit(Changing {
            operation: attempt.id,
            name,
            intent,
            is_retry: attempt.is_retry,
            token: attempt.token,
            level: Level::AllLive,
            within: attempt.within,
        }))
    }

    fn changed(&self, operation: OperationId, mutation: &Mutation, reply: Change) -> Reply {
        match reply {
            Change::Done { version, receipt } => Reply::Done(match mutation {
                Mutation::Unbind { .. } | Mutation::DestroySubcontext { .. } | Mutation::Release { .. } => {
                    Answer::Removed { existed: version.is_some(), written: self.receipt(version, &receipt) }
                }
                _ => Answer::Written(self.receipt(version, &receipt)),
            }),
            Change::Link(link) => Reply::Done(Answer::Link(self.link_on_way(&link))),
            Change::Obstructed(obstacle) => Reply::Failed(fault::from_error(obstacle.error())),
            Change::Refused(refusal) => Reply::Failed(self.refused_change(refusal)),
            Change::Unknown { reason, receipt } => Reply::Failed(self.unknown(operation, reason, &receipt)),
            Change::Misused => Reply::Failed(Fault::new(
                ErrorKind::InvalidValue,
                CompletionStatus::No,
                format!("operation {operation} was used before, for something else"),
            )),
        }
    }

    fn refused_change(&self, refusal: Refusal) -> Fault {
        let not_now = |kind, message| Fault::new(kind, CompletionStatus::No, message);
        match refusal {
            Refusal::Joining => self.refused(RefusalReason::Joining),
            Refusal::Quiescing => self.refused(RefusalReason::Quiescing),
            Refusal::Behind => self.refused_to_show(),
            Refusal::TooFew => {
                let message = format!("node {} sees fewer nodes than a write must be held by", self.name);
                not_now(ErrorKind::ServiceUnavailable, message)
            }
            Refusal::Overloaded => self.refused(RefusalReason::Overloaded),
            Refusal::ReadOnly => {
                let why = self.replication.trouble().unwrap_or_else(|| "this node takes no changes for now".to_owned());
                not_now(ErrorKind::ServiceUnavailable, format!("node {}: {why}", self.name))
            }
            Refusal::Contended => {
                let message = "another bind of this name was under way until the time was up".to_owned();
                not_now(ErrorKind::TimeLimitExceeded, message)
            }
        }
    }

    fn unknown(&self, operation: OperationId, reason: Uncertainty, receipt: &Receipt) -> Fault {
        let message = match reason {
            Uncertainty::Forgotten => {
                format!("operation {operation} is older than what the cluster remembers: it may have run, and will not run again")
            }
            Uncertainty::TooFewHold => {
                let holders = self.names(receipt).join(", ");
                format!("operation {operation} is held by fewer nodes than asked for: {holders}")
            }
            Uncertainty::DiskFailed => {
                format!("the disk of node {} failed while operation {operation} was under way", self.name)
            }
        };
        Fault::new(ErrorKind::ServiceUnavailable, CompletionStatus::Maybe, message)
    }

    fn receipt(&self, version: Option<Version>, receipt: &Receipt) -> Written {
        Written { version, acked_by: self.names(receipt), live: receipt.live, members: receipt.members }
    }

    /// The names of those who hold a write; of one that has left meanwhile its id.
    fn names(&self, receipt: &Receipt) -> Vec<Arc<str>> {
        let bulletin = self.bulletin();
        let name_of = |id| {
            let known = if id == self.id { Some(&self.name) } else { bulletin.name_of(id) };
            known.cloned().unwrap_or_else(|| Arc::from(id.to_string()))
        };
        let mut names: Vec<Arc<str>> = receipt.acked_by.iter().copied().map(name_of).collect();
        names.sort_unstable();
        names
    }

    fn link_on_way(&self, met: &LinkOnWay) -> LinkMet {
        LinkMet {
            at: met.at.to_string(),
            target: met.target(),
            rest: met.rest.to_string(),
            found: Found {
                content: met.link.content.clone(),
                source: Source::Cluster,
                node: Arc::clone(&self.name),
                version: Some(met.link.dot),
                asked: Vec::new(),
            },
        }
    }
}
