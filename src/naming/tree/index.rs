//! The exact index: from a name's canonical text to what is bound there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use papaya::HashMap;

use super::Entry;

/// The index, and a sequence number that is odd while a write goes on.
#[derive(Default)]
pub(super) struct Index {
    slots: HashMap<Arc<str>, Slot>,
    sequence: AtomicU64,
}

#[derive(Clone)]
enum Slot {
    /// This is bound.
    Settled(Arc<Entry>),
    /// A write is changing what is bound: only the truth can tell.
    Changing,
}

/// What the index says of a text.
pub(super) enum Probe {
    Bound(Arc<Entry>),
    Absent,
    /// Ask the truth.
    Unsure,
}

impl Index {
    pub(super) fn probe(&self, text: &str) -> Probe {
        match self.slots.pin().get(text) {
            Some(Slot::Settled(entry)) => Probe::Bound(entry.clone()),
            Some(Slot::Changing) => Probe::Unsure,
            None => Probe::Absent,
        }
    }

    pub(super) fn sequence(&self) -> u64 {
        self.sequence.load(Ordering::Acquire)
    }

    /// Whether no write has begun yet.
    pub(super) fn is_untouched(&self) -> bool {
        self.sequence() == 0
    }

    /// Runs `read`, and gives its result if no write went on meanwhile: then all it found is of one state.
    pub(super) fn undisturbed<T>(&self, read: impl FnOnce() -> Option<T>) -> Option<T> {
        let before = self.sequence();
        if before & 1 == 1 {
            return None;
        }
        let answer = read();
        // Pairs with the fence in `begin`: whoever saw a slot that a write changed sees that it began.
        fence(Ordering::Acquire);
        if self.sequence.load(Ordering::Relaxed) == before { answer } else { None }
    }

    /// A write begins; there is one at a time.
    pub(super) fn begin(&self) {
        self.sequence.store(self.sequence.load(Ordering::Relaxed) | 1, Ordering::Relaxed);
        fence(Ordering::Release);
    }

    /// The write will change what is bound here, or remove it.
    pub(super) fn mark(&self, text: &Arc<str>) {
        self.slots.pin().insert(text.clone(), Slot::Changing);
    }

    /// This is bound from now on.
    pub(super) fn settle(&self, text: &Arc<str>, entry: Option<&Arc<Entry>>) {
        let slots = self.slots.pin();
        match entry {
            Some(entry) => slots.insert(text.clone(), Slot::Settled(entry.clone())),
            None => slots.remove(text),
        };
    }

    /// The write has ended.
    pub(super) fn end(&self) {
        self.sequence.store((self.sequence.load(Ordering::Relaxed) | 1) + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_a_write_touched_counts_for_nothing() {
        let index = Index::default();
        assert_eq!(index.undisturbed(|| Some(1)), Some(1));
        let whole_write_meanwhile = || {
            index.begin();
            index.end();
            Some(2)
        };
        assert_eq!(index.undisturbed(whole_write_meanwhile), None);
        assert_eq!(index.undisturbed(|| Some(3)), Some(3));
        let start_of_a_write = || {
            index.begin();
            Some(4)
        };
        assert_eq!(index.undisturbed(start_of_a_write), None);
        assert_eq!(index.undisturbed(|| Some(5)), None, "the write still goes on");
        index.end();
        assert_eq!(index.undisturbed(|| Some(6)), Some(6));
    }

    #[test]
    fn a_broken_off_write_does_not_turn_the_sequence_over() {
        let index = Index::default();
        index.begin();
        index.begin();
        assert_eq!(index.sequence() & 1, 1);
        index.end();
        assert_eq!(index.sequence(), 2);
    }
}
