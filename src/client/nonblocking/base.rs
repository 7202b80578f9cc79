//! What the drivers of one context's event loops share: its options, its fleet, its clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use rand::RngExt as _;

use crate::client::asynchronous::leases_beside;
use crate::client::config::ClientConfig;
use crate::client::direct::Direct;
use crate::client::election::Elections;
use crate::client::fleet::{Fleet, Names};
use crate::client::fork;
use crate::client::keeper::{self, Probe, Tended};
use crate::client::lease::{Leases, Releasing};
use crate::client::metrics::Metrics;
use crate::client::target::{Target, TargetId};
use crate::client::watch::{Asker, Watches};
use crate::discovery::dns::DnsServers;
use crate::naming::{Name, NamingError};
use crate::protocol::{Hello, Role, Scope};
use crate::topology::View;
use crate::transport::Service;

use super::inbox::WeakOutlet;

/// What the drivers of one context's event loops share, in one process: a forked child makes its own.
pub struct Base {
    config: ClientConfig,
    hello: Hello,
    generation: u64,
    epoch: Instant,
    fleet: Mutex<Watched>,
    /// The way to the node of this process that is asked, where it's no cluster over the network.
    direct: Option<Direct>,
    /// The way on which the cache is told of changes, where there is one.
    feeding: Option<Watches>,
    leases: Leases,
    closed: AtomicBool,
    itself: Weak<Self>,
}

/// The fleet, and who is to hear when it changes.
struct Watched {
    fleet: Fleet,
    revision: u64,
    listeners: Vec<WeakOutlet>,
    /// To whom there are connections, once for each, if whoever uses this stays with one server.
    connections: Vec<TargetId>,
}

impl Base {
    /// For servers over the network. Nothing is dialled yet.
    pub fn over_network(config: ClientConfig) -> Result<Arc<Self>, NamingError> {
        config.validate()?;
        let seed = config.seed.unwrap_or_else(|| rand::rng().random());
        let mut fleet = Fleet::new(&config, Elections::of_process(), Names::Resolved, seed);
        fleet.have_looks();
        let leases = leases_beside(&config);
        Ok(Self::new(config, fleet, None, leases))
    }

    /// For a node of this process: the whole cluster's names (`Scope::Cluster`), or its own (`Scope::Local`).
    pub fn in_process(service: Arc<dyn Service>, scope: Scope, timeout: Duration) -> Arc<Self> {
        let direct = Direct::new(service, scope, timeout);
        let config = direct.config().clone();
        let fleet = Fleet::of_process(&config, direct.service().name(), rand::rng().random());
        let leases = Leases::in_process(Arc::clone(direct.service()));
        Self::new(config, fleet, Some(direct), leases)
    }

    fn new(config: ClientConfig, fleet: Fleet, direct: Option<Direct>, leases: Leases) -> Arc<Self> {
        let hello = Hello::new(Role::Client { id: fleet.client_id() }, config.wanted_cluster());
        let revision = fleet.revision();
        let feeding = config.cache.is_some().then(|| Watches::over_network(&config));
        Arc::new_cyclic(|itself| Self {
            config,
            hello,
            generation: fork::generation(),
            epoch: instant_now(),
            fleet: Mutex::new(Watched { fleet, revision, listeners: Vec::new(), connections: Vec::new() }),
            direct,
            feeding,
            leases,
            closed: AtomicBool::new(false),
            itself: Weak::clone(itself),
        })
    }

    /// Its options.
    pub fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// Whether it's of this process, and not of the one that this one was forked from.
    pub fn is_current(&self) -> bool {
        self.generation == fork::generation()
    }

    /// The time that all its drivers are told.
    pub fn now(&self) -> Duration {
        instant_now().saturating_duration_since(self.epoch)
    }

    /// The servers that are known, and since how long. Nothing is asked.
    pub fn targets(&self) -> Vec<(Target, Duration)> {
        let now = self.now();
        self.with_fleet(|fleet| fleet.targets().map(|target| (target.clone(), now.saturating_sub(target.since))).collect())
    }

    /// What was counted so far.
    pub fn metrics(&self) -> Metrics {
        self.with_fleet(|fleet| fleet.metrics())
    }

    /// The newest view that a server told. Nothing is asked.
    pub fn view(&self) -> Option<Arc<View>> {
        self.with_fleet(|fleet| fleet.view().cloned())
    }

    /// Gives back the lease of a name, if one is held there: it is unbound, in the background.
    pub fn give_back(&self, name: &Name) -> Releasing {
        self.leases.give_back(name)
    }

    /// Later calls fail, on whatever loop. Leases are given back in the background.
    pub fn close(&self) -> Releasing {
        self.closed.store(true, Ordering::Release);
        if let Some(feeding) = &self.feeding {
            feeding.close();
        }
        self.leases.close()
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn leases(&self) -> &Leases {
        &self.leases
    }

    pub(super) fn hello(&self) -> &Hello {
        &self.hello
    }

    pub(super) fn direct(&self) -> Option<&Direct> {
        self.direct.as_ref()
    }

    /// Has a driver told, by way of its inbox, whenever the fleet has changed.
    pub(super) fn listen(&self, outlet: WeakOutlet) {
        self.lock().listeners.push(outlet);
    }

    /// Whether clients like this one stay with one server each.
    pub(super) fn stays(&self) -> bool {
        self.config.policy.elects()
    }

    /// A connection was opened to this server.
    pub(super) fn opened(&self, target: TargetId) {
        if self.stays() {
            self.lock().connections.push(target);
        }
    }

    /// A connection to this server has ended.
    pub(super) fn ended(&self, target: TargetId) {
        if self.stays() {
            let mut watched = self.lock();
            if let Some(at) = watched.connections.iter().position(|known| *known == target) {
                watched.connections.swap_remove(at);
            }
        }
    }

    /// Lets `work` have the fleet, and draws the consequences of what it told it: those who wait are told, the background
    /// is woken where something is due.
    #[inline]
    pub(super) fn with_fleet<R>(&self, work: impl FnOnce(&mut Fleet) -> R) -> R {
        let mut watched = self.lock();
        let result = work(&mut watched.fleet);
        let due = settle(&mut watched);
        drop(watched);
        if due && let Some(itself) = self.itself.upgrade() {
            keeper::wake(&(itself as Arc<dyn Tended>));
        }
        result
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Watched> {
        // No step of the engines is left halfway by a panic of ours.
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the listeners of a change. Gives whether something is due for the background.
fn settle(watched: &mut Watched) -> bool {
    let revision = watched.fleet.revision();
    if revision != watched.revision {
        watched.revision = revision;
        watched.listeners.retain(WeakOutlet::ring);
    }
    watched.fleet.take_alarm() && watched.fleet.next_due().is_some()
}

impl Tended for Base {
    fn tend(&self, work: &mut dyn FnMut(&mut Fleet, Duration)) {
        let mut watched = self.lock();
        work(&mut watched.fleet, self.now());
        // The keeper itself looks for what is due.
        let _ = settle(&mut watched);
    }

    fn probe(&self) -> Probe {
        Probe::Greet(Box::new(self.hello.clone()))
    }

    fn dns_servers(&self) -> DnsServers {
        self.config.dns.servers.clone()
    }

    fn is_connected(&self, target: TargetId) -> bool {
        self.lock().connections.contains(&target)
    }

    fn asker(&self) -> Option<Asker> {
        self.feeding.as_ref()?.asker().ok()
    }

    fn is_over(&self) -> bool {
        self.is_closed() || !self.is_current()
    }
}

impl std::fmt::Debug for Base {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Base").field("config", &self.config).finish_non_exhaustive()
    }
}

#[expect(clippy::disallowed_methods, reason = "the clock of all drivers of this kind is read here and nowhere else")]
fn instant_now() -> Instant {
    Instant::now()
}
