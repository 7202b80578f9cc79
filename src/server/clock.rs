//! The one place where the server reads the time.
//!
//! Engines are given the time as what has passed since the node's start; sessions and timers use the runtime's own
//! instants. Both come from here.

use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep_until};

/// Time since the node started.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    epoch: Duration,
}

/// Starts now.
impl Default for Clock {
    fn default() -> Self {
        #[expect(clippy::disallowed_methods, reason = "read once, for stamps that say which of two concurrent writes was first")]
        let wall = SystemTime::now();
        Self { start: Instant::now(), epoch: wall.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default() }
    }
}

impl Clock {
    /// When the node started, as what had passed since 1970.
    pub fn epoch(self) -> Duration {
        self.epoch
    }

    /// What has passed.
    pub fn now(self) -> Duration {
        self.start.elapsed()
    }

    /// The runtime's instant at that time.
    pub fn instant(self, at: Duration) -> Instant {
        self.start + at
    }

    /// The time at the runtime's instant.
    pub fn at(self, instant: Instant) -> Duration {
        instant.saturating_duration_since(self.start)
    }

    /// Waits until that time.
    pub async fn sleep_until(self, at: Duration) {
        sleep_until(self.instant(at)).await;
    }
}
