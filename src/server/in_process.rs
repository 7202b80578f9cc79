//! A node asked by its own process, without a network.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::failure::CompletionStatus;
use crate::naming::ErrorKind;
use crate::protocol::{Fault, RefusalReason, Reply, Request};
use crate::topology::Endpoint;
use crate::transport::{ReplyTo, Service};

use super::answer::fault;
use super::connection::Caller;
use super::core::Core;
use super::node::Node;

impl Service for Node {
    fn try_now(&self, request: &Request) -> Option<Reply> {
        let reply = self.core().answer_now(Caller::InProcess, request)?;
        self.core().load.serve(1);
        Some(reply)
    }

    fn submit(&self, request: Request, within: Duration, reply_to: ReplyTo) {
        let promise = Promise { core: Arc::clone(self.core()), reply_to: Some(reply_to) };
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
                    let reply = answer.await;
                    drop(place);
                    promise.keep(reply);
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
    reply_to: Option<ReplyTo>,
}

impl Promise {
    fn keep(mut self, reply: Reply) {
        if let Some(reply_to) = self.reply_to.take() {
            reply_to(reply);
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if let Some(reply_to) = self.reply_to.take() {
            reply_to(Reply::Failed(self.core.refused(RefusalReason::Closed)));
        }
    }
}

fn forked(name: &str) -> Fault {
    let message = format!("node {name} runs in the parent process; start another one in this process");
    fault::fault(ErrorKind::ContextClosed, CompletionStatus::No, message)
}
