//! What a cache spares a call, and what the call tells the cache.

use std::time::Duration;

use crate::naming::{ErrorKind, NamingError};
use crate::protocol::Reply;

use super::super::fault;
use super::super::fleet::Fleet;
use super::super::invocation::{Freshness, Next, Product, unexpected};
use super::{Call, Current, Output};

impl Call {
    /// Answers the next request from what is kept, where that is known to be true.
    pub(super) fn recall(&mut self, fleet: &mut Fleet, now: Duration) -> Option<Output> {
        let name = self.invocation.looks_up().filter(|_| !self.invocation.is_afresh())?;
        let reply = fleet.recall(name.as_str(), now)?;
        Some(self.take_kept(fleet, now, reply, Freshness::Kept))
    }

    /// The error that a call ends with; where no server is left, what was known last in its place.
    pub(super) fn last_known(&mut self, fleet: &mut Fleet, now: Duration, error: NamingError) -> Output {
        let is_nobody_left =
            matches!(error.kind(), ErrorKind::ServiceUnavailable | ErrorKind::Communication | ErrorKind::TimeLimitExceeded)
                && !self.incomplete;
        let known = || fleet.cache.as_ref()?.last_known(self.invocation.looks_up()?.as_str());
        match is_nobody_left.then(known).flatten() {
            Some(reply) => self.take_kept(fleet, now, reply, Freshness::LastKnown),
            None => Output::Done(Err(error)),
        }
    }

    fn take_kept(&mut self, fleet: &mut Fleet, now: Duration, reply: Reply, freshness: Freshness) -> Output {
        self.freshness = self.freshness.max(freshness);
        let next = match reply {
            Reply::Done(answer) => self.invocation.accept(answer),
            // Nothing of the kind is kept.
            Reply::Stale(_) => Next::Fail(unexpected("one that is stale")),
            Reply::Failed(fault) => self.invocation.accept_fault(&fault).unwrap_or_else(|| Next::Fail(fault::to_error(fault))),
        };
        match next {
            Next::Done(product, _) => Output::Done(Ok(product)),
            Next::Fail(error) => {
                let completion = error.fields().completion;
                Output::Done(Err(self.complete(error, completion)))
            }
            Next::Link(_) | Next::More | Next::Incomplete { .. } => {
                self.begin_hop(fleet);
                self.advance(fleet, now)
            }
        }
    }

    /// Keeps what a lookup was answered.
    pub(super) fn keep(&self, fleet: &mut Fleet, now: Duration, current: &Current, reply: &Reply) {
        if let (Some(cache), Some(name)) = (&mut fleet.cache, self.invocation.looks_up()) {
            cache.keep(name.as_str(), reply, current.asked_at, now);
        }
    }

    /// Tells the cache that names are changed or may have been, and the caller how what was found is known.
    pub(super) fn settle_cache(&self, fleet: &mut Fleet, mut output: Output) -> Output {
        let Some(cache) = &mut fleet.cache else { return output };
        match &mut output {
            Output::Done(Ok(Product::Found(located))) => located.freshness = self.freshness,
            Output::Done(_) => self.invocation.changes().into_iter().flatten().for_each(|name| cache.changed(name.as_str())),
            _ => {}
        }
        output
    }
}
