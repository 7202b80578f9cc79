//! One end of a connection in memory, as a stream.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::MemoryNetwork;
use super::pipe::{CAPACITY, Course, Wire};
use super::rule::Mishap;

pub(super) struct End {
    network: MemoryNetwork,
    wire: Arc<Wire>,
    is_dialler: bool,
    /// Until the next piece arrives.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl End {
    pub(super) fn new(network: MemoryNetwork, wire: Arc<Wire>, is_dialler: bool) -> Self {
        Self { network, wire, is_dialler, sleep: None }
    }
}

impl AsyncRead for End {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let (from, to) = this.wire.hosts(!this.is_dialler);
        // The network is locked before the pipe, here as everywhere.
        let state = this.network.lock();
        let mut pipe = this.wire.pipe(!this.is_dialler);
        if pipe.course == Course::Reset {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        pipe.reader = Some(context.waker().clone());
        if state.is_held(from, to) {
            return Poll::Pending;
        }
        let Some((due, piece)) = pipe.queue.front_mut() else {
            return if pipe.writer_is_gone && pipe.course == Course::Open { Poll::Ready(Ok(())) } else { Poll::Pending };
        };
        if *due > Instant::now() {
            let sleep = this.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(*due)));
            sleep.as_mut().reset(*due);
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        let count = piece.len().min(into.remaining());
        into.put_slice(&piece.split_to(count));
        if !piece.has_remaining() {
            pipe.queue.pop_front();
        }
        pipe.queued -= count;
        if let Some(writer) = pipe.writer.take() {
            writer.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for End {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let (from, to) = self.wire.hosts(self.is_dialler);
        let mut state = self.network.lock();
        let mut pipe = self.wire.pipe(self.is_dialler);
        if pipe.course == Course::Reset {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if pipe.reader_is_gone {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if pipe.queued >= CAPACITY {
            pipe.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        let now = Instant::now();
        let mut resets = false;
        for (header, frame) in pipe.cut_frames(bytes) {
            match header.and_then(|header| state.judge(from, to, &header)) {
                None => pipe.enqueue(now, frame),
                Some(Mishap::Delay(range)) => pipe.enqueue(now + state.draw(&range), frame),
                Some(Mishap::Lose) => {}
                Some(Mishap::Silence) => pipe.course = Course::Silent,
                Some(Mishap::Reset) => resets = true,
            }
        }
        pipe.wake();
        drop(pipe);
        if resets {
            self.wire.reset();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.wire.pipe(self.is_dialler).end(Instant::now());
        Poll::Ready(Ok(()))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.wire.pipe(self.is_dialler).end(Instant::now());
        let mut incoming = self.wire.pipe(!self.is_dialler);
        incoming.reader_is_gone = true;
        incoming.wake();
    }
}
