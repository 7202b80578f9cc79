//! Virtual time: what happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Milliseconds as a duration.
pub const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Events in the order of their times; those of one time in the order in which they were added. The queue holds places
/// only: events are large, and a heap moves what it holds.
pub struct Schedule<E> {
    now: Duration,
    added: u64,
    queue: BinaryHeap<Reverse<(Duration, u64, usize)>>,
    events: Vec<Option<E>>,
    free: Vec<usize>,
}

impl<E> Schedule<E> {
    /// An empty schedule at time `now`.
    pub fn new(now: Duration) -> Self {
        Self { now, added: 0, queue: BinaryHeap::new(), events: Vec::new(), free: Vec::new() }
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
        let place = self.free.pop().unwrap_or(self.events.len());
        if place == self.events.len() {
            self.events.push(Some(event));
        } else {
            self.events[place] = Some(event);
        }
        self.queue.push(Reverse((at, self.added, place)));
    }

    /// Goes on to the next event.
    pub fn next(&mut self) -> Option<E> {
        let Reverse((at, _, place)) = self.queue.pop()?;
        self.now = self.now.max(at);
        self.free.push(place);
        self.events[place].take()
    }
}
