//! What the callers of a link and its task share: the requests under way and the bytes to be written.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::WriteHalf;
use tokio::sync::{Notify, Semaphore, SemaphorePermit, oneshot, watch};

use crate::failure::Phase;
use crate::protocol::{Body, Brought, FrameKind, Header, Limits, Outcome, Reply, Request, encode_frame};
use crate::topology::View;

use super::super::error::{TransportError, TransportErrorKind};
use super::super::network::BoxStream;
use super::outbox::{Outbox, Retraction};

/// How many requests may be under way on one link; further ones wait.
const IN_FLIGHT: usize = 1024;

/// How many bytes may wait to be written before further requests wait, too.
const HIGH_WATER: usize = 1 << 20;

/// The id of a frame to which no reply belongs.
const UNASKED: u64 = 0;

type Answer = Result<Reply, TransportError>;

pub(super) struct Shared {
    state: Mutex<State>,
    room: Semaphore,
    /// Rung when there is something to write that no caller could write itself.
    unwritten: Notify,
    /// Rung when the outbox has room again.
    drained: Notify,
    closed: watch::Sender<bool>,
    views: watch::Sender<Option<View>>,
    limits: Limits,
}

struct State {
    /// `None` once the link has ended: dropping both halves closes the connection.
    writer: Option<WriteHalf<BoxStream>>,
    outbox: Outbox,
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
    /// The header of the frame that is coming in, while its body is not whole.
    incoming: Option<Header>,
    last_id: u64,
    /// What was seen with the replies, and nobody has taken.
    brought: Vec<Brought>,
    /// How often something came.
    heard: u64,
    ended: Option<TransportErrorKind>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("closed", &self.is_closed()).finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(writer: WriteHalf<BoxStream>, limits: Limits, view: View) -> Self {
        let state = State {
            writer: Some(writer),
            outbox: Outbox::default(),
            waiting: HashMap::new(),
            incoming: None,
            last_id: 0,
            brought: Vec::new(),
            heard: 0,
            ended: None,
        };
        Self {
            state: Mutex::new(state),
            room: Semaphore::new(IN_FLIGHT),
            unwritten: Notify::new(),
            drained: Notify::new(),
            closed: watch::Sender::new(false),
            views: watch::Sender::new(Some(view)),
            limits,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one more request may be submitted.
    pub(super) async fn room(&self) -> Option<SemaphorePermit<'_>> {
        let permit = self.room.acquire().await.ok();
        loop {
            let drained = self.drained.notified();
            {
                let state = self.lock();
                if state.ended.is_some() || state.outbox.pending().len() < HIGH_WATER {
                    return permit;
                }
            }
            drained.await;
        }
    }

    /// Enters a request, and writes it where the link is idle.
    pub(super) fn submit<'a>(
        &'a self,
        request: &Request,
        room: Option<SemaphorePermit<'a>>,
    ) -> Result<Pending<'a>, TransportError> {
        let mut state = self.lock();
        if let Some(kind) = &state.ended {
            return Err(TransportError::new(Phase::Send, kind.clone()));
        }
        let idle = state.waiting.is_empty() && state.outbox.pending().is_empty();
        state.last_id += 1;
        let id = state.last_id;
        let encoded = state.outbox.push(id, |out| request.encode(out, id, self.limits));
        encoded.map_err(|error| TransportError::new(Phase::Send, error.into()))?;
        let (sender, receiver) = oneshot::channel();
        state.waiting.insert(id, sender);
        // A caller's waker must not be left with the writer: the task is woken to write what did not go out at once.
        if !(idle && matches!(state.write(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(())))) {
            self.unwritten.notify_one();
        }
        Ok(Pending { shared: self, id, receiver, _room: room })
    }

    /// Appends frames that nobody replies to, and writes them where the link is idle. Where more waits than is good, or the
    /// link has ended, nothing is appended.
    pub(super) fn tell<B: Body>(&self, bodies: &[B]) -> Result<(), TransportError> {
        let mut state = self.lock();
        if let Some(kind) = &state.ended {
            return Err(TransportError::new(Phase::Send, kind.clone()));
        }
        let waiting = state.outbox.pending().len();
        if waiting >= HIGH_WATER {
            return Err(TransportError::new(Phase::Send, TransportErrorKind::Full));
        }
        for body in bodies {
            let encoded = state.outbox.push(UNASKED, |out| encode_frame(out, FrameKind::Message, 0, UNASKED, body, self.limits));
            encoded.map_err(|error| TransportError::new(Phase::Send, error.into()))?;
        }
        if !(waiting == 0 && matches!(state.write(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(())))) {
            self.unwritten.notify_one();
        }
        Ok(())
    }

    /// Appends one such frame, when there is room for it.
    pub(super) async fn tell_in_turn<B: Body>(&self, body: &B) -> Result<(), TransportError> {
        loop {
            let drained = self.drained.notified();
            match self.tell(std::slice::from_ref(body)) {
                Err(error) if error.kind == TransportErrorKind::Full => drained.await,
                told => return told,
            }
        }
    }

    /// Writes whatever is submitted, for the link's task. Ends with the connection.
    pub(super) async fn write_all(&self) -> TransportErrorKind {
        loop {
            let written = std::future::poll_fn(|context| self.lock().write(context)).await;
            self.drained.notify_waiters();
            if let Err(error) = written {
                return TransportError::io(Phase::Send, &error).kind;
            }
            self.unwritten.notified().await;
        }
    }

    /// Notes which frame is coming in.
    pub(super) fn set_incoming(&self, header: Option<Header>) {
        self.lock().incoming = header;
    }

    /// Something came. Said before anybody is told what.
    pub(super) fn hear(&self) {
        self.lock().heard += 1;
    }

    /// A number that is another one whenever something has come.
    pub(super) fn heard(&self) -> u64 {
        self.lock().heard
    }

    /// Delivers the reply of the request with that id; nobody waits for a late one.
    pub(super) fn deliver(&self, id: u64, answer: Answer) {
        let waiting = self.lock().waiting.remove(&id);
        if let Some(sender) = waiting {
            // The caller may have gone in this moment: then nobody wants the reply.
            let _ = sender.send(answer);
        }
    }

    pub(super) fn push_view(&self, view: View) {
        self.views.send_replace(Some(view));
    }

    pub(super) fn push_brought(&self, brought: Brought) {
        brought.add_to(&mut self.lock().brought);
    }

    pub(super) fn take_brought(&self) -> Vec<Brought> {
        std::mem::take(&mut self.lock().brought)
    }

    pub(super) fn views(&self) -> watch::Receiver<Option<View>> {
        self.views.subscribe()
    }

    /// Ends the link: every request under way fails, in its own phase.
    pub(super) fn end(&self, kind: &TransportErrorKind) {
        let mut state = self.lock();
        if state.ended.is_some() {
            return;
        }
        state.ended = Some(kind.clone());
        state.writer = None;
        for (id, sender) in std::mem::take(&mut state.waiting) {
            let _ = sender.send(Err(state.failure(id, kind.clone())));
        }
        drop(state);
        self.drained.notify_waiters();
        self.closed.send_replace(true);
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    pub(super) async fn closed(&self) {
        // The sender lives in `self`, so the wait cannot fail.
        let _ = self.closed.subscribe().wait_for(|closed| *closed).await;
    }
}

impl State {
    /// Writes until all is written or the connection takes no more.
    fn write(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        use tokio::io::AsyncWrite;
        let Some(writer) = &mut self.writer else { return Poll::Ready(Err(std::io::ErrorKind::NotConnected.into())) };
        while !self.outbox.pending().is_empty() {
            match std::task::ready!(std::pin::Pin::new(&mut *writer).poll_write(context, self.outbox.pending())) {
                Ok(0) => return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into())),
                Ok(count) => self.outbox.advance(count),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// How far the request with that id came, as an error.
    fn failure(&self, id: u64, kind: TransportErrorKind) -> TransportError {
        match self.incoming {
            Some(header) if header.kind == FrameKind::Reply && header.request_id == id => {
                TransportError { phase: Phase::Receive, kind, outcome: Some(Outcome::from_flags(header.flags)) }
            }
            _ if self.outbox.holds(id) => TransportError::new(Phase::Send, kind),
            _ => TransportError::new(Phase::Wait, kind),
        }
    }
}

/// A request under way. Dropping it gives it up.
pub(super) struct Pending<'a> {
    shared: &'a Shared,
    id: u64,
    receiver: oneshot::Receiver<Answer>,
    _room: Option<SemaphorePermit<'a>>,
}

impl Pending<'_> {
    pub(super) async fn reply(&mut self) -> Answer {
        // A sender is only dropped unsent together with the link's whole state.
        (&mut self.receiver).await.unwrap_or_else(|_| Err(TransportError::new(Phase::Wait, TransportErrorKind::Lost)))
    }

    /// Waits no longer. Where half of the request's frame is written the connection ends: a request that is reported
    /// as not sent must not arrive whole later.
    pub(super) fn give_up(&mut self, kind: TransportErrorKind) -> Answer {
        if let Ok(answer) = self.receiver.try_recv() {
            return answer;
        }
        let mut state = self.shared.lock();
        let failure = state.failure(self.id, kind);
        state.waiting.remove(&self.id);
        let begun = state.outbox.retract(self.id) == Retraction::Begun;
        drop(state);
        if begun {
            self.shared.end(&TransportErrorKind::Lost);
        }
        Err(failure)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if state.waiting.remove(&self.id).is_some() {
            state.outbox.retract(self.id);
        }
    }
}
