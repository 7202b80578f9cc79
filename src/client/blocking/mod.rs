//! The blocking driver: pooled sockets on the calling thread, no runtime in the way.
//!
//! A call takes one short lock to pick a target and a connection, and one to hand them back; between the two it's the
//! socket's alone. Nothing is dialled before the first operation, and no thread is started before there is something for
//! it to do (see [`super::keeper`]).

mod life;
mod pool;

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, Weak};
use std::time::Duration;

use arc_swap::ArcSwap;

use crate::discovery::dns::DnsServers;
use crate::failure::Phase;
use crate::naming::{Name, NamingError};
use crate::protocol::{Reply, WatchScope};
use crate::topology::View;
use crate::transport::blocking::Connection;
use crate::transport::{TransportError, TransportErrorKind};

use super::asynchronous::leases_beside;
use super::call::{Call, Input, Output, Send};
use super::config::ClientConfig;
use super::driver::{Driver, GiveUp, closed, closed_under};
use super::fleet::Fleet;
use super::invocation::{Invocation, Product};
use super::keeper::{self, Probe, Tended};
use super::lease::{Leases, Releasing};
use super::metrics::Metrics;
use super::target::{Target, TargetId};
use super::trail::Trail;
use super::watch::{Asker, Watch, Watches};
use life::{Life, Shared};

/// A client of a cluster, or of one node, for any number of threads. Cheap to clone; clones are one client.
#[derive(Clone, Debug)]
pub struct Client(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    config: ClientConfig,
    life: ArcSwap<Life>,
    closed: AtomicBool,
    watches: Watches,
    leases: Leases,
    itself: Weak<Inner>,
}

impl Client {
    /// A client with these options. Nothing is dialled yet.
    pub fn new(config: ClientConfig) -> Result<Self, NamingError> {
        config.validate()?;
        Ok(Self(Arc::new_cyclic(|itself| Inner {
            life: ArcSwap::from_pointee(Life::begin(&config)),
            watches: Watches::over_network(&config),
            leases: leases_beside(&config),
            config,
            closed: AtomicBool::new(false),
            itself: Weak::clone(itself),
        })))
    }

    /// Its options.
    pub fn config(&self) -> &ClientConfig {
        &self.0.config
    }

    /// The servers that it knows, as they are now, and how old each is in this client. Nothing is asked.
    pub fn targets(&self) -> Vec<(Target, Duration)> {
        let life = self.0.life();
        let now = life.now();
        let shared = life.lock();
        shared.fleet.targets().map(|target| (target.clone(), now.saturating_sub(target.since))).collect()
    }

    /// What was counted so far.
    pub fn metrics(&self) -> Metrics {
        self.0.life().lock().fleet.metrics()
    }

    /// The newest view that a server told. Nothing is asked.
    pub fn view(&self) -> Option<Arc<View>> {
        self.0.life().lock().fleet.view().cloned()
    }
}

impl Driver for Client {
    fn perform(
        &self,
        invocation: Invocation,
        timeout: Option<Duration>,
        give_up: GiveUp<'_>,
    ) -> Result<(Product, Trail), NamingError> {
        self.0.perform(invocation, timeout, give_up)
    }

    fn watch(&self, name: Name, scope: WatchScope, initial: bool) -> Result<Watch, NamingError> {
        self.0.watches.begin(name, scope, initial)
    }

    fn give_back(&self, name: &Name) -> Releasing {
        self.0.leases.give_back(name)
    }

    fn dns_servers(&self) -> Option<&DnsServers> {
        Some(&self.0.config.dns.servers)
    }

    fn close(&self) {
        self.0.closed.store(true, Ordering::Release);
        self.0.watches.close();
        let releasing = self.0.leases.close();
        let life = self.0.life();
        life.lock().pool.clear();
        life.announce();
        releasing.wait();
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }
}

impl Inner {
    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// This process's life. In a forked child it begins anew: the parent's may be locked for good, and its sockets are
    /// the parent's too, so it is left untouched and never dropped.
    fn life(&self) -> Arc<Life> {
        let life = self.life.load_full();
        if life.is_current() {
            return life;
        }
        let fresh = Arc::new(Life::begin(&self.config));
        let before = self.life.compare_and_swap(&life, Arc::clone(&fresh));
        if Arc::ptr_eq(&before, &life) {
            mem::forget(life);
            return fresh;
        }
        self.life()
    }

    fn perform(
        &self,
        invocation: Invocation,
        timeout: Option<Duration>,
        give_up: GiveUp<'_>,
    ) -> Result<(Product, Trail), NamingError> {
        if self.is_closed() {
            return Err(closed(&invocation));
        }
        let life = self.life();
        let now = life.now();
        let mut call = Call::new(invocation, &self.config, now, timeout.unwrap_or(self.config.timeout));
        let mut shared = life.lock();
        let mut output = call.step(&mut shared.fleet, now, Input::Start);
        loop {
            let input = match output {
                Output::Done(result) => {
                    let due = life.settle(&mut shared);
                    drop(shared);
                    if due {
                        self.wake_keeper();
                    }
                    if let Ok(product) = &result {
                        self.leases.note(call.invocation(), product);
                    }
                    return result.map(|product| (product, call.take_trail()));
                }
                Output::Wait { until } => {
                    let due = life.settle(&mut shared);
                    let seen = shared.revision;
                    if due {
                        drop(shared);
                        self.wake_keeper();
                        shared = life.lock();
                    }
                    drop(life.wait(shared, seen, until));
                    let enough = self.is_closed() || give_up();
                    shared = life.lock();
                    if enough {
                        return Err(self.abandoned(&mut call, &mut shared.fleet, life.now(), false));
                    }
                    Input::Woke
                }
                Output::Send(send) => {
                    let carried;
                    (shared, carried) = self.carry(&life, shared, &call, send, give_up);
                    match carried {
                        Ok(reply) => Input::Reply(reply),
                        Err((error, _)) if error.kind == TransportErrorKind::Cancelled => {
                            let left = error.phase >= Phase::Wait;
                            return Err(self.abandoned(&mut call, &mut shared.fleet, life.now(), left));
                        }
                        Err((error, reused)) => Input::Broke { error, reused },
                    }
                }
            };
            output = call.step(&mut shared.fleet, life.now(), input);
        }
    }

    /// The error of a call that was given up: by its caller, or by whoever closed the client.
    fn abandoned(&self, call: &mut Call, fleet: &mut Fleet, now: Duration, left: bool) -> NamingError {
        let error = call.abandon(fleet, now, left);
        if self.is_closed() { closed_under(error) } else { error }
    }

    /// Carries one request to its target and back. The lock is given up meanwhile.
    fn carry<'a>(
        &self,
        life: &'a Life,
        mut shared: MutexGuard<'a, Shared>,
        call: &Call,
        send: Send,
        give_up: GiveUp<'_>,
    ) -> (MutexGuard<'a, Shared>, Result<Reply, (TransportError, bool)>) {
        if send.fresh {
            // One idle connection was found dead: the others died with it, most likely.
            shared.pool.drop_all(send.target);
        }
        let idle = shared.pool.take(send.target);
        let address = shared.fleet.target(send.target).and_then(|target| target.address);
        drop(shared);
        let mut enough = || self.is_closed() || give_up();
        let deadline = life.instant(send.ends);
        // A read finds out soon enough that an idle connection is dead, and may be repeated; a mutation may not be.
        let mutates = call.request().operation_id.is_some();
        let idle = idle.and_then(|mut idle| (!mutates || !idle.is_stale()).then_some(idle));
        let reused = idle.is_some();
        let connected = match (idle, address) {
            (Some(idle), _) => Ok(idle),
            (None, Some(address)) => {
                let connects_by = life.instant(send.connects_by);
                Connection::open_interruptible(address, &life.hello, self.config.limits, connects_by, &mut enough).map(Box::new)
            }
            (None, None) => Err(TransportError::new(Phase::Connect, TransportErrorKind::Unreachable)),
        };
        let mut connection = match connected {
            Ok(connection) => connection,
            Err(error) => return (life.lock(), Err((error, false))),
        };
        // A read travels with the hello. A mutation waits for the welcome: a server that never takes us has not run it.
        let greeted = if mutates { connection.greet(deadline, &mut enough) } else { Ok(()) };
        let mut result = greeted.and_then(|()| connection.exchange_interruptible(call.request(), deadline, &mut enough));
        while connection.shows_life()
            && matches!(&result, Err(error) if error.phase >= Phase::Wait && matches!(error.kind, TransportErrorKind::TimedOut(_)))
        {
            let patience = call.patience(&mut life.lock().fleet, life.now());
            let Some(until) = patience else { break };
            result = connection.wait_on(life.instant(until), &mut enough);
        }
        let mut shared = life.lock();
        let view = connection.take_view();
        if let Some(welcome) = connection.welcome().filter(|_| !reused) {
            shared.fleet.welcomed(send.target, welcome, life.now());
        }
        // It may have come after the welcome, before the first reply: it isn't told twice.
        if let Some(view) = view {
            shared.fleet.saw_view(send.target, &view, life.now());
        }
        for brought in connection.take_brought() {
            shared.fleet.saw(send.target, &brought);
        }
        let is_kept = shared.fleet.target(send.target).is_some_and(Target::keeps_connections);
        if result.is_ok() && is_kept && !self.is_closed() {
            shared.pool.put(send.target, connection);
        }
        (shared, result.map_err(|error| (error, reused)))
    }

    fn wake_keeper(&self) {
        if let Some(itself) = self.itself.upgrade() {
            keeper::wake(&(itself as Arc<dyn Tended>));
        }
    }
}

impl Tended for Inner {
    fn tend(&self, work: &mut dyn FnMut(&mut Fleet, Duration)) {
        let life = self.life();
        let mut shared = life.lock();
        work(&mut shared.fleet, life.now());
        // The keeper itself looks for what is due.
        let _ = life.settle(&mut shared);
    }

    fn probe(&self) -> Probe {
        Probe::Greet(Box::new(self.life().hello.clone()))
    }

    fn dns_servers(&self) -> DnsServers {
        self.config.dns.servers.clone()
    }

    fn is_connected(&self, target: TargetId) -> bool {
        let life = self.life();
        let mut shared = life.lock();
        let Shared { fleet, pool, .. } = &mut *shared;
        let mut views = Vec::new();
        let stands = pool.look(target, |connection| views.extend(connection.take_view()));
        let is_connected = stands || fleet.target(target).is_some_and(|target| target.outstanding > 0);
        for view in &views {
            fleet.saw_view(target, view, life.now());
        }
        let _ = life.settle(&mut shared);
        is_connected
    }

    fn asker(&self) -> Option<Asker> {
        self.watches.asker().ok()
    }

    fn is_over(&self) -> bool {
        self.is_closed()
    }
}
