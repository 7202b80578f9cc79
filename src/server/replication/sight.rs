//! What this node's readers see, as far as it matters to them: how far its tree has come, and whether it may be shown.
//!
//! Readers look into the tree without waiting for anybody, so what decides whether they may is a few atomics. A client
//! that has seen more than the tree shows (on another node, before it turned to this one) waits here for a moment; and
//! while the node finds out what it missed in a freeze, everybody does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio::sync::oneshot;

use crate::cluster::engine::{Engine, Input};
use crate::cluster::vector::Seen;

use super::{Asking, Replication};

/// How far a node's tree has come, and whether it may be shown.
#[derive(Debug)]
pub(super) struct Sight {
    shown: ArcSwap<Seen>,
    /// How many times that has changed.
    changes: AtomicU64,
    is_waking: AtomicBool,
    /// When the engine's pulse is so late that the node must have stood still, in microseconds of the node's clock.
    late_from: AtomicU64,
}

impl Sight {
    pub(super) fn of(seen: Seen) -> Self {
        Self {
            changes: AtomicU64::new(u64::from(seen != Seen::default())),
            shown: ArcSwap::from_pointee(seen),
            is_waking: AtomicBool::new(false),
            late_from: AtomicU64::new(u64::MAX),
        }
    }

    /// The tree is about to show all that is seen here.
    pub(super) fn show(&self, seen: Seen) {
        self.shown.store(Arc::new(seen));
        self.changes.fetch_add(1, Ordering::Release);
    }

    pub(super) fn note(&self, engine: &Engine) {
        self.is_waking.store(engine.is_waking(), Ordering::Release);
        self.late_from.store(micros(engine.late_from()), Ordering::Relaxed);
    }
}

impl Replication {
    /// What readers find in the tree, all of it.
    pub fn shown(&self) -> Arc<Seen> {
        self.sight.shown.load_full()
    }

    /// Changes whenever [`shown`](Self::shown) does; 0 where nothing was ever shown.
    pub fn shown_changes(&self) -> u64 {
        self.sight.changes.load(Ordering::Acquire)
    }

    /// Whether this node stood still and does not know yet what it missed.
    pub fn is_waking(&self) -> bool {
        self.sight.is_waking.load(Ordering::Acquire)
    }

    /// Looks at the time: a node that was frozen notices it here, before it shows what is no longer so.
    pub fn look_at_time(&self, now: tokio::time::Instant) {
        if micros(self.clock.at(now)) > self.sight.late_from.load(Ordering::Relaxed) {
            self.step(Input::Tick);
        }
    }

    /// Whether who has seen that much may look into the tree now.
    pub fn may_show(&self, seen: &Seen) -> bool {
        !self.is_waking() && self.sight.shown.load().includes(seen)
    }

    /// The same, after this node has tried for a moment to catch up.
    pub async fn catches_up(&self, seen: Seen) -> bool {
        let receiver = {
            let mut state = self.lock();
            if Self::not_begun(&state).is_some() {
                // The engine is told nothing for now.
                return self.may_show(&seen);
            }
            let (sender, receiver) = oneshot::channel();
            let asker = state.enter(Asking::Sight(sender));
            self.step_locked(&mut state, Input::Read { asker, token: seen });
            receiver
        };
        receiver.await.unwrap_or(false)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
