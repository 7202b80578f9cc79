//! What a client has of its process: sockets, a lock, a clock. A forked child has its own.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rand::RngExt as _;

use crate::protocol::{Hello, Role};

use super::super::config::ClientConfig;
use super::super::election::Elections;
use super::super::fleet::{Fleet, Names};
use super::super::fork;
use super::super::target::Target;
use super::pool::Pool;

/// The longest wait before the caller is asked whether it still wants to.
const SLICE: Duration = Duration::from_millis(100);

/// What calls share, under one short lock.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) fleet: Fleet,
    pub(super) pool: Pool,
    /// What those who wait have heard of.
    pub(super) revision: u64,
}

/// A client in one process.
#[derive(Debug)]
pub(super) struct Life {
    generation: u64,
    epoch: Instant,
    shared: Mutex<Shared>,
    /// The fleet has changed, or the client was closed.
    news: Condvar,
    pub(super) hello: Hello,
}

impl Life {
    pub(super) fn begin(config: &ClientConfig) -> Self {
        let seed = config.seed.unwrap_or_else(|| rand::rng().random());
        let mut fleet = Fleet::new(config, Elections::of_process(), Names::Resolved, seed);
        fleet.have_looks();
        let hello = Hello::new(Role::Client { id: fleet.client_id() }, config.wanted_cluster());
        let revision = fleet.revision();
        Self {
            generation: fork::generation(),
            epoch: instant_now(),
            shared: Mutex::new(Shared { fleet, pool: Pool::default(), revision }),
            news: Condvar::new(),
            hello,
        }
    }

    /// Whether it's of this process.
    pub(super) fn is_current(&self) -> bool {
        self.generation == fork::generation()
    }

    /// The time since this life began.
    pub(super) fn now(&self) -> Duration {
        instant_now().saturating_duration_since(self.epoch)
    }

    /// The moment that is `at` after this life began.
    pub(super) fn instant(&self, at: Duration) -> Instant {
        self.epoch + at
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Shared> {
        // What a panicking thread left is whole: no step of the engines is left halfway by a panic of ours.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `until`, or for news after those `seen`, at most one slice, and gives the lock up meanwhile. The keeper may
    /// have told something since the lock was given up to wake it.
    pub(super) fn wait<'a>(&'a self, shared: MutexGuard<'a, Shared>, seen: u64, until: Duration) -> MutexGuard<'a, Shared> {
        if shared.revision != seen {
            return shared;
        }
        let slice = until.saturating_sub(self.now()).min(SLICE);
        let (shared, _) = self.news.wait_timeout(shared, slice).unwrap_or_else(PoisonError::into_inner);
        shared
    }

    /// Something happened that those who wait should hear of.
    pub(super) fn announce(&self) {
        self.news.notify_all();
    }

    /// Draws the consequences of what the fleet was told: connections of targets that failed or went are dropped, those
    /// who wait are woken. Gives whether there is work for the keeper.
    pub(super) fn settle(&self, shared: &mut Shared) -> bool {
        let revision = shared.fleet.revision();
        if revision != shared.revision {
            shared.revision = revision;
            let fleet = &shared.fleet;
            shared.pool.retain(|id| fleet.target(id).is_some_and(Target::keeps_connections));
            self.announce();
        }
        shared.fleet.take_alarm() && shared.fleet.next_due().is_some()
    }
}

#[expect(clippy::disallowed_methods, reason = "the blocking driver reads the clock here and nowhere else")]
fn instant_now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Endpoint;

    /// The keeper may be faster than who woke it: its news are not waited for once more.
    #[test]
    fn news_that_came_before_the_wait_end_it() {
        let life = Life::begin(&ClientConfig::new(vec![Endpoint::new("10.0.0.1", 1)]));
        let waits = (0..5).map(|_| {
            let seen = life.lock().revision;
            life.lock().revision += 1;
            let began = instant_now();
            drop(life.wait(life.lock(), seen, life.now() + SLICE));
            began.elapsed()
        });
        let shortest = waits.min();
        assert!(shortest.is_some_and(|shortest| shortest < SLICE / 2), "{shortest:?}");
    }
}
