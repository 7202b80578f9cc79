//! What the driver asks of the event loop that it runs on.

use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::connection::ClosedSocket;

/// Names what is behind a watched descriptor. A descriptor's own number is soon used again; this isn't, so that an event
/// that comes late finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Watch(pub(super) u64);

impl Watch {
    /// As a number that a loop can carry.
    pub fn number(self) -> u64 {
        self.0
    }

    /// What [`number`](Self::number) gave.
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }
}

/// Something to be done outside the driver, in order, before the loop goes on.
#[derive(Debug)]
pub enum Effect {
    /// Call [`on_readable`](super::Driver::on_readable) whenever the descriptor is readable.
    WatchRead(RawFd, Watch),
    /// Call [`on_writable`](super::Driver::on_writable) whenever it is writable.
    WatchWrite(RawFd, Watch),
    /// No longer watch it for writing.
    UnwatchWrite(RawFd),
    /// No longer watch it at all; then drop the socket, and not before.
    Close(RawFd, Closed),
    /// Call [`flush`](super::Driver::flush) at the end of this turn of the loop.
    FlushSoon,
    /// Call [`on_timer`](super::Driver::on_timer) after this time; an earlier wish is forgotten.
    Wake(Duration),
}

/// A descriptor's owner, kept until nobody watches it.
#[derive(Debug)]
pub enum Closed {
    /// A connection to a target.
    Socket(ClosedSocket),
    /// The queue of replies from other threads.
    Inbox(UnixStream),
}
