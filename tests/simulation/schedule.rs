//! Virtual time: what happens next.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::time::Duration;

/// Milliseconds as a duration.
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Events in the order of their times; those of one time in the order in which they were added.
pub struct Schedule<E> {
    now: Duration,
    added: u64,
    queue: BinaryHeap<Reverse<Due<E>>>,
}

struct Due<E> {
    at: Duration,
    order: u64,
    event: E,
}

impl<E> Schedule<E> {
    /// An empty schedule at time `now`.
    pub fn new(now: Duration) -> Self {
        Self { now, added: 0, queue: BinaryHeap::new() }
    }

    /// The time.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Adds an event after a delay.
    pub fn add(&mut self, delay: Duration, event: E) {
        self.add_at(self.now + delay, event);
    }

    /// Adds an event at a time.
    pub fn add_at(&mut self, at: Duration, event: E) {
        self.added += 1;
        self.queue.push(Reverse(Due { at, order: self.added, event }));
    }

    /// Goes on to the next event.
    pub fn next(&mut self) -> Option<E> {
        let Reverse(due) = self.queue.pop()?;
        self.now = self.now.max(due.at);
        Some(due.event)
    }
}

impl<E> PartialEq for Due<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Due<E> {}

impl<E> PartialOrd for Due<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Due<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}
