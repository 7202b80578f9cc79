//! The tokio driver: one shared link for each target, over any network.
//!
//! For Rust programs that run on tokio, and for tests over the network in memory. Its clock is tokio's, so a test may
//! pause it. Dropping the future of an operation gives the operation up.

mod background;
mod leases;
mod links;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rand::RngExt as _;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use crate::discovery::dns::DnsServers;
use crate::failure::Phase;
use crate::naming::NamingError;
use crate::protocol::{Hello, Reply, Role};
use crate::topology::View;
use crate::transport::tcp::TcpNetwork;
use crate::transport::{Network, TransportError, TransportErrorKind};

use super::call::{Call, Input, Output, Send};
use super::config::ClientConfig;
use super::driver::closed;
use super::election::Elections;
use super::fleet::{Fleet, Names};
use super::invocation::{Invocation, Product};
use super::lease::Leases;
use super::metrics::Metrics;
use super::target::Target;
use super::tended::{Probe, Tended};
use super::trail::Trail;
use links::Links;

pub use leases::leases_beside;

/// A client for tokio. Cheap to clone; clones are one client.
#[derive(Clone, Debug)]
pub struct AsyncClient(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: ClientConfig,
    network: Arc<dyn Network>,
    hello: Hello,
    epoch: Instant,
    shared: Mutex<Shared>,
    /// The fleet has changed, or the client was closed.
    news: Arc<Notify>,
    leases: Leases,
    closed: AtomicBool,
    /// The background task runs.
    tended: AtomicBool,
}

#[derive(Debug)]
struct Shared {
    fleet: Fleet,
    links: Links,
    revision: u64,
}

impl AsyncClient {
    /// A client over TCP. Nothing is dialled yet.
    pub fn new(config: ClientConfig) -> Result<Self, NamingError> {
        Self::over(Arc::new(TcpNetwork), Names::Resolved, Elections::of_process(), config)
    }

    /// A client over another network, with a registry of elections of its own or the process's.
    pub fn over(
        network: Arc<dyn Network>,
        names: Names,
        elections: Arc<Elections>,
        config: ClientConfig,
    ) -> Result<Self, NamingError> {
        config.validate()?;
        let seed = config.seed.unwrap_or_else(|| rand::rng().random());
        let mut fleet = Fleet::new(&config, elections, names, seed);
        fleet.have_looks();
        let hello = Hello::new(Role::Client { id: fleet.client_id() }, config.wanted_cluster());
        let revision = fleet.revision();
        Ok(Self(Arc::new_cyclic(|itself| Inner {
            leases: leases::of(Weak::clone(itself)),
            config,
            network,
            hello,
            epoch: Instant::now(),
            shared: Mutex::new(Shared { fleet, links: Links::default(), revision }),
            news: Arc::default(),
            closed: AtomicBool::new(false),
            tended: AtomicBool::new(false),
        })))
    }

    /// Carries out one operation. `timeout` is the time it has, `None` the configured one.
    pub async fn perform(&self, invocation: Invocation, timeout: Option<Duration>) -> Result<(Product, Trail), NamingError> {
        let inner = &self.0;
        if inner.is_closed() {
            return Err(closed(&invocation));
        }
        let timeout = timeout.unwrap_or(inner.config.timeout);
        let call = Call::new(invocation, &inner.config, inner.now(), timeout);
        let mut flight = Flight { inner: Arc::clone(inner), call, left: false, over: false };
        // News are listened for from before each step on, so that none between the step and the wait is missed.
        let mut news = inner.news.notified();
        let mut output = flight.step(Input::Start);
        loop {
            let input = match output {
                Output::Done(result) => {
                    flight.over = true;
                    if let Ok(product) = &result {
                        inner.leases.note(flight.call.invocation(), product);
                    }
                    return result.map(|product| (product, flight.call.take_trail()));
                }
                Output::Wait { until } => {
                    let _ = timeout_at(inner.epoch + until, news).await;
                    Input::Woke
                }
                Output::Send(send) => match flight.carry(send).await {
                    Ok(reply) => Input::Reply(reply),
                    Err((error, reused)) => Input::Broke { error, reused },
                },
            };
            if inner.is_closed() {
                // Dropping the flight settles what is under way.
                return Err(closed(flight.call.invocation()));
            }
            news = inner.news.notified();
            output = flight.step(input);
        }
    }

    /// The servers that it knows, as they are now, and how old each is in this client. Nothing is asked.
    pub fn targets(&self) -> Vec<(Target, Duration)> {
        let now = self.0.now();
        self.0.lock().fleet.targets().map(|target| (target.clone(), now.saturating_sub(target.since))).collect()
    }

    /// What was counted so far.
    pub fn metrics(&self) -> Metrics {
        self.0.lock().fleet.metrics()
    }

    /// The newest view that a server told. Nothing is asked.
    pub fn view(&self) -> Option<Arc<View>> {
        self.0.lock().fleet.view().cloned()
    }

    /// Gives all leases back: what they are of is unbound, as far as a server can be reached soon. To be awaited before
    /// [`close`](Self::close), which can't wait.
    pub async fn release(&self) {
        self.0.leases.release().await;
    }

    /// Ends it: calls under way and later ones fail with `ContextClosed`. Leases that were not given back end in their time.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.leases.abandon();
        self.0.lock().links.close();
        self.0.news.notify_waiters();
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl Inner {
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    fn now(&self) -> Duration {
        Instant::now().saturating_duration_since(self.epoch)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets `work` have the fleet, and draws the consequences: links of targets that failed or went are dropped, those
    /// who wait are woken, the background is started where something is due.
    fn with_fleet<T>(self: &Arc<Self>, work: impl FnOnce(&mut Fleet, Duration) -> T) -> T {
        let mut shared = self.lock();
        let result = work(&mut shared.fleet, self.now());
        self.settle(&mut shared);
        let due = shared.fleet.take_alarm() && shared.fleet.next_due().is_some();
        drop(shared);
        if due {
            self.news.notify_waiters();
            background::wake(self);
        }
        result
    }
}

impl Inner {
    fn settle(&self, shared: &mut Shared) {
        let revision = shared.fleet.revision();
        if revision != shared.revision {
            shared.revision = revision;
            let Shared { fleet, links, .. } = shared;
            links.retain(fleet);
            self.news.notify_waiters();
        }
    }
}

/// What the process's background thread tells it of.
impl Tended for Inner {
    fn tend(&self, work: &mut dyn FnMut(&mut Fleet, Duration)) {
        let mut shared = self.lock();
        work(&mut shared.fleet, self.now());
        // What is due is looked for by the client's own task, or with its next call where that task has ended.
        self.settle(&mut shared);
    }

    fn probe(&self) -> Probe {
        Probe::Greet(Box::new(self.hello.clone()))
    }

    fn dns_servers(&self) -> DnsServers {
        self.config.dns.servers.clone()
    }

    fn is_over(&self) -> bool {
        self.is_closed()
    }
}

/// A call and its client. Dropped before its end, it settles the attempt under way.
struct Flight {
    inner: Arc<Inner>,
    call: Call,
    left: bool,
    over: bool,
}

impl Flight {
    fn step(&mut self, input: Input) -> Output {
        let call = &mut self.call;
        self.inner.with_fleet(|fleet, now| call.step(fleet, now, input))
    }

    /// Carries one request to its target and back.
    async fn carry(&mut self, send: Send) -> Result<Reply, (TransportError, bool)> {
        self.left = false;
        let within = send.ends.saturating_sub(self.inner.now());
        let ends = self.inner.epoch + send.ends;
        let opened = timeout_at(ends, links::link(&self.inner, send)).await;
        let late = |_| TransportError::new(Phase::Connect, TransportErrorKind::TimedOut(within));
        let (link, reused) = opened.map_err(late).and_then(|opened| opened).map_err(|error| (error, false))?;
        self.left = true;
        let left = send.ends.saturating_sub(self.inner.now());
        let (inner, call) = (&self.inner, &self.call);
        let more = |phase, is_heard: bool| {
            let now = inner.now();
            let until = match phase {
                Phase::Send if is_heard && now < call.deadline() => Some(now.saturating_add(left).min(call.deadline())),
                Phase::Send => None,
                // A link that was just opened for a read has shown life with its welcome.
                _ if is_heard || !(reused || call.invocation().is_mutation()) => call.patience(&mut inner.lock().fleet, now),
                _ => None,
            };
            until.map(|until| until.saturating_sub(now))
        };
        let result = link.ask_patiently(self.call.request().clone(), left, more).await.map_err(|error| (error, reused));
        let brought = link.take_brought();
        if !brought.is_empty() {
            self.inner.with_fleet(|fleet, _| brought.iter().for_each(|brought| fleet.saw(send.target, brought)));
        }
        result
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if !self.over {
            let (call, left) = (&mut self.call, self.left);
            self.inner.with_fleet(|fleet, now| drop(call.abandon(fleet, now, left)));
        }
    }
}
