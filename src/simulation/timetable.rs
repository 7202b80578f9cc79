//! When each client has something to do next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

/// One time for each client. Those that were changed stay in the heap until they come up, and count no longer.
#[derive(Debug)]
pub(super) struct Timetable {
    times: Vec<Duration>,
    heap: BinaryHeap<Reverse<(Duration, usize)>>,
}

impl Timetable {
    pub(super) fn new(times: Vec<Duration>) -> Self {
        let heap = times.iter().enumerate().map(|(nth, at)| Reverse((*at, nth))).collect();
        Self { times, heap }
    }

    /// Whose time comes first.
    pub(super) fn first(&mut self) -> Option<(Duration, usize)> {
        while let Some(Reverse((at, nth))) = self.heap.peek().copied() {
            if self.times[nth] == at {
                return Some((at, nth));
            }
            self.heap.pop();
        }
        None
    }

    pub(super) fn set(&mut self, nth: usize, at: Duration) {
        if self.times[nth] != at {
            self.times[nth] = at;
            self.heap.push(Reverse((at, nth)));
        }
    }

    /// It has something to do earlier than it had.
    pub(super) fn hasten(&mut self, nth: usize, at: Duration) {
        if at < self.times[nth] {
            self.set(nth, at);
        }
    }
}
