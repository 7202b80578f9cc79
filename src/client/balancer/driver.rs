//! The driver: a fleet under a short lock, a clock, and waiting.
//!
//! Like every client of this crate it begins anew in a forked child, dials nothing before it's used, and has failed targets
//! probed by the process's [keeper]; a probe is a connection and nothing else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use rand::RngExt as _;

use crate::discovery::dns::{DnsConfig, DnsServers};
use crate::discovery::{Answer, Place};
use crate::failure::Attempt;
use crate::failure::verdict::Need;
use crate::naming::{ErrorKind, NamingError};

use super::super::config::{Policy, check_time};
use super::super::driver::GiveUp;
use super::super::election::Elections;
use super::super::fleet::{Fleet, Servers};
use super::super::fork;
use super::super::keeper::{self, Probe, Tended};
use super::super::metrics::Metrics;
use super::super::target::Target;
use super::attempts::{Attempts, Sequel, Step};
use super::failure::Failure;
use super::service::Service;

/// The longest wait before the caller is asked whether it still wants to.
const SLICE: Duration = Duration::from_millis(100);

/// Where the servers are to be found.
#[derive(Clone, Debug)]
pub enum Source {
    /// These; the names among them are kept fresh.
    Fixed(Vec<Place>),
    /// The instances of a service.
    Service(Service),
}

impl Source {
    fn servers(&self) -> Servers {
        match self {
            Self::Fixed(servers) => Servers::Fixed(servers.clone()),
            Self::Service(service) => Servers::Followed(Arc::clone(service.label())),
        }
    }
}

/// The options of a balancer.
#[derive(Clone, Debug)]
pub struct BalancerConfig {
    /// How targets are chosen.
    pub policy: Policy,
    /// How names are resolved.
    pub dns: DnsConfig,
    /// The time that one call has, over all its attempts.
    pub timeout: Duration,
    /// The seed of all random choices; `None` draws one. Tests set it.
    pub seed: Option<u64>,
}

impl Default for BalancerConfig {
    fn default() -> Self {
        Self { policy: Policy::default(), dns: DnsConfig::default(), timeout: Duration::from_secs(5), seed: None }
    }
}

/// Balances the calls that a program makes itself. Cheap to clone; clones are one balancer.
///
/// ```
/// use std::net::{TcpListener, TcpStream};
///
/// use hanaming::client::balancer::{Balancer, BalancerConfig, Failure, Next, Sequel, Source, servers};
/// use hanaming::failure::verdict::Need;
/// use hanaming::failure::{Action, Category, CompletionStatus};
/// use hanaming::naming::Value;
///
/// let server = TcpListener::bind("127.0.0.1:0")?;
/// let list = Value::Str(format!("{},127.0.0.1:9", server.local_addr()?)); // nobody listens at the second one
/// let balancer = Balancer::new(Source::Fixed(servers(&list, "list")?), BalancerConfig::default())?;
///
/// let mut call = balancer.begin(Need { idempotent: false, value: true })?;
/// let called = loop {
///     let Some(Next::Call(target, _)) = call.wait(&mut || false) else { panic!("nobody is left") };
///     match TcpStream::connect(target.label.as_ref()) {
///         Ok(_) => break target,
///         Err(error) => {
///             let refused = Failure {
///                 category: Category::NotConnected,
///                 completion: Some(CompletionStatus::No),
///                 action: Action::Failover,
///                 action_if_idempotent: Action::Failover,
///                 words: error.to_string(),
///             };
///             assert_eq!(call.failed(refused), Sequel::Again);
///         }
///     }
/// };
/// call.succeeded();
/// assert_eq!(called.address, Some(server.local_addr()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Balancer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    source: Source,
    config: BalancerConfig,
    life: ArcSwap<Life>,
    closed: AtomicBool,
    itself: Weak<Inner>,
}

/// A balancer in one process.
#[derive(Debug)]
struct Life {
    generation: u64,
    epoch: Instant,
    fleet: Mutex<Watched>,
    /// The fleet has changed, or the balancer was closed.
    news: Condvar,
}

#[derive(Debug)]
struct Watched {
    fleet: Fleet,
    revision: u64,
}

impl Life {
    fn begin(source: &Source, config: &BalancerConfig) -> Self {
        let seed = config.seed.unwrap_or_else(|| rand::rng().random());
        let fleet = Fleet::of_service(source.servers(), config.policy, &config.dns, Elections::of_process(), seed);
        let revision = fleet.revision();
        Self {
            generation: fork::generation(),
            epoch: instant_now(),
            fleet: Mutex::new(Watched { fleet, revision }),
            news: Condvar::new(),
        }
    }

    fn is_current(&self) -> bool {
        self.generation == fork::generation()
    }

    fn now(&self) -> Duration {
        instant_now().saturating_duration_since(self.epoch)
    }

    fn lock(&self) -> MutexGuard<'_, Watched> {
        // No step of the engines is left halfway by a panic of ours.
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes those who wait where the fleet has changed. Gives whether something is due for the keeper.
    fn settle(&self, watched: &mut Watched) -> bool {
        let revision = watched.fleet.revision();
        if revision != watched.revision {
            watched.revision = revision;
            self.news.notify_all();
        }
        watched.fleet.take_alarm() && watched.fleet.next_due().is_some()
    }

    /// Waits for so long, at most one slice, or until the fleet is no longer as it was `seen`, or all is `over`.
    fn wait(&self, left: Duration, seen: u64, over: &AtomicBool) {
        let watched = self.lock();
        let as_seen = |watched: &mut Watched| watched.revision == seen && !over.load(Ordering::Acquire);
        drop(self.news.wait_timeout_while(watched, left.min(SLICE), as_seen).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Balancer {
    /// A balancer over the servers of `source`. Nothing is dialled or asked yet.
    pub fn new(source: Source, config: BalancerConfig) -> Result<Self, NamingError> {
        check_time("timeout", config.timeout)?;
        Ok(Self(Arc::new_cyclic(|itself| Inner {
            life: ArcSwap::from_pointee(Life::begin(&source, &config)),
            source,
            config,
            closed: AtomicBool::new(false),
            itself: Weak::clone(itself),
        })))
    }

    /// Its options.
    pub fn config(&self) -> &BalancerConfig {
        &self.0.config
    }

    /// Where its servers are to be found.
    pub fn source(&self) -> &Source {
        &self.0.source
    }

    /// A call that begins now. `ContextClosed` where the balancer is closed.
    pub fn begin(&self, need: Need) -> Result<Calling, NamingError> {
        if self.is_closed() {
            return Err(closed());
        }
        let life = self.0.life();
        let attempts = Attempts::new(need, life.now(), self.0.config.timeout);
        Ok(Calling { balancer: self.clone(), life, attempts, seen: 0 })
    }

    /// The servers that it knows, as they are now, and for how long it has known each. Nothing is asked.
    pub fn targets(&self) -> Vec<(Target, Duration)> {
        let life = self.0.life();
        let now = life.now();
        let watched = life.lock();
        watched.fleet.targets().map(|target| (target.clone(), now.saturating_sub(target.since))).collect()
    }

    /// What was counted so far.
    pub fn metrics(&self) -> Metrics {
        self.0.life().lock().fleet.metrics()
    }

    /// What is wrong with the source, where the servers are those that it told last.
    pub fn trouble(&self) -> Option<String> {
        self.0.life().lock().fleet.trouble().map(str::to_owned)
    }

    /// Ends it: later calls fail, and those that wait for a target.
    pub fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        let life = self.0.life();
        // Whoever is about to wait has either seen that it's closed, or waits by the time that the lock is had.
        drop(life.lock());
        life.news.notify_all();
    }

    /// Whether it was closed.
    pub fn is_closed(&self) -> bool {
        self.0.closed.load(Ordering::Acquire)
    }
}

impl Inner {
    /// This process's life. In a forked child it begins anew: the parent's may be locked for good, so it's never dropped.
    fn life(&self) -> Arc<Life> {
        let life = self.life.load_full();
        if life.is_current() {
            return life;
        }
        let fresh = Arc::new(Life::begin(&self.source, &self.config));
        let before = self.life.compare_and_swap(&life, Arc::clone(&fresh));
        if Arc::ptr_eq(&before, &life) {
            std::mem::forget(life);
            return fresh;
        }
        self.life()
    }

    fn with_fleet<R>(&self, life: &Life, work: impl FnOnce(&mut Fleet, Duration) -> R) -> R {
        let mut watched = life.lock();
        let result = work(&mut watched.fleet, life.now());
        let due = life.settle(&mut watched);
        drop(watched);
        if due && let Some(itself) = self.itself.upgrade() {
            keeper::wake(&(itself as Arc<dyn Tended>));
        }
        result
    }
}

/// What to do next.
#[derive(Debug)]
pub enum Next {
    /// Call this target, which has been known for so long.
    Call(Box<Target>, Duration),
    /// Wait for so long at most, or until something changes, and ask again.
    Wait(Duration),
    /// There is no further attempt: the last failure comes out, or this where none was made.
    Over(Option<NamingError>),
}

/// A call under way. One that is dropped gives its target back.
#[derive(Debug)]
pub struct Calling {
    balancer: Balancer,
    life: Arc<Life>,
    attempts: Attempts,
    /// The fleet's revision when it was last asked for a target.
    seen: u64,
}

impl Calling {
    /// Whom to call now, without waiting.
    pub fn poll(&mut self) -> Next {
        if self.balancer.is_closed() {
            return Next::Over(Some(closed()));
        }
        if !self.life.is_current() {
            let message = "the call was begun in the parent process; begin another one in this process";
            return Next::Over(Some(NamingError::new(ErrorKind::ContextClosed, message)));
        }
        let (attempts, seen) = (&mut self.attempts, &mut self.seen);
        self.balancer.0.with_fleet(&self.life, |fleet, now| {
            let step = attempts.next(fleet, now);
            *seen = fleet.revision();
            match step {
                Step::Call(id) => match fleet.target(id) {
                    Some(target) => Next::Call(Box::new(target.clone()), now.saturating_sub(target.since)),
                    None => Next::Wait(Duration::ZERO),
                },
                Step::Wait { until } => Next::Wait(until.saturating_sub(now)),
                Step::Over(error) => Next::Over(error),
            }
        })
    }

    /// Whom to call now; waits until somebody can be. `None` where `give_up` says so.
    pub fn wait(&mut self, give_up: GiveUp<'_>) -> Option<Next> {
        loop {
            match self.poll() {
                Next::Wait(left) => {
                    self.life.wait(left, self.seen, &self.balancer.0.closed);
                    if give_up() {
                        return None;
                    }
                }
                next => return Some(next),
            }
        }
    }

    /// The call came back as it should.
    pub fn succeeded(&mut self) {
        self.tell(Attempts::succeeded);
    }

    /// The call failed.
    pub fn failed(&mut self, failure: Failure) -> Sequel {
        self.tell(|attempts, fleet, now| attempts.failed(fleet, now, failure)).unwrap_or(Sequel::Raise)
    }

    /// The call was given up.
    pub fn abandoned(&mut self) {
        self.tell(Attempts::abandoned);
    }

    /// The time that is left for all further attempts.
    pub fn time_left(&self) -> Duration {
        self.attempts.deadline().saturating_sub(self.life.now())
    }

    /// The attempts made so far.
    pub fn attempts(&self) -> Vec<Attempt> {
        self.attempts.trail().attempts()
    }

    /// Tells the fleet what came of an attempt. A child of the process that began it tells nobody.
    fn tell<R>(&mut self, tell: impl FnOnce(&mut Attempts, &mut Fleet, Duration) -> R) -> Option<R> {
        let attempts = &mut self.attempts;
        self.life.is_current().then(|| self.balancer.0.with_fleet(&self.life, |fleet, now| tell(attempts, fleet, now)))
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        self.abandoned();
    }
}

impl Tended for Inner {
    fn tend(&self, work: &mut dyn FnMut(&mut Fleet, Duration)) {
        let life = self.life();
        let mut watched = life.lock();
        work(&mut watched.fleet, life.now());
        // The keeper itself looks for what is due.
        let _ = life.settle(&mut watched);
    }

    fn probe(&self) -> Probe {
        Probe::Connect
    }

    fn list(&self) -> Result<Answer, String> {
        match &self.source {
            Source::Service(service) => service.list(),
            Source::Fixed(_) => Err("the list is fixed".to_owned()),
        }
    }

    fn dns_servers(&self) -> DnsServers {
        self.config.dns.servers.clone()
    }

    fn is_over(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

fn closed() -> NamingError {
    NamingError::new(ErrorKind::ContextClosed, "the balancer is closed; make a new one")
}

#[expect(clippy::disallowed_methods, reason = "this driver reads the clock here and nowhere else")]
fn instant_now() -> Instant {
    Instant::now()
}
