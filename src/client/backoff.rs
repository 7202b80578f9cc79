//! How long a failed target is left alone.
//!
//! Each further failure doubles the time, from a tenth of a second to ten seconds. A part of it is drawn at random, so
//! that many clients of one dead server don't come back to it in step.

use std::time::Duration;

use rand::RngExt as _;

/// The first backoff at most, and the unit that is doubled.
pub const FIRST: Duration = Duration::from_millis(100);
/// No backoff is longer.
pub const LONGEST: Duration = Duration::from_secs(10);

/// The backoff after the `failures`-th failure in a row (from 1): between four fifths of the nominal time and all of it.
pub fn delay(failures: u32, rng: &mut impl rand::Rng) -> Duration {
    let doubled = FIRST.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
    jittered(doubled.min(LONGEST), rng)
}

/// Between four fifths of `nominal` and all of it.
pub fn jittered(nominal: Duration, rng: &mut impl rand::Rng) -> Duration {
    nominal.mul_f64(rng.random_range(0.8..=1.0))
}
