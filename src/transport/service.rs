//! A node of this process, asked without a network.

use std::time::Duration;

use crate::protocol::{Reply, Request};
use crate::topology::Endpoint;

/// Takes the reply of an in-process request, on whatever thread has it.
pub type ReplyTo = Box<dyn FnOnce(Reply) + Send>;

/// Answers requests in process.
pub trait Service: Send + Sync + 'static {
    /// Answers at once where that needs no other node; `None` otherwise, and then nothing was done.
    fn try_now(&self, request: &Request) -> Option<Reply>;

    /// Answers later, at the latest after `within`. `reply_to` is called exactly once.
    fn submit(&self, request: Request, within: Duration, reply_to: ReplyTo);

    /// The node's name, as messages tell it.
    fn name(&self) -> &str;

    /// Where others reach the node, as attempts tell it.
    fn endpoint(&self) -> Endpoint;
}
