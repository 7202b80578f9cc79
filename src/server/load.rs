//! What is going on in a node, counted: for limits, for draining, and for people.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Counts of what is going on.
#[derive(Debug, Default)]
pub struct Load {
    /// Open connections of any kind.
    pub connections: Gauge,
    /// Open connections of clients.
    pub clients: Gauge,
    /// Bytes of long frames that are coming in.
    pub receiving: Gauge,
    /// Bytes of replies that wait to be taken; few bytes of one connection are not counted.
    pub unsent: Gauge,
    /// Requests that wait for other nodes.
    pub in_flight: Gauge,
    /// Questions of watches that wait for changes.
    pub watches: Gauge,
    served: AtomicU64,
}

impl Load {
    /// Requests served since the start.
    pub fn served(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// Counts requests as served.
    pub fn serve(&self, requests: u64) {
        self.served.fetch_add(requests, Ordering::Relaxed);
    }
}

/// A number that goes up and down, with a limit, and that can be waited for to be zero.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<Level>);

#[derive(Debug, Default)]
struct Level {
    now: AtomicUsize,
    zero: Notify,
}

/// A share of a gauge, given back when dropped.
#[derive(Debug)]
pub struct Share {
    gauge: Gauge,
    weight: usize,
}

impl Gauge {
    /// Takes `weight`, where that stays within `limit`. A weight over the limit is taken when the gauge is at zero, so
    /// that nothing is refused for ever.
    pub fn take(&self, weight: usize, limit: usize) -> Option<Share> {
        let fits = |now: usize| (now == 0 || now.saturating_add(weight) <= limit).then(|| now.saturating_add(weight));
        self.0.now.fetch_update(Ordering::AcqRel, Ordering::Acquire, fits).ok()?;
        Some(Share { gauge: self.clone(), weight })
    }

    /// How much is taken.
    pub fn level(&self) -> usize {
        self.0.now.load(Ordering::Acquire)
    }

    /// Waits until nothing is taken.
    pub async fn zero(&self) {
        loop {
            let zero = self.0.zero.notified();
            if self.level() == 0 {
                return;
            }
            zero.await;
        }
    }
}

/// One holder's changing portion of a gauge, given back when dropped. Small amounts are not worth the gauge's
/// attention and count as nothing, so that most holders never touch it.
#[derive(Debug)]
pub struct Portion {
    gauge: Gauge,
    counted: usize,
}

/// Below this a portion counts as nothing.
const SMALL: usize = 64 << 10;

impl Portion {
    /// A portion of nothing.
    pub fn new(gauge: &Gauge) -> Self {
        Self { gauge: gauge.clone(), counted: 0 }
    }

    /// The portion is `amount` now.
    pub fn set(&mut self, amount: usize) {
        let counted = if amount < SMALL { 0 } else { amount };
        let level = &self.gauge.0.now;
        if counted > self.counted {
            level.fetch_add(counted - self.counted, Ordering::AcqRel);
        } else if counted < self.counted {
            level.fetch_sub(self.counted - counted, Ordering::AcqRel);
        }
        self.counted = counted;
    }
}

impl Drop for Portion {
    fn drop(&mut self) {
        self.set(0);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.gauge.0.now.fetch_sub(self.weight, Ordering::AcqRel) == self.weight {
            self.gauge.0.zero.notify_waiters();
        }
    }
}
