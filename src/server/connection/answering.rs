//! The answers of a connection that need other nodes, or time.
//!
//! They run in the session's own task: whoever brings the last piece of an answer wakes the session at once, and not a
//! task that would then wake it. They end with the session at the latest.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::stream::{FuturesUnordered, StreamExt as _};

use crate::protocol::Reply;
use crate::server::answer::{Answered as Answer, fault};
use crate::server::load::Share;

/// How many answers are taken at once: replies are bounded in number before they are in bytes.
const AT_ONCE: usize = 32;

/// An answer that is there.
#[derive(Debug)]
pub struct Answered {
    /// To which request.
    pub request_id: u64,
    /// The answer, and what the client has seen with it.
    pub answer: Answer,
    /// The request's place among those that wait: it is given back when the reply was appended.
    pub place: Share,
}

/// Those that are under way.
#[derive(Default)]
pub struct Answering(FuturesUnordered<Pin<Box<dyn Future<Output = Answered> + Send>>>);

impl Answering {
    /// Begins one, at the next [`poll`](Self::poll). One that panics is told as a fault of ours.
    pub fn push(&mut self, request_id: u64, place: Share, answer: impl Future<Output = Answer> + Send + 'static) {
        let answer = AssertUnwindSafe(answer).catch_unwind();
        self.0.push(Box::pin(async move {
            let answer = answer.await.unwrap_or_else(|_| Reply::Failed(fault::internal("answering this request failed")).into());
            Answered { request_id, answer, place }
        }));
    }

    /// How many are under way.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Goes on with them, and takes what is answered by now.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Option<Vec<Answered>> {
        let mut answers = Vec::new();
        while !self.0.is_empty()
            && answers.len() < AT_ONCE
            && let Poll::Ready(Some(answered)) = self.0.poll_next_unpin(cx)
        {
            answers.push(answered);
        }
        (!answers.is_empty()).then_some(answers)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;
    use crate::naming::ErrorKind;
    use crate::server::load::Gauge;

    fn place() -> Share {
        Gauge::default().take(1, 1).unwrap()
    }

    #[test]
    fn answers_come_in_the_order_in_which_they_are_there_and_a_panic_is_one_of_them() {
        let cx = &mut Context::from_waker(Waker::noop());
        let mut answering = Answering::default();
        let (sender, receiver) = tokio::sync::oneshot::channel::<Reply>();
        answering.push(1, place(), async { receiver.await.unwrap().into() });
        answering.push(2, place(), async { panic!("on purpose") });
        let failed = answering.poll(cx).unwrap();
        assert_eq!((failed.len(), failed[0].request_id, answering.len()), (1, 2, 1));
        let Reply::Failed(fault) = &failed[0].answer.reply else { panic!("{failed:?}") };
        assert_eq!(fault.code, ErrorKind::Internal.code());
        assert!(answering.poll(cx).is_none());
        sender.send(Reply::Failed(fault::not_supported("no"))).unwrap();
        assert_eq!(answering.poll(cx).unwrap()[0].request_id, 1);
        assert!(answering.poll(cx).is_none());
    }
}
