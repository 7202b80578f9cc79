//! What a context bound for a time, and renews as long as it is open and its process lives.
//!
//! A third of the lease passes between two renewals, so that two of them may be lost. They are changes like others: they go to
//! the owner of the name, and to other servers where that fails. A name that was bound anew, moved or removed by somebody
//! else is renewed no longer; what this context itself does to a name is heard here at once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::naming::{ErrorKind, Name, NamingError, Version};
use crate::protocol::{Mutation, Operation, OperationId, Reply, Request, Scope};
use crate::transport::Service;

use super::asynchronous::AsyncClient;
use super::config::ClientConfig;
use super::invocation::{Invocation, LeaseChange, Product};
use super::{fault, fork, keeper};

/// So many renewals fit a lease.
const RENEWALS: u32 = 3;

/// The leases of one context.
pub(super) struct Leases {
    source: Source,
    life: ArcSwapOption<Life>,
    closed: AtomicBool,
}

enum Source {
    Network(Box<ClientConfig>),
    Process(Arc<dyn Service>),
}

/// What they have of one process: a forked child renews nothing of its parent's.
struct Life {
    generation: u64,
    renewer: Renewer,
    held: Mutex<BTreeMap<Name, Held>>,
}

/// One lease. It is over when nobody else has this.
struct Held {
    lease: Duration,
    is_over: Arc<AtomicBool>,
}

/// Carries renewals.
#[derive(Clone)]
enum Renewer {
    Network(AsyncClient),
    Process { service: Arc<dyn Service>, client: u128, renewals: Arc<AtomicU64> },
}

impl Leases {
    /// Of the servers that these options tell.
    pub(super) fn over_network(config: &ClientConfig) -> Self {
        Self::of(Source::Network(Box::new(config.clone())))
    }

    /// Of a node of this process.
    pub(super) fn in_process(service: Arc<dyn Service>) -> Self {
        Self::of(Source::Process(service))
    }

    fn of(source: Source) -> Self {
        Self { source, life: ArcSwapOption::empty(), closed: AtomicBool::new(false) }
    }

    /// This came of an operation of the context: perhaps there is a lease more, or less.
    pub(super) fn note(&self, invocation: &Invocation, product: &Product) {
        let Some(change) = invocation.lease_change() else { return };
        let version = match product {
            Product::Written(written) => written.version,
            _ => None,
        };
        let released = |name: &Name| self.current()?.release(name);
        match (change, version) {
            (LeaseChange::Given { name, lease }, Some(version)) => self.hold(name, version, lease),
            (LeaseChange::Moved { from, to }, Some(version)) => {
                if let Some(lease) = released(from) {
                    self.hold(to, version, lease);
                }
            }
            (LeaseChange::Given { name, .. } | LeaseChange::Ended { name }, _) => drop(released(name)),
            (LeaseChange::Moved { .. }, None) => {}
        }
    }

    fn hold(&self, name: &Name, version: Version, lease: Duration) {
        if self.closed.load(Ordering::Acquire) {
            return;
        }
        let begun = self.life().and_then(|life| {
            let is_over = Arc::new(AtomicBool::new(false));
            life.release(name);
            life.lock().insert(name.clone(), Held { lease, is_over: Arc::clone(&is_over) });
            let renewals = renew(life.renewer.clone(), name.clone(), version, lease, is_over);
            keeper::spawn(renewals).map_err(|error| NamingError::new(ErrorKind::Internal, error.to_string()))
        });
        if let Err(error) = begun {
            tracing::warn!("the lease of '{name}' can't be renewed, so it will end: {error}");
        }
    }

    /// Renews nothing any longer: all of them end in their time.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        if let Some(life) = self.current() {
            life.end();
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
            let renewer = match &self.source {
                Source::Network(config) => Renewer::Network(AsyncClient::new(config.beside())?),
                Source::Process(service) => {
                    Renewer::Process { service: Arc::clone(service), client: rand::random(), renewals: Arc::default() }
                }
            };
            let fresh = Arc::new(Life { generation: fork::generation(), renewer, held: Mutex::default() });
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
            Some(life) => life.end(),
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

    fn release(&self, name: &Name) -> Option<Duration> {
        let held = self.lock().remove(name)?;
        held.is_over.store(true, Ordering::Release);
        Some(held.lease)
    }

    fn end(&self) {
        for held in std::mem::take(&mut *self.lock()).into_values() {
            held.is_over.store(true, Ordering::Release);
        }
        if let Renewer::Network(client) = &self.renewer {
            client.close();
        }
    }
}

/// Renews one lease until it is over.
async fn renew(renewer: Renewer, name: Name, version: Version, lease: Duration, is_over: Arc<AtomicBool>) {
    let pause = lease / RENEWALS;
    let mut confirmed = Instant::now();
    let mut wait = pause;
    loop {
        sleep(wait).await;
        if is_over.load(Ordering::Acquire) {
            return;
        }
        let asked = Instant::now();
        match renewer.renew(&name, version, pause).await {
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

impl Renewer {
    async fn renew(&self, name: &Name, version: Version, within: Duration) -> Result<(), NamingError> {
        match self {
            Self::Network(client) => {
                client.perform(Invocation::renew(name.clone().into(), version)?, Some(within)).await.map(drop)
            }
            Self::Process { service, client, renewals } => {
                let sequence = renewals.fetch_add(1, Ordering::Relaxed) + 1;
                let request = Request {
                    time_left: u32::try_from(within.as_micros()).unwrap_or(u32::MAX),
                    scope: Scope::Cluster,
                    operation_id: Some(OperationId { client: *client, sequence }),
                    is_retry: false,
                    operation: Operation::Mutate(Mutation::Renew { name: name.as_str().to_owned(), version }),
                    known: None,
                };
                let (sender, reply) = oneshot::channel();
                service.submit(request, within, Box::new(move |reply| drop(sender.send(reply))));
                match reply.await {
                    Ok(Reply::Failed(fault)) => Err(fault::to_error(fault)),
                    Ok(_) => Ok(()),
                    Err(_) => Err(NamingError::new(ErrorKind::ContextClosed, "the node is closed")),
                }
            }
        }
    }
}
