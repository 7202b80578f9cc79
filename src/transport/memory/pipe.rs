//! A connection in memory: two pipes, each a queue of pieces with the times at which they arrive.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;

use crate::protocol::{HEADER_LEN, Header, Limits};

/// As many bytes are taken from a writer before it has to wait for the reader.
pub(super) const CAPACITY: usize = 256 << 10;

/// One connection.
#[derive(Debug)]
pub(super) struct Wire {
    dialler: Arc<str>,
    listener: Arc<str>,
    forth: Mutex<Pipe>,
    back: Mutex<Pipe>,
}

impl Wire {
    pub(super) fn new(dialler: Arc<str>, listener: Arc<str>) -> Self {
        Self { dialler, listener, forth: Mutex::default(), back: Mutex::default() }
    }

    /// The pipe that goes away from the dialler, or towards it.
    pub(super) fn pipe(&self, away_from_dialler: bool) -> MutexGuard<'_, Pipe> {
        let pipe = if away_from_dialler { &self.forth } else { &self.back };
        pipe.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sender and receiver of that pipe.
    pub(super) fn hosts(&self, away_from_dialler: bool) -> (&str, &str) {
        if away_from_dialler { (&self.dialler, &self.listener) } else { (&self.listener, &self.dialler) }
    }

    pub(super) fn touches(&self, host: &str) -> bool {
        *self.dialler == *host || *self.listener == *host
    }

    /// Ends the connection both ways: what was under way is lost.
    pub(super) fn reset(&self) {
        for direction in [true, false] {
            let mut pipe = self.pipe(direction);
            pipe.course = Course::Reset;
            pipe.queue.clear();
            pipe.wake();
        }
    }

    /// Lets both ends look again.
    pub(super) fn wake(&self) {
        self.pipe(true).wake();
        self.pipe(false).wake();
    }
}

/// How a pipe is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Course {
    /// What is written arrives.
    #[default]
    Open,
    /// A frame was silenced: nothing arrives any more, not even the end.
    Silent,
    /// The connection was reset.
    Reset,
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    cutter: Cutter,
    pub(super) queue: VecDeque<(Instant, Bytes)>,
    pub(super) queued: usize,
    pub(super) course: Course,
    pub(super) writer_is_gone: bool,
    pub(super) reader_is_gone: bool,
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
}

/// Cuts what is written into whole frames.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    /// What is not yet a whole frame.
    partial: BytesMut,
    /// What was written is no stream of frames: it passes as it is.
    is_raw: bool,
}

impl Cutter {
    /// Takes bytes and gives the frames that they complete; `None` for a header where the bytes are no frame.
    fn cut(&mut self, bytes: &[u8]) -> Vec<(Option<Header>, Bytes)> {
        self.partial.extend_from_slice(bytes);
        let mut frames = Vec::new();
        while !self.is_raw {
            let Some(start) = self.partial.first_chunk::<HEADER_LEN>() else { return frames };
            match Header::parse(start, Limits::default()) {
                Ok(header) if self.partial.len() < HEADER_LEN + header.length => return frames,
                Ok(header) => {
                    let frame = self.partial.split_to(HEADER_LEN + header.length).freeze();
                    frames.push((Some(header), frame));
                }
                Err(_) => self.is_raw = true,
            }
        }
        frames.push((None, self.partial.split().freeze()));
        frames
    }
}

impl Pipe {
    /// Takes bytes from the writer and gives the whole frames that they complete.
    pub(super) fn cut_frames(&mut self, bytes: &[u8]) -> Vec<(Option<Header>, Bytes)> {
        self.cutter.cut(bytes)
    }

    /// The writer ends: half a frame that it has left follows the rest.
    pub(super) fn end(&mut self, now: Instant) {
        self.writer_is_gone = true;
        if !self.cutter.partial.is_empty() {
            let rest = self.cutter.partial.split().freeze();
            self.enqueue(now, rest);
        }
        self.wake();
    }

    /// Lets a piece arrive at `due`, and never before the one ahead of it.
    pub(super) fn enqueue(&mut self, due: Instant, piece: Bytes) {
        if self.course != Course::Open {
            return;
        }
        let due = self.queue.back().map_or(due, |(ahead, _)| due.max(*ahead));
        self.queued += piece.len();
        self.queue.push_back((due, piece));
    }

    pub(super) fn wake(&mut self) {
        for waker in [self.reader.take(), self.writer.take()].into_iter().flatten() {
            waker.wake();
        }
    }
}
