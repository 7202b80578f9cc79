//! A node asked by its own process, without a network.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::failure::CompletionStatus;
use crate::naming::ErrorKind;
use crate::protocol::{Fault, Operation, RefusalReason, Reply, Request};
use crate::topology::Endpoint;
use crate::transport::{ReplyTo, Service};

use super::connection::Caller;
use super::core::{Core, Phase};
use super::node::Node;

impl Service for Node {
    fn try_now(&self, request: &Request) -> Option<Reply> {
        let reply = self.core().answer_now(Caller::InProcess, request)?;
        self.core().load.serve(1);
        Some(reply)
    }

    fn submit(&self, request: Request, within: Duration, reply_to: ReplyTo) {
        let is_change = matches!(request.operation, Operation::Mutate(_));
        let promise = Promise { core: Arc::clone(self.core()), is_change, reply_to: Some(reply_to) };
        if self.is_forked() {
            return promise.keep(Reply::Failed(forked(self.name())));
        }
        if let Some(reply) = self.try_now(&request) {
            return promise.keep(reply);
        }
        match self.core().admit_waiting(&request) {
            Ok(place) => {
                let answer = Arc::clone(self.core()).answer_later(request, Instant::now() + within);
                self.core().load.serve(1);
                self.handle().spawn(async move {
                    let answered = answer.await;
                    drop(place);
                    promise.keep(answered.reply);
                });
            }
            Err(refusal) => promise.keep(refusal),
        }
    }

    fn name(&self) -> &str {
        self.name()
    }

    fn endpoint(&self) -> Endpoint {
        self.endpoint()
    }
}

/// Sees to it that a reply is given exactly once, also where the node is closed meanwhile.
struct Promise {
    core: Arc<Core>,
    /// A change may have run when the node ends.
    is_change: bool,
    reply_to: Option<ReplyTo>,
}

impl Promise {
    fn keep(mut self, reply: Reply) {
        // What other nodes' answers come to while the node is taken apart says nothing of them.
        let reply = if self.core.phase.get() == Phase::Closed && !self.is_change { self.closed() } else { reply };
        if let Some(reply_to) = self.reply_to.take() {
            reply_to(reply);
        }
    }

    fn closed(&self) -> Reply {
        let refusal = self.core.refused(RefusalReason::Closed);
        // A refusal would say that it did not run.
        let maybe = |refused| Fault { completion: CompletionStatus::Maybe, refusal: None, ..refused };
        Reply::Failed(if self.is_change { maybe(refusal) } else { refusal })
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if let Some(reply_to) = self.reply_to.take() {
            reply_to(self.closed());
        }
    }
}

fn forked(name: &str) -> Fault {
    let message = format!("node {name} runs in the parent process; start another one in this process");
    Fault::new(ErrorKind::ContextClosed, CompletionStatus::No, message)
}
