//! How long a target takes to answer, as far as that may decide who is asked.
//!
//! Targets that are equally well must get equally many requests, and what one measures of them differs all the time: by
//! the machine's noise, by a pause now and then, by the making of a first connection. So a latency is an estimate that no
//! single answer moves far, and only a clear difference counts ([`Latency::is_clearly_below`]).

use std::time::Duration;

/// Latencies below this, in microseconds, count as this: what differs there is noise.
const FLOOR: u64 = 400;
/// By this factor latencies differ clearly.
const CLEARLY: u64 = 2;
/// One answer moves what is known by at most this part of it, however long it took: what is known thus follows the median
/// and not the mean, which a busy machine's pauses make.
const PART: u64 = 16;
/// So many answers make a target known, by the fastest of them: the first ones may fall into one pause.
const FIRST: u8 = 16;
/// What is known halves in this time. A slow target is thus asked again some time, and can show that it is fast now.
const HALF_LIFE: Duration = Duration::from_secs(2);
/// After so many of them nothing is known any more.
const FORGOTTEN: u128 = 16;

/// What is known of a target's latency.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latency {
    micros: u64,
    samples: u8,
    at: Duration,
}

impl Latency {
    /// An answer took `elapsed`.
    pub(super) fn sample(&mut self, now: Duration, elapsed: Duration) {
        let micros = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX).min(60_000_000);
        let (micros, samples) = match self.known(now) {
            None => (micros, 0),
            Some(known) if self.samples < FIRST => (known.min(micros), self.samples),
            Some(known) => (micros.clamp(known - known / PART, known + known / PART + 1), self.samples),
        };
        *self = Self { micros, samples: samples.saturating_add(1), at: now };
    }

    /// About how long an answer takes, by as little as is known; `None` where nothing is.
    pub(super) fn guess(self, now: Duration) -> Option<Duration> {
        self.known(now).map(Duration::from_micros)
    }

    /// In microseconds, at least the floor; `None` where too little is known.
    pub(super) fn at(self, now: Duration) -> Option<u64> {
        self.known(now).filter(|_| self.samples >= FIRST).map(|micros| micros.max(FLOOR))
    }

    fn known(self, now: Duration) -> Option<u64> {
        let half_lives = now.saturating_sub(self.at).as_millis() / HALF_LIFE.as_millis();
        (self.samples > 0 && half_lives < FORGOTTEN).then(|| self.micros >> half_lives)
    }

    /// Whether one latency is so far below another that it's no noise.
    pub(super) fn is_clearly_below(one: u64, other: u64) -> bool {
        one.saturating_mul(CLEARLY) <= other
    }
}
