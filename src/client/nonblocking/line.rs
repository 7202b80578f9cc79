//! The way to one target: a connection, what waits to be sent on it, and what is outstanding.

use std::collections::VecDeque;
use std::time::Duration;

use crate::client::target::TargetId;
use crate::protocol::{ProtocolError, Request};
use crate::transport::TransportErrorKind;

use super::connection::{Connection, Stage};

/// So many requests are outstanding on one connection at most; the others wait here, where they are known not to
/// have left. It's below what a server takes of one connection.
const WINDOW: usize = 512;

/// A request that is to be written.
#[derive(Debug)]
pub(super) struct Queued {
    /// The attempt's number: the request's id on the wire.
    pub(super) attempt: u64,
    pub(super) request: Request,
    /// When the attempt's time is over.
    pub(super) ends: Duration,
}

/// The way to one target.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) target: TargetId,
    pub(super) connection: Connection,
    queue: VecDeque<Queued>,
    /// Requests that were encoded and have had no reply, those included whose callers wait no longer.
    pub(super) outstanding: usize,
    /// When bytes came last.
    pub(super) heard: Duration,
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
            outstanding: 0,
            heard: now,
            watches_write: false,
            is_dirty: false,
            retired: false,
        }
    }

    /// Puts a request in the queue, and says whether it should be written at once: nothing is outstanding, so there
    /// is nothing to gain by waiting for others.
    pub(super) fn queue(&mut self, queued: Queued) -> bool {
        self.queue.push_back(queued);
        self.outstanding == 0 && self.queue.len() == 1 && self.connection.stage() > Stage::Connecting
    }

    /// The attempts that wait to be encoded.
    pub(super) fn queued(&self) -> impl Iterator<Item = u64> {
        self.queue.iter().map(|queued| queued.attempt)
    }

    /// Whether nothing is wanted of it.
    pub(super) fn is_idle(&self) -> bool {
        self.outstanding == 0 && self.queue.is_empty()
    }

    /// Takes back what waits to be encoded.
    pub(super) fn take_queue(&mut self) -> impl Iterator<Item = u64> {
        std::mem::take(&mut self.queue).into_iter().map(|queued| queued.attempt)
    }

    /// Encodes what the window allows, and writes what the kernel takes. Each attempt is offered to `wanted`, which
    /// encodes it and is given its place in the stream; one that isn't under way any longer is not encoded and has
    /// thus not left.
    pub(super) fn pump(
        &mut self,
        now: Duration,
        mut wanted: impl FnMut(u64, &mut dyn FnMut() -> Result<u64, ProtocolError>),
    ) -> Result<(), TransportErrorKind> {
        if self.connection.stage() == Stage::Connecting {
            return Ok(());
        }
        while self.outstanding < WINDOW {
            let Some(Queued { attempt, mut request, ends }) = self.queue.pop_front() else { break };
            request.time_left = u32::try_from(ends.saturating_sub(now).as_micros()).unwrap_or(u32::MAX);
            let (connection, outstanding) = (&mut self.connection, &mut self.outstanding);
            wanted(attempt, &mut || {
                let place = connection.push(attempt, &request)?;
                *outstanding += 1;
                Ok(place)
            });
        }
        self.connection.write()
    }
}
