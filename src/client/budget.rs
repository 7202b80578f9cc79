//! How many retries a client may make: a bound on the load that it adds when servers are in trouble.
//!
//! Every request pays in a fifth of a retry, and ten more come in every second; a call's first retry is free, each
//! further one draws a whole one. So a cluster that fails altogether is asked at most 1.2 times as often as one that
//! works, and a client with few requests may still retry.

use std::time::Duration;

/// What one request pays in, in millionths of a retry.
const PER_REQUEST: u64 = 200_000;
/// What one microsecond brings, in millionths of a retry: ten retries a second.
const PER_MICROSECOND: u64 = 10;
/// One retry.
const ONE: u64 = 1_000_000;
/// What can be saved up: ten retries, a second's worth. It's also what a new client has.
const SAVED_AT_MOST: u64 = 10 * ONE;
/// What requests can add above that, so that a busy client survives the loss of several servers at once.
const SAVED_BY_REQUESTS_AT_MOST: u64 = 100 * ONE;

/// A bucket of retries.
#[derive(Clone, Debug)]
pub struct Budget {
    saved: u64,
    at: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self { saved: SAVED_AT_MOST, at: Duration::ZERO }
    }
}

impl Budget {
    /// A request is sent for the first time.
    pub fn deposit(&mut self) {
        if self.saved < SAVED_BY_REQUESTS_AT_MOST {
            self.saved += PER_REQUEST;
        }
    }

    /// Takes one retry, where there is one; else says when there will be.
    pub fn draw(&mut self, now: Duration) -> Result<(), Duration> {
        self.refill(now);
        if let Some(rest) = self.saved.checked_sub(ONE) {
            self.saved = rest;
            return Ok(());
        }
        Err(now + Duration::from_micros((ONE - self.saved).div_ceil(PER_MICROSECOND)))
    }

    /// Whole retries that could be drawn now.
    pub fn available(&mut self, now: Duration) -> u64 {
        self.refill(now);
        self.saved / ONE
    }

    fn refill(&mut self, now: Duration) {
        let passed = u64::try_from(now.saturating_sub(self.at).as_micros()).unwrap_or(u64::MAX);
        // Only what was counted has passed: parts of a microsecond add up.
        self.at += Duration::from_micros(passed);
        let room = SAVED_AT_MOST.saturating_sub(self.saved);
        self.saved += passed.saturating_mul(PER_MICROSECOND).min(room);
    }
}
