//! A list of servers that somebody else keeps: the registered instances of a service, say.
//!
//! It's asked for in the background, again and again, and sooner where a server has just failed. An answer replaces the
//! list; a failed or empty one removes nothing, is told, and is repeated with backoff: whoever keeps the list may be in
//! trouble while the servers on it are well.

use std::sync::Arc;
use std::time::Duration;

use super::backoff;
use super::sources::Server;

/// How often it's asked for while all is well.
const EVERY: Duration = Duration::from_secs(1);
/// How often at most, whatever fails.
const AT_MOST_EVERY: Duration = Duration::from_millis(100);

/// When the list is to be asked for, and what came of the last time.
#[derive(Debug)]
pub(super) struct Listing {
    /// How people call it.
    pub(super) name: Arc<str>,
    /// What is wrong with it, where the last answer was no list.
    pub(super) failed: Option<String>,
    known: bool,
    failures: u32,
    under_way: bool,
    due: Duration,
    asked: Duration,
}

impl Listing {
    pub(super) fn new(name: Arc<str>) -> Self {
        Self { name, failed: None, known: false, failures: 0, under_way: false, due: Duration::ZERO, asked: Duration::ZERO }
    }

    /// When it's due; `None` while it is asked for.
    pub(super) fn due(&self) -> Option<Duration> {
        (!self.under_way).then_some(self.due)
    }

    /// Whether to ask for it now. It counts as being asked for until [`take`](Self::take).
    pub(super) fn begin_if_due(&mut self, now: Duration) -> bool {
        let due = self.due().is_some_and(|due| due <= now);
        if due {
            self.under_way = true;
            self.asked = now;
        }
        due
    }

    /// What came of it. Gives the new list, where it is one.
    pub(super) fn take(
        &mut self,
        outcome: Result<Vec<Server>, String>,
        now: Duration,
        rng: &mut impl rand::Rng,
    ) -> Option<Vec<Server>> {
        self.under_way = false;
        match outcome {
            Ok(servers) if !servers.is_empty() => {
                self.known = true;
                self.failed = None;
                self.failures = 0;
                self.due = now + backoff::jittered(EVERY, rng);
                Some(servers)
            }
            other => {
                self.failures = self.failures.saturating_add(1);
                self.failed = Some(other.err().unwrap_or_else(|| "it has no instance".to_owned()));
                self.due = now + backoff::delay(self.failures, rng);
                None
            }
        }
    }

    /// Some server on it failed: there may be another list by now.
    pub(super) fn doubt(&mut self, now: Duration) {
        if self.failures == 0 {
            self.due = self.due.min(now.max(self.asked + AT_MOST_EVERY));
        }
    }

    /// Whether there was no answer yet, neither a list nor that there is none.
    pub(super) fn is_unsettled(&self) -> bool {
        !self.known && self.failed.is_none()
    }

    /// Why there is no list at all.
    pub(super) fn missing(&self) -> Option<&str> {
        self.failed.as_deref().filter(|_| !self.known)
    }
}
