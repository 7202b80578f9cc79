//! The session's side of its connection: one wait for everything that can happen to it.
//!
//! Written by hand over `poll` instead of with `select!`: in the common case, a read and the write that answers it, no
//! future is made, no task is woken, and the socket is touched twice.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::sync::watch;
use tokio::task::coop::has_budget_remaining;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::protocol::Decoder;
use crate::transport::BoxStream;

use super::answering::{Answered, Answering};
use crate::server::bulletin::Bulletin;

/// How much one read takes at most.
const READ: usize = 8 << 10;

/// A buffer that grew over this is given back once it is empty.
const KEEP: usize = 64 << 10;

/// What happened to a connection.
#[derive(Debug)]
pub enum Event {
    /// So many bytes came; 0 is the end.
    Read(io::Result<usize>),
    /// Replies were taken, so that there may be room again.
    Wrote,
    /// Writing broke.
    Broken(io::Error),
    /// Requests that needed other nodes were answered.
    Answered(Vec<Answered>),
    /// The members changed, or the node left.
    Bulletin,
    /// The deadline passed.
    Timer,
}

type Changed = Pin<Box<dyn Future<Output = Option<watch::Receiver<Arc<Bulletin>>>> + Send>>;

/// A connection and what waits to leave on it.
pub struct Wire {
    stream: BoxStream,
    out: BytesMut,
    /// What needs other nodes, and is on its way.
    answering: Answering,
    /// Fires when the members change; kept from turn to turn so that no turn registers anew.
    changed: Option<Changed>,
    /// Tells whether they did without registering anything.
    bulletins: watch::Receiver<Arc<Bulletin>>,
    timer: Pin<Box<Sleep>>,
    /// Whom `changed` and `timer` wake: as long as it is the task that asks, neither is polled before it has fired.
    wakes: Option<Waker>,
    /// How many bytes were taken by the other side so far.
    taken: u64,
}

impl Wire {
    /// Over `stream`, told of changes by `bulletins`.
    pub fn new(stream: BoxStream, bulletins: watch::Receiver<Arc<Bulletin>>) -> Self {
        Self {
            stream,
            out: BytesMut::new(),
            answering: Answering::default(),
            changed: Some(next_change(bulletins.clone())),
            bulletins,
            timer: Box::pin(sleep_until(Instant::now())),
            wakes: None,
            taken: 0,
        }
    }

    /// Where frames to be sent are appended.
    pub fn out(&mut self) -> &mut BytesMut {
        &mut self.out
    }

    /// How many bytes wait to be taken by the other side.
    pub fn unsent(&self) -> usize {
        self.out.len()
    }

    /// How many bytes were taken so far.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// How many requests wait for other nodes.
    pub fn in_flight(&self) -> usize {
        self.answering.len()
    }

    /// Where answers that need other nodes are awaited.
    pub fn answering(&mut self) -> &mut Answering {
        &mut self.answering
    }

    /// Waits for the next event. Reads and takes answers only where there is a `decoder` to read into: without one there
    /// is no room for more replies.
    pub async fn turn(&mut self, mut decoder: Option<&mut Decoder>, deadline: Instant) -> Event {
        // The timer runs to the earliest deadline it was ever told; it is set again only when it fires too early.
        if deadline < self.timer.deadline() || self.timer.is_elapsed() {
            self.timer.as_mut().reset(deadline);
            self.wakes = None;
        }
        poll_fn(|cx| self.poll_turn(cx, decoder.as_deref_mut())).await
    }

    /// Writes all that waits, closes this direction, and lets the other side close its own: a connection that is dropped
    /// with bytes unread is reset, and the other side may lose what was written last.
    pub async fn finish(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_write(cx)).await?;
        poll_fn(|cx| Pin::new(&mut self.stream).poll_shutdown(cx)).await?;
        let mut unread = [0; 512];
        while self.stream.read(&mut unread).await? > 0 {}
        Ok(())
    }

    fn poll_turn(&mut self, cx: &mut Context<'_>, decoder: Option<&mut Decoder>) -> Poll<Event> {
        let before = self.taken;
        match self.poll_write(cx) {
            Poll::Ready(Err(error)) => return Poll::Ready(Event::Broken(error)),
            // Only a session that had stopped reading must look again; any other goes on below.
            _ if decoder.is_none() && self.taken > before => return Poll::Ready(Event::Wrote),
            _ => {}
        }
        if decoder.is_some()
            && let Some(answers) = self.answering.poll(cx)
        {
            return Poll::Ready(Event::Answered(answers));
        }
        let registered = self.wakes.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
        if (!registered || !matches!(self.bulletins.has_changed(), Ok(false)))
            && let Some(changed) = &mut self.changed
            && let Poll::Ready(bulletins) = changed.as_mut().poll(cx)
        {
            self.changed = bulletins.map(next_change);
            self.bulletins.mark_unchanged();
            self.wakes = None;
            return Poll::Ready(Event::Bulletin);
        }
        if let Some(decoder) = decoder
            && let Poll::Ready(read) = poll_read(&mut self.stream, decoder, cx)
        {
            return Poll::Ready(Event::Read(read));
        }
        if registered && !self.timer.is_elapsed() {
            return Poll::Pending;
        }
        let fired = self.timer.as_mut().poll(cx);
        // Whoever has used up the task's budget is sent away unregistered.
        self.wakes = (fired.is_pending() && has_budget_remaining()).then(|| cx.waker().clone());
        fired.map(|()| Event::Timer)
    }

    /// Writes as much as the other side takes; ready when nothing waits.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.out.is_empty() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.out))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.taken += written as u64;
            self.out.advance(written);
        }
        if self.out.capacity() > KEEP {
            self.out = BytesMut::new();
        } else {
            self.out.clear();
        }
        Poll::Ready(Ok(()))
    }
}

fn poll_read(stream: &mut BoxStream, decoder: &mut Decoder, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
    let buffer = decoder.buffer();
    if buffer.is_empty() && buffer.capacity() > KEEP {
        *buffer = BytesMut::new();
    }
    buffer.reserve(READ);
    let read = std::pin::pin!(stream.read_buf(buffer));
    read.poll(cx)
}

fn next_change(mut bulletins: watch::Receiver<Arc<Bulletin>>) -> Changed {
    Box::pin(async move { bulletins.changed().await.is_ok().then_some(bulletins) })
}
