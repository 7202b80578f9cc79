//! Carries a watch's questions.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::naming::{ErrorKind, NamingError};
use crate::protocol::{Answer, Operation, Refusal, RefusalReason, Reply, Request, Scope, WatchRequest, Watched};
use crate::transport::Service;

use super::super::asynchronous::AsyncClient;
use super::super::fault;
use super::super::invocation::{Invocation, Product, unexpected};

/// The time that a node of this process has beyond that for which it may hold the question.
const WITHIN: Duration = Duration::from_secs(5);

/// Who is asked.
#[derive(Clone)]
pub enum Asker {
    /// Some server, over a network.
    Network(AsyncClient),
    /// A node of this process.
    Process(Arc<dyn Service>, Scope),
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Unanswered {
    /// There may be one later.
    ForNow(NamingError),
    /// There never will.
    ForGood(NamingError),
}

impl Asker {
    /// Asks, and waits for the answer.
    pub async fn ask(&self, request: WatchRequest) -> Result<Watched, Unanswered> {
        match self {
            Self::Network(client) => match client.perform(Invocation::watch(request), None).await {
                Ok((Product::Watched(watched), _)) => Ok(watched),
                Ok((other, _)) => Err(Unanswered::ForGood(unexpected(&format!("{other:?}")))),
                Err(error) if is_passing(error.kind()) => Err(Unanswered::ForNow(error)),
                Err(error) => Err(Unanswered::ForGood(error)),
            },
            Self::Process(service, scope) => in_process(&**service, *scope, request).await,
        }
    }
}

/// Whether it may go better the next time.
fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ServiceUnavailable | ErrorKind::Communication | ErrorKind::TimeLimitExceeded)
}

async fn in_process(service: &dyn Service, scope: Scope, watch: WatchRequest) -> Result<Watched, Unanswered> {
    let within = WITHIN + Duration::from_millis(watch.hold.into());
    let request = Request {
        time_left: u32::try_from(within.as_micros()).unwrap_or(u32::MAX),
        scope,
        operation_id: None,
        is_retry: false,
        operation: Operation::Watch(watch),
        known: None,
    };
    let (sender, reply) = oneshot::channel();
    // Where nobody waits any longer the reply is of no use.
    service.submit(request, within, Box::new(move |reply| drop(sender.send(reply))));
    match reply.await {
        Ok(Reply::Done(Answer::Watched(watched))) => Ok(watched),
        Ok(Reply::Done(_) | Reply::Stale(_)) => Err(Unanswered::ForGood(unexpected("another operation's"))),
        Ok(Reply::Failed(fault)) => {
            // A node that leaves never comes back, and there is no other.
            let reason = fault.refusal.as_ref().map(|Refusal { reason, .. }| *reason);
            let kind = ErrorKind::from_code(fault.code);
            let leaves = matches!(reason, Some(RefusalReason::Closed | RefusalReason::Quiescing));
            let error = fault::to_error(fault);
            Err(if is_passing(kind) && !leaves { Unanswered::ForNow(error) } else { Unanswered::ForGood(error) })
        }
        Err(_) => {
            let message = format!("node {} was closed", service.name());
            Err(Unanswered::ForGood(NamingError::new(ErrorKind::ContextClosed, message)))
        }
    }
}
