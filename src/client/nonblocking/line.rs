//! The way to one target: a connection, what waits to be sent on it, and what is outstanding.

use std::collections::VecDeque;
use std::time::Duration;

use crate::client::target::TargetId;
use crate::protocol::{ProtocolError, Request};

use super::connection::{Connection, Stage};

/// So many requests are outstanding on one connection at most; the others wait here, where they are known not to
/// have left. It's below what a server takes of one connection.
const WINDOW: usize = 512;

/// So many bytes, and one request more, wait to be taken by the kernel at most. The other requests wait in the queue, where
/// they can be taken back.
const OUTPUT: usize = 128 << 10;

/// The way to one target.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) target: TargetId,
    pub(super) connection: Connection,
    /// Attempts whose requests are to be encoded.
    queue: VecDeque<u64>,
    /// Mutations that come before the server's welcome, and wait for it: one that has not left has not run. Reads don't
    /// wait, as they can be repeated.
    unwelcomed: Vec<u64>,
    /// Requests that were encoded and have had no reply, those included whose callers wait no longer.
    pub(super) outstanding: usize,
    /// How many replies the last reading brought.
    pub(super) batch: usize,
    /// When something came last; at first, when it was opened.
    pub(super) heard: Duration,
    /// Since when the other side owes something and nothing has come: nobody is silent whom nothing was asked.
    silent_since: Option<Duration>,
    /// The loop watches for room to write.
    pub(super) watches_write: bool,
    /// It's among those that are written at the end of the loop's turn.
    pub(super) is_dirty: bool,
    /// It takes no new requests: those outstanding are waited for, then it is closed.
    pub(super) retired: bool,
}

impl Line {
    pub(super) fn new(target: TargetId, connection: Connection, now: Duration) -> Self {
        Self {
            target,
            connection,
            queue: VecDeque::new(),
            unwelcomed: Vec::new(),
            outstanding: 0,
            batch: 0,
            heard: now,
            silent_since: Some(now),
            watches_write: false,
            is_dirty: false,
            retired: false,
        }
    }

    /// Puts an attempt in the queue, and says whether something should be written at once. It should where nothing is
    /// outstanding and nothing more is to be expected in this turn of the loop: after a batch of replies there is, as their
    /// callers are about to go on. A mutation waits for the welcome, and only the hello is written before.
    pub(super) fn queue(&mut self, attempt: u64, mutates: bool) -> bool {
        if mutates && self.connection.stage() < Stage::Open {
            self.unwelcomed.push(attempt);
            return self.connection.stage() == Stage::Greeting && self.connection.has_output();
        }
        self.queue.push_back(attempt);
        let alone = self.outstanding == 0 && self.queue.len() == 1 && self.batch <= 1;
        alone && self.connection.stage() > Stage::Connecting
    }

    /// The kernel has connected, or frames came: the other side is there.
    pub(super) fn shows_life(&mut self, now: Duration) {
        self.heard = now;
        self.silent_since = (self.outstanding > 0 || self.connection.stage() < Stage::Open).then_some(now);
    }

    /// When an attempt that has not left, and waits since then, will have waited for `limit` with nothing coming; `None`
    /// while nothing is to be expected, as what waits has yet to be written.
    pub(super) fn silent_at(&self, limit: Duration, since: Duration) -> Option<Duration> {
        Some(self.silent_since?.max(since).saturating_add(limit))
    }

    /// The server took us: what waited for that may go.
    pub(super) fn welcomed(&mut self) {
        self.queue.extend(self.unwelcomed.drain(..));
    }

    /// The attempts that wait to be encoded.
    pub(super) fn queued(&self) -> impl Iterator<Item = u64> {
        self.queue.iter().copied()
    }

    /// Whether it stands and has had nothing to do.
    pub(super) fn is_open_and_idle(&self) -> bool {
        self.is_idle() && self.connection.stage() == Stage::Open
    }

    /// Whether nothing is wanted of it.
    pub(super) fn is_idle(&self) -> bool {
        self.outstanding == 0 && self.queue.is_empty() && self.unwelcomed.is_empty()
    }

    /// Takes back what waits to be encoded.
    pub(super) fn drop_queue(&mut self) {
        self.queue.clear();
        self.unwelcomed.clear();
    }

    /// Whether some attempt waits whose request may go now.
    pub(super) fn has_next(&self) -> bool {
        self.connection.stage() > Stage::Connecting
            && self.outstanding < WINDOW
            && self.connection.output() < OUTPUT
            && !self.queue.is_empty()
    }

    /// The next attempt whose request the window lets go.
    pub(super) fn next(&mut self) -> Option<u64> {
        if self.has_next() { self.queue.pop_front() } else { None }
    }

    /// Encodes an attempt's request. Gives its place in the stream.
    pub(super) fn encode(&mut self, attempt: u64, request: &Request, now: Duration) -> Result<u64, ProtocolError> {
        let place = self.connection.push(attempt, request)?;
        self.outstanding += 1;
        self.silent_since.get_or_insert(now);
        Ok(place)
    }
}
