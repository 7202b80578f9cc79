//! When a write was made: a hybrid logical clock.
//!
//! A stamp chooses which of two *concurrent* versions is shown, and nothing else: what supersedes what is told by
//! dots. A clock that is wrong can therefore make an odd choice and can never lose a write.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How far a stamp from elsewhere may push the own clock ahead of its own reading.
pub const MAX_PUSH: Duration = Duration::from_millis(500);

/// Microseconds since 1970 by some node's clock, pushed on where needed so that later writes have later stamps.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp(pub u64);

impl Stamp {
    /// The stamp of a clock's reading.
    pub fn of(wall: Duration) -> Self {
        Self(u64::try_from(wall.as_micros()).unwrap_or(u64::MAX))
    }

    /// How long after `earlier` this is; zero where it is not.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// A node's stamps, each later than the one before and than those it has seen (within [`MAX_PUSH`]).
#[derive(Clone, Debug)]
pub struct HybridClock {
    epoch: Duration,
    last: Stamp,
}

impl HybridClock {
    /// A clock whose driver's time 0 was `epoch` after 1970, and that has given stamps up to `last`.
    pub fn new(epoch: Duration, last: Stamp) -> Self {
        Self { epoch, last }
    }

    /// The plain reading, not pushed.
    pub fn reading(&self, now: Duration) -> Stamp {
        Stamp::of(self.epoch + now)
    }

    /// The last stamp given or taken up.
    pub fn last(&self) -> Stamp {
        self.last
    }

    /// A stamp for a write.
    pub fn tick(&mut self, now: Duration) -> Stamp {
        self.last = self.reading(now).max(Stamp(self.last.0 + 1));
        self.last
    }

    /// Takes up a stamp seen elsewhere.
    pub fn observe(&mut self, now: Duration, stamp: Stamp) {
        let limit = Stamp::of(self.epoch + now + MAX_PUSH);
        self.last = self.last.max(stamp.min(limit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn stamps_rise_while_the_clock_stands() {
        let mut clock = HybridClock::new(SECOND, Stamp(0));
        let (first, second) = (clock.tick(SECOND), clock.tick(SECOND));
        assert_eq!(first, Stamp(2_000_000));
        assert!(second > first);
    }

    #[test]
    fn a_clock_far_ahead_pushes_by_half_a_second_at_most() {
        let mut clock = HybridClock::new(SECOND, Stamp(0));
        clock.observe(SECOND, Stamp(9_000_000));
        assert_eq!(clock.tick(SECOND), Stamp(2_500_001));
        clock.observe(SECOND, Stamp(1));
        assert_eq!(clock.last(), Stamp(2_500_001));
    }
}
