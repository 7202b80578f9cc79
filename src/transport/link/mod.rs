//! One connection shared by many requests at once, on tokio.
//!
//! A link is a handle, cheap to clone; its connection lives as long as the last handle, and one task of its own reads
//! and writes. A request is written at once by the caller where nothing else is under way, and otherwise by the task,
//! together with all that was asked meanwhile.
//!
//! What a link promises is the *phase* of a failure: a request that still waited here, or of which a part had not been
//! written, is `Send` (it did not run, and will not: it is taken back, or the connection ended); one that was written
//! completely is `Wait`; one whose reply's header came is `Receive`, with the outcome of the header.

mod outbox;
mod state;
mod task;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::failure::Phase;
use crate::protocol::{Body, Brought, Hello, Limits, Reply, Request, Welcome};
use crate::topology::{Endpoint, View};

use super::error::{TransportError, TransportErrorKind};
use super::network::Network;
use state::{Pending, Shared};

/// A connection to one server, for many requests at once.
#[derive(Clone, Debug)]
pub struct Link {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Link {
    /// Connects, says hello and waits for the welcome, all within `within`.
    pub async fn open(
        network: &dyn Network,
        to: &Endpoint,
        hello: Hello,
        limits: Limits,
        within: Duration,
    ) -> Result<(Self, Welcome), TransportError> {
        Self::open_soon(network, to, hello, limits, within, within).await
    }

    /// As [`open`](Self::open), but the connection has to stand after `connects_within` already.
    pub async fn open_soon(
        network: &dyn Network,
        to: &Endpoint,
        hello: Hello,
        limits: Limits,
        connects_within: Duration,
        within: Duration,
    ) -> Result<(Self, Welcome), TransportError> {
        let began = Instant::now();
        let late = |phase, within| move |_| TransportError::new(phase, TransportErrorKind::TimedOut(within));
        let connected = timeout_at(began + connects_within, network.connect(to)).await;
        let stream = connected.map_err(late(Phase::Connect, connects_within))?;
        let stream = stream.map_err(|error| TransportError::connecting(&error))?;
        let greeted = timeout_at(began + within, task::greet(stream, &hello, limits)).await;
        let greeted = greeted.map_err(late(Phase::Handshake, within))?;
        let (stream, decoder, welcome) = greeted?;
        let (reader, writer) = tokio::io::split(stream);
        let shared = Arc::new(Shared::new(writer, limits, welcome.view.clone()));
        let task = tokio::spawn(task::run(Arc::clone(&shared), reader, decoder));
        Ok((Self { inner: Arc::new(Inner { shared, task }) }, welcome))
    }

    /// Asks, and waits for the reply. The request's `time_left` is lowered to what remains when the request is written.
    /// Dropping the future cancels the request: it is not written where it has not been.
    pub async fn ask(&self, request: Request, within: Duration) -> Result<Reply, TransportError> {
        self.ask_patiently(request, within, |_, _| None).await
    }

    /// As [`ask`](Self::ask); where the time is over, `more` says how much longer to wait. It's told how far the request
    /// has come (`Send` or `Wait`), and whether anything came on the link since the time began. A request that waited for
    /// others to be answered has all its time from when it is written.
    pub async fn ask_patiently(
        &self,
        mut request: Request,
        within: Duration,
        mut more: impl FnMut(Phase, bool) -> Option<Duration>,
    ) -> Result<Reply, TransportError> {
        let shared = &self.inner.shared;
        let late = TransportErrorKind::TimedOut(within);
        let mut heard = shared.heard();
        let mut deadline = Instant::now() + within;
        let room = loop {
            match timeout_at(deadline, shared.room()).await {
                Ok(room) => break room,
                Err(_) => match more(Phase::Send, shared.heard() != heard) {
                    Some(longer) => deadline = Instant::now() + longer,
                    None => return Err(TransportError::new(Phase::Send, late)),
                },
            }
            heard = shared.heard();
        };
        let left = deadline.saturating_duration_since(Instant::now()).as_micros();
        request.time_left = request.time_left.min(u32::try_from(left).unwrap_or(u32::MAX));
        let heard = shared.heard();
        let mut pending: Pending<'_> = shared.submit(&request, room)?;
        loop {
            if let Ok(result) = timeout_at(deadline, pending.reply()).await {
                return result;
            }
            match more(Phase::Wait, shared.heard() != heard) {
                Some(longer) => deadline = Instant::now() + longer,
                None => return pending.give_up(late),
            }
        }
    }

    /// Sends messages that nobody replies to, in order, without waiting: written at once where the link is idle, otherwise
    /// with what waits. Whether they arrive is for the two sides to find out.
    ///
    /// # Errors
    /// `Full` where too much waits already, and how the link ended where it has; in both cases none was taken. What can't
    /// be encoded ends the row there.
    pub fn tell<B: Body>(&self, messages: &[B]) -> Result<(), TransportError> {
        self.inner.shared.tell(messages)
    }

    /// Sends one message as [`tell`](Self::tell) does, as soon as what waits leaves room for it.
    ///
    /// # Errors
    /// How the link ended, or what can't be encoded.
    pub async fn tell_in_turn<B: Body>(&self, message: &B) -> Result<(), TransportError> {
        self.inner.shared.tell_in_turn(message).await
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.inner.shared.is_closed()
    }

    /// Waits until the connection has ended.
    pub async fn closed(&self) {
        self.inner.shared.closed().await;
    }

    /// Ends the connection now; requests under way fail, each with its phase.
    pub fn close(&self) {
        self.inner.shared.end(&TransportErrorKind::Cancelled);
        self.inner.task.abort();
    }

    /// What the server said that was seen with its replies, once. It is there before the reply is.
    pub fn take_brought(&self) -> Vec<Brought> {
        self.inner.shared.take_brought()
    }

    /// The views that the server pushes, beginning with the welcome's.
    pub fn views(&self) -> watch::Receiver<Option<View>> {
        self.inner.shared.views()
    }
}
