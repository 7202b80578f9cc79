//! What an engine wants to be woken for.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cluster::vector::Dot;
use crate::protocol::OperationId;

/// One reason to wake up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Timer {
    /// The pulse.
    Beat,
    /// Ask somebody for what is lacking.
    AntiEntropy,
    /// Acknowledgements of a write are overdue.
    Overdue(Dot),
    /// The owner did not answer.
    OwnerSilent(OperationId),
    /// Not all peers said what they know of an operation.
    PeersSilent(OperationId),
    /// A client's token is still ahead of this node.
    StillBehind(OperationId),
    /// A reader's token is still ahead of this node.
    StillStale(u64),
    /// Somebody's token is still ahead of this node: others are asked.
    AskAround,
    /// Not all peers said what became of an operation that somebody asks about.
    StatusDue(OperationId),
    /// Another bind was under way; look what became of it.
    LookAgain(OperationId),
}

/// Timers, in the order of their times.
#[derive(Debug, Default)]
pub(super) struct Timers {
    added: u64,
    queue: BTreeMap<(Duration, u64), Timer>,
}

impl Timers {
    /// Adds one.
    pub fn add(&mut self, at: Duration, timer: Timer) {
        self.added += 1;
        self.queue.insert((at, self.added), timer);
    }

    /// When the first is due.
    pub fn next(&self) -> Option<Duration> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// Takes the first that is due.
    pub fn due(&mut self, now: Duration) -> Option<Timer> {
        let entry = self.queue.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }
}
