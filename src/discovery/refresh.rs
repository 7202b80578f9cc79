//! When a question is put again: a state machine without a clock.
//!
//! The time is passed in, and the dice. Whatever happens, two askings of one question are never closer to each other than
//! its *pace* allows; what fails is repeated with a backoff; and nothing here ever makes a call wait: an answer that has
//! grown old is still the best there is.

use std::time::Duration;

use rand::{Rng, RngExt as _};

/// When an answer is asked for again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefreshMode {
    /// When the time that it said it is good for ends, between 1 s and 30 s, with some jitter.
    #[default]
    Ttl,
    /// Only when no server on it can be reached, as WebLogic's clients do: they keep one list for a whole process, so that a
    /// new client begins with it, too. New servers stay unused until then.
    OnEmpty,
    /// On each new connection, too (WebLogic's `weblogic.jndi.forceResolveDNSName`); else as `Ttl`.
    Always,
    /// After this time, with some jitter, whatever it said.
    Every(Duration),
}

/// How fast a question may be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Never more often, whatever fails.
    pub at_most_every: Duration,
    /// How long it is left alone after the first failure; doubled after each further one.
    pub first_backoff: Duration,
    /// No backoff is longer.
    pub longest_backoff: Duration,
}

impl Pace {
    /// Of questions to name servers, and to a network, which serve many.
    pub const DNS: Self = Self {
        at_most_every: Duration::from_secs(1),
        first_backoff: Duration::from_secs(1),
        longest_backoff: Duration::from_secs(10),
    };
    /// Of questions to a cluster's own nodes.
    pub const LIST: Self = Self {
        at_most_every: Duration::from_millis(100),
        first_backoff: Duration::from_millis(100),
        longest_backoff: Duration::from_secs(10),
    };
}

/// What makes it worth asking before the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A server on the list failed.
    Failed,
    /// None of the servers on it can be reached, or there are none.
    Exhausted,
    /// A new connection is made.
    Connecting,
}

/// The bounds within which a time to live is heeded.
const TTL: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// What part of an interval may be left out at random, so that many clients don't ask in step. None is stretched: a server
/// that has come gets requests within the time to live and a second.
const JITTER: f64 = 0.1;

/// When one question is to be put.
#[derive(Clone, Debug)]
pub struct Refresh {
    mode: RefreshMode,
    pace: Pace,
    /// `None`: not before something happens.
    due: Option<Duration>,
    asked: Option<Duration>,
    under_way: bool,
    /// Failures in a row.
    failures: u32,
    /// Answers in a row that were silent on a part.
    halves: u32,
}

impl Refresh {
    /// A question that was never put, and is due at once.
    pub fn new(mode: RefreshMode, pace: Pace) -> Self {
        Self { mode, pace, due: Some(Duration::ZERO), asked: None, under_way: false, failures: 0, halves: 0 }
    }

    /// When an answer is asked for again.
    pub fn mode(&self) -> RefreshMode {
        self.mode
    }

    /// When it is due; `None` while it's under way, or as long as nothing happens.
    pub fn due(&self) -> Option<Duration> {
        self.due.filter(|_| !self.under_way)
    }

    /// Whether an answer can be expected at once that knows what happened after `since`: the last asking is older, the
    /// next one is under way or about to be, and this question can be relied upon to be answered.
    pub fn is_about_to_know(&self, since: Duration, now: Duration) -> bool {
        let is_old = self.asked.is_some_and(|asked| asked < since);
        let is_soon = self.due.is_some_and(|due| due <= now + self.pace.at_most_every);
        self.failures == 0 && (self.under_way || is_old && is_soon)
    }

    /// Whether to put it now. It then counts as under way until it is answered or has failed.
    pub fn begin_if_due(&mut self, now: Duration) -> bool {
        let due = self.due().is_some_and(|due| due <= now);
        if due {
            self.under_way = true;
            self.due = None;
            self.asked = Some(now);
        }
        due
    }

    /// There was an answer, which is good for so long; `None`: until its source says otherwise.
    pub fn answered(&mut self, good_for: Option<Duration>, now: Duration, rng: &mut impl Rng) {
        self.halves = 0;
        self.due = self.after_answer(good_for, now, rng);
    }

    /// There was an answer that is silent on a part. What it says is good for so long; for the rest it is asked for again
    /// with the backoff of failures, whatever the mode.
    pub fn half_answered(&mut self, good_for: Option<Duration>, now: Duration, rng: &mut impl Rng) {
        self.halves = self.halves.saturating_add(1);
        let again = self.after_backoff(self.halves, now, rng);
        self.due = Some(self.after_answer(good_for, now, rng).map_or(again, |due| due.min(again)));
    }

    fn after_answer(&mut self, good_for: Option<Duration>, now: Duration, rng: &mut impl Rng) -> Option<Duration> {
        self.under_way = false;
        self.failures = 0;
        let interval = match (self.mode, good_for) {
            (RefreshMode::OnEmpty, _) | (_, None) => None,
            (RefreshMode::Every(interval), _) => Some(interval),
            (RefreshMode::Ttl | RefreshMode::Always, Some(good_for)) => Some(good_for.clamp(TTL.0, TTL.1)),
        };
        let jittered = interval.map(|interval| interval.mul_f64(rng.random_range(1.0 - JITTER..=1.0)));
        jittered.map(|interval| self.not_before(now.saturating_add(interval)))
    }

    /// There was none, or an empty one. It is asked for again, whatever the mode.
    pub fn failed(&mut self, now: Duration, rng: &mut impl Rng) {
        self.under_way = false;
        self.failures = self.failures.saturating_add(1);
        self.due = Some(self.after_backoff(self.failures, now, rng));
    }

    fn after_backoff(&self, failures: u32, now: Duration, rng: &mut impl Rng) -> Duration {
        let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        let backoff = self.pace.first_backoff.saturating_mul(doubled).min(self.pace.longest_backoff);
        self.not_before(now + backoff.mul_f64(rng.random_range(0.8..=1.0)))
    }

    /// Something happened that makes it worth asking before the time, if the mode heeds it. A question that keeps failing
    /// is only hastened where nothing else is left. Gives whether it is due earlier than it was.
    pub fn hint(&mut self, hint: Hint, now: Duration) -> bool {
        let heeded = match (hint, self.mode) {
            (Hint::Exhausted, _) => true,
            (Hint::Failed, RefreshMode::OnEmpty) => false,
            (Hint::Failed, _) => self.failures == 0,
            (Hint::Connecting, mode) => mode == RefreshMode::Always && self.failures == 0,
        };
        let at = if self.failures == 0 { self.not_before(now) } else { self.not_before(now).max(self.patiently()) };
        if !heeded || self.under_way || self.due.is_some_and(|due| due <= at) {
            return false;
        }
        self.due = Some(at);
        true
    }

    /// The soonest time to put a question again that has just failed.
    fn patiently(&self) -> Duration {
        self.asked.unwrap_or_default() + Pace::DNS.at_most_every
    }

    fn not_before(&self, at: Duration) -> Duration {
        self.asked.map_or(at, |asked| at.max(asked + self.pace.at_most_every))
    }
}
