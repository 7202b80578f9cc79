//! What a context bound for a time, renews as long as it is open and its process lives, and gives back when it is closed.
//!
//! A third of the lease passes between two renewals, so that two of them may be lost. They are changes like others: they go to
//! the owner of the name, and to other servers where that fails. A name that was bound anew, moved or removed by somebody
//! else is renewed no longer; what this context itself does to a name is heard here at once.

mod carrier;
mod release;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::time::{Instant, sleep};

use crate::naming::{ErrorKind, Name, NamingError, Version};
use crate::transport::Service;

use super::fork;
use super::invocation::{Invocation, LeaseChange, Product};
use carrier::InProcess;

pub use carrier::{Carrier, Task};
pub use release::Releasing;

/// So many renewals fit a lease.
const RENEWALS: u32 = 3;

/// The leases of one context.
pub struct Leases {
    carrier: Box<dyn Fn() -> Result<Arc<dyn Carrier>, NamingError> + Send + Sync>,
    life: ArcSwapOption<Life>,
    closed: AtomicBool,
}

/// What they have of one process: a forked child renews nothing of its parent's.
struct Life {
    generation: u64,
    carrier: Arc<dyn Carrier>,
    held: Mutex<BTreeMap<Name, Held>>,
}

/// One lease. It is over when nobody else has this.
struct Held {
    version: Version,
    lease: Duration,
    is_over: Arc<AtomicBool>,
}

impl Leases {
    /// Carried by whoever is given when there is a first one, and again in a forked child.
    pub(super) fn new(carrier: impl Fn() -> Result<Arc<dyn Carrier>, NamingError> + Send + Sync + 'static) -> Self {
        Self { carrier: Box::new(carrier), life: ArcSwapOption::empty(), closed: AtomicBool::new(false) }
    }

    /// Of a node of this process.
    pub(super) fn in_process(service: Arc<dyn Service>) -> Self {
        Self::new(move || Ok(Arc::new(InProcess::new(Arc::clone(&service)))))
    }

    /// This came of an operation of the context: perhaps there is a lease more, or less.
    pub(super) fn note(&self, invocation: &Invocation, product: &Product) {
        let Some(change) = invocation.lease_change() else { return };
        let version = match product {
            Product::Written(written) => written.version,
            _ => None,
        };
        let forgotten = |name: &Name| self.current()?.forget(name);
        match (change, version) {
            (LeaseChange::Given { name, lease }, Some(version)) => self.hold(name, version, lease),
            (LeaseChange::Moved { from, to }, Some(version)) => {
                if let Some(lease) = forgotten(from) {
                    self.hold(to, version, lease);
                }
            }
            (LeaseChange::Given { name, .. } | LeaseChange::Ended { name }, _) => drop(forgotten(name)),
            (LeaseChange::Moved { .. }, None) => {}
        }
    }

    fn hold(&self, name: &Name, version: Version, lease: Duration) {
        let begun = self.life().and_then(|life| {
            let is_over = Arc::new(AtomicBool::new(false));
            life.forget(name);
            life.lock().insert(name.clone(), Held { version, lease, is_over: Arc::clone(&is_over) });
            let renewals = renew(Arc::clone(&life.carrier), name.clone(), version, lease, is_over);
            life.carrier.spawn(Box::pin(renewals)).map_err(|error| NamingError::new(ErrorKind::Internal, error.to_string()))
        });
        if let Err(error) = begun {
            tracing::warn!("the lease of '{name}' can't be renewed, so it will end: {error}");
        }
        if self.closed.load(Ordering::Acquire) {
            // It was given while the context was closed.
            drop(self.close());
        }
    }

    /// Gives back the lease of one name, if it is held.
    pub(super) fn give_back(&self, name: &Name) -> Releasing {
        let Some(life) = self.current() else { return Releasing::default() };
        let held = life.lock().remove(name);
        let held = held.and_then(|held| held.into_given_back(name.clone()));
        Releasing::begin(&life.carrier, held.into_iter().collect())
    }

    /// Renews nothing any longer, and gives back what there is.
    pub(super) fn close(&self) -> Releasing {
        self.closed.store(true, Ordering::Release);
        self.current().map(|life| Releasing::begin(&life.carrier, life.end())).unwrap_or_default()
    }

    /// Renews nothing any longer: what there is ends in its time.
    pub(super) fn abandon(&self) {
        self.closed.store(true, Ordering::Release);
        drop(self.current().map(|life| life.end()));
    }

    /// Gives back what there is, and waits for that.
    pub(super) async fn release(&self) {
        if let Some(life) = self.current() {
            release::release(Arc::clone(&life.carrier), life.end()).await;
        }
    }

    fn current(&self) -> Option<Arc<Life>> {
        self.life.load_full().filter(|life| life.generation == fork::generation())
    }

    fn life(&self) -> Result<Arc<Life>, NamingError> {
        loop {
            if let Some(life) = self.current() {
                return Ok(life);
            }
            let before = self.life.load_full();
            let carrier = (self.carrier)()?;
            let fresh = Arc::new(Life { generation: fork::generation(), carrier, held: Mutex::default() });
            drop(self.life.compare_and_swap(&before, Some(fresh)));
            // The parent's sockets and locks stay as they are.
            std::mem::forget(before);
        }
    }
}

impl Drop for Leases {
    fn drop(&mut self) {
        match self.life.swap(None) {
            Some(life) if life.generation != fork::generation() => std::mem::forget(life),
            // Nobody waits for it.
            Some(life) => drop(Releasing::begin(&life.carrier, life.end())),
            None => {}
        }
    }
}

impl std::fmt::Debug for Leases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Leases").finish_non_exhaustive()
    }
}

impl Life {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Name, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, name: &Name) -> Option<Duration> {
        let held = self.lock().remove(name)?;
        held.is_over.store(true, Ordering::Release);
        Some(held.lease)
    }

    /// Renews none any longer; gives those that were not over.
    fn end(&self) -> Vec<(Name, Version)> {
        let held = std::mem::take(&mut *self.lock());
        held.into_iter().filter_map(|(name, held)| held.into_given_back(name)).collect()
    }
}

impl Held {
    /// It is renewed no longer; what is to be given back, unless it was over.
    fn into_given_back(self, name: Name) -> Option<(Name, Version)> {
        (!self.is_over.swap(true, Ordering::AcqRel)).then_some((name, self.version))
    }
}

/// Renews one lease until it is over.
async fn renew(carrier: Arc<dyn Carrier>, name: Name, version: Version, lease: Duration, is_over: Arc<AtomicBool>) {
    let pause = lease / RENEWALS;
    let mut confirmed = Instant::now();
    let mut wait = pause;
    loop {
        sleep(wait).await;
        if is_over.load(Ordering::Acquire) {
            return;
        }
        let asked = Instant::now();
        let Ok(renewal) = Invocation::renew(name.clone().into(), version) else { return };
        match carrier.carry(renewal, pause).await {
            Ok(()) => (confirmed, wait) = (asked, pause),
            Err(error) if error.kind() == ErrorKind::ContextClosed => return,
            // A server that lacks the name may be behind. When no server can have it any longer, that was the last word.
            Err(error) if error.kind() == ErrorKind::NameNotFound && confirmed.elapsed() > lease => {
                if !is_over.swap(true, Ordering::AcqRel) {
                    tracing::warn!("the lease of '{name}' has ended: {error}");
                }
                return;
            }
            Err(_) => wait = pause / RENEWALS,
        }
    }
}
