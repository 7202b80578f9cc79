//! Which operation is answered by what, for every scope.
//!
//! Two doors lead here. [`Core::answer_now`] answers what needs no other node, without waiting and without a task: this
//! is where nearly all requests end. What it leaves goes through [`Core::answer_later`], which may ask other nodes and
//! ends at the request's deadline.

use std::sync::Arc;

use tokio::time::{Duration, Instant, timeout_at};

use crate::failure::CompletionStatus;
use crate::naming::ErrorKind;
use crate::protocol::{Answer, Fault, Operation, RefusalReason, Reply, Request, Scope};

use super::change::Attempt;
use super::fault;
use super::lookup::WINDOW;
use super::sight::Answered;
use crate::server::connection::Caller;
use crate::server::core::{Core, DRAIN, Phase};
use crate::server::load::Share;

impl Core {
    /// Answers what needs no other node; `None` otherwise, and then nothing was done.
    pub fn answer_now(&self, caller: Caller, request: &Request) -> Option<Reply> {
        if let Some(refusal) = self.refusal(caller, request) {
            return Some(refusal);
        }
        if !self.may_show(request) {
            return None;
        }
        let reply = self.answer_from_here(request)?;
        Some(self.marked(request.known.as_deref(), reply))
    }

    fn answer_from_here(&self, request: &Request) -> Option<Reply> {
        let scope = request.scope;
        match &request.operation {
            Operation::Lookup { name } => {
                let told = self.own(scope, name);
                self.is_settled(scope, &told).then(|| told.into_reply())
            }
            Operation::LookupMany { names } => self.many_now(scope, names),
            Operation::Survey { name } => self.survey_now(scope, name),
            Operation::List(request) => self.list_now(scope, request),
            Operation::Mutate(mutation) if scope == Scope::Cluster => self.change_now(request, mutation),
            Operation::Mutate(mutation) => Some(self.mutate(scope, mutation)),
            Operation::Check { name } => self.check_now(scope, name),
            Operation::Status => Some(Reply::Done(Answer::Status(Box::new(self.status())))),
            Operation::Quiesce => {
                self.begin_quiescing(DRAIN);
                Some(Reply::Done(Answer::Accepted))
            }
            Operation::Watch(request) => self.watch_now(scope, request),
            Operation::Await { name, .. } => self.await_now(scope, name),
            Operation::Forget { node } if scope == Scope::Peer => Some(self.forget_here(node)),
            Operation::Became { .. } | Operation::Forget { .. } if scope != Scope::Cluster => {
                Some(Reply::Failed(fault::not_supported("a node's own tree knows of no operations and no members")))
            }
            Operation::Became { .. } | Operation::Forget { .. } => None,
            Operation::Gossip(gossip) => Some(match self.peers.gossip(gossip.clone()) {
                Ok(gossip) => Reply::Done(Answer::Gossip(gossip)),
                Err(fault) => Reply::Failed(fault),
            }),
        }
    }

    /// Answers what [`answer_now`](Self::answer_now) left, at the latest at `deadline`.
    pub async fn answer_later(self: Arc<Self>, request: Request, deadline: Instant) -> Answered {
        if !self.may_show(&request) {
            return Box::pin(self.answer_when_shown(request, deadline)).await;
        }
        self.answer_at_last(request, deadline).await
    }

    /// What needs other nodes, or time.
    pub(super) async fn answer_at_last(self: Arc<Self>, request: Request, deadline: Instant) -> Answered {
        let Request { scope, operation, operation_id, is_retry, time_left, known } = request;
        if let Operation::Lookup { name } = operation {
            // The rule itself ends in time.
            let reply = Arc::clone(&self).lookup(scope, name, deadline).await.into_reply();
            return self.marked(known.as_deref(), reply).into();
        }
        let core = Arc::clone(&self);
        let is_change = matches!(operation, Operation::Mutate(_));
        // In a box: a lookup, which is what is put off most, is not to be as long as the longest of these.
        let token = self.token_of(known.as_deref());
        let answer = Box::pin(async move {
            let reply = match operation {
                Operation::LookupMany { names } => self.many(scope, names, deadline).await,
                Operation::Survey { name } => self.survey(name, deadline).await,
                Operation::List(request) => self.list(request, deadline).await,
                Operation::Check { name } => self.check(name, deadline).await,
                Operation::Watch(request) => self.watch(scope, request, deadline).await,
                Operation::Await { name, hold } => self.await_name(scope, name, hold, deadline).await,
                Operation::Mutate(mutation) => {
                    let id = operation_id.unwrap_or_else(|| self.next_operation());
                    let attempt = Attempt { id, is_retry, within: Duration::from_micros(time_left.into()), token };
                    return self.change(attempt, mutation).await;
                }
                Operation::Became { id } => self.became(id).await,
                Operation::Forget { node } => self.forget(node, deadline).await,
                Operation::Lookup { .. } | Operation::Status | Operation::Quiesce | Operation::Gossip(_) => {
                    Reply::Failed(fault::internal("an operation that never waits was put off"))
                }
            };
            reply.into()
        });
        // Each operation ends in time by itself and says who was silent; this is for the one that does not.
        let answered: Answered = timeout_at(deadline, answer).await.unwrap_or_else(|_| {
            let message = format!("node {} had no time left to finish", core.name);
            let completion = if is_change { CompletionStatus::Maybe } else { CompletionStatus::No };
            Reply::Failed(Fault::new(ErrorKind::TimeLimitExceeded, completion, message)).into()
        });
        Answered { reply: core.marked(known.as_deref(), answered.reply), token: answered.token }
    }

    /// A place among the requests that wait for other nodes, or a refusal.
    pub fn admit_waiting(&self, request: &Request) -> Result<Share, Reply> {
        let place = match &request.operation {
            // It isn't waited for when the node leaves, so it has a gauge of its own.
            Operation::Watch(_) => self.load.watches.take(1, self.limits.watches),
            Operation::LookupMany { names } => self.load.in_flight.take(names.len().clamp(1, WINDOW), self.limits.in_flight),
            _ => self.load.in_flight.take(1, self.limits.in_flight),
        };
        place.ok_or_else(|| Reply::Failed(self.refused(RefusalReason::Overloaded)))
    }

    /// Why this is not even looked at: whoever asks may not, or the node's state forbids it.
    fn refusal(&self, caller: Caller, request: &Request) -> Option<Reply> {
        let phase = self.phase.get();
        let refused = |reason| Some(Reply::Failed(self.refused(reason)));
        let is_peer = matches!(caller, Caller::Peer(..));
        match (&request.operation, request.scope) {
            _ if phase == Phase::Closed => refused(RefusalReason::Closed),
            (Operation::Watch(_) | Operation::Await { .. }, Scope::Peer) => {
                Some(Reply::Failed(fault::not_supported("a node neither watches nor awaits names in another's tree")))
            }
            (Operation::Gossip(_), _) | (_, Scope::Peer) if !is_peer => {
                Some(Reply::Failed(fault::not_supported("only the cluster's nodes may ask this of each other")))
            }
            (Operation::Gossip(_) | Operation::Status | Operation::Quiesce, _) | (_, Scope::Peer) => None,
            _ => phase.refusal().and_then(refused),
        }
    }
}
