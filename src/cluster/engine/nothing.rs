//! What came to nothing is remembered, where a copy of the request may still be on its way.
//!
//! A request that is repeated was sent to a node before, which may stand still with it in its hands. When that node wakes
//! it runs the copy; if it removed something here that was bound since, or bound what its client was told is taken, an
//! acknowledged change would be lost. What took effect is recognised by its event. So what did not gets an event as well,
//! one that changes no version, and all live nodes have it before the client is told.

use crate::cluster::history::{Digest, Outcome};
use crate::cluster::obstacle::Obstacle;
use crate::cluster::replica::Draft;
use crate::cluster::reply::Reply;
use crate::cluster::request::{Intent, Request};
use crate::cluster::rules::Rule;
use crate::protocol::OperationId;

use super::Engine;
use super::decide::Decision;
use super::write::Writing;

/// Whether a request with that reply has changed nothing.
pub(super) fn is_nothing(reply: &Reply) -> bool {
    matches!(reply, Reply::Done { version: None, .. } | Reply::Obstructed(_) | Reply::Link(_))
}

impl Engine {
    /// There is nothing to do for a request, or it can't be done: the reply says which.
    pub(super) fn came_to_nothing(&mut self, request: &Request, reply: Reply) {
        let (operation, name) = (request.operation, request.principal());
        if !request.is_retry || !self.rules.hold(Rule::NothingRemembered) {
            self.answer(operation, &reply);
            return;
        }
        let digest = Digest { asked: request.digest(), moved: 0 };
        let keep = self.record_of(name).siblings.iter().map(|sibling| sibling.dot).collect();
        let draft = Draft { binds: None, keep, event: Some((operation, digest, Outcome::Nothing)) };
        let dot = self.replica.write(self.now, name, draft);
        let writing = self.writing(operation, name, false);
        self.writings.insert(dot, Writing { instead: Some(reply), ..writing });
        self.fan_out(dot);
    }

    /// It came to nothing before, and that may have been said: whatever could be done by now, it is not.
    pub(super) fn comes_to_nothing_again(&mut self, operation: OperationId) {
        let Some(caller) = self.callers.get(&operation) else { return };
        let request = caller.request.clone();
        let reply = match (self.decide(&request), &request.intent) {
            (Decision::Answer(reply), _) => reply,
            (Decision::Nothing, _) | (_, Intent::Unbind | Intent::DestroySubcontext | Intent::Release { .. }) => {
                Reply::Done { version: None, receipt: self.receipt([self.id]) }
            }
            _ => Reply::Obstructed(Obstacle::CameToNothing { name: request.principal().clone() }),
        };
        self.answer(operation, &reply);
    }
}
