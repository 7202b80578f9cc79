//! The driver for a node of this process: no network between.
//!
//! A lookup that the node can answer at once costs the lookup. Everything else goes through the same [`Call`] as over a
//! network, with the node as its only target; but a node that is leaving never comes back, so its refusal is raised and
//! not waited out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rand::RngExt as _;

use crate::failure::Phase;
use crate::naming::{Name, NamingError};
use crate::protocol::{Answer, RefusalReason, Reply, Request, Scope, WatchScope};
use crate::transport::{Service, TransportError, TransportErrorKind};

use super::call::{Call, Input, Output};
use super::config::ClientConfig;
use super::driver::{Driver, GiveUp, closed, closed_under};
use super::fleet::Fleet;
use super::invocation::{Invocation, Product};
use super::lease::{Leases, Releasing};
use super::trail::Trail;
use super::watch::{Watch, Watches};

/// The longest wait before the caller is asked whether it still wants to.
const SLICE: Duration = Duration::from_millis(100);

/// A client of a node in this process.
pub struct Direct {
    service: Arc<dyn Service>,
    /// The node's address and name.
    label: Arc<str>,
    name: Arc<str>,
    config: ClientConfig,
    epoch: Instant,
    fleet: Mutex<Fleet>,
    closed: AtomicBool,
    watches: Watches,
    leases: Leases,
}

impl Direct {
    /// A client of `service`: of the whole cluster (`Scope::Cluster`), or of the node's own tree (`Scope::Local`).
    pub fn new(service: Arc<dyn Service>, scope: Scope, timeout: Duration) -> Self {
        let config = ClientConfig {
            scope,
            timeout,
            // There is nobody else to ask: an attempt has all the time there is.
            attempt_timeout: Duration::MAX,
            mutation_timeout: Duration::MAX,
            follow_views: false,
            ..ClientConfig::new(vec![service.endpoint()])
        };
        let fleet = Fleet::of_process(&config, service.name(), rand::rng().random());
        let (label, name) = (service.endpoint().to_string().into(), service.name().into());
        let watches = Watches::in_process(Arc::clone(&service), scope);
        let leases = Leases::in_process(Arc::clone(&service));
        let (epoch, fleet, closed) = (instant_now(), Mutex::new(fleet), AtomicBool::new(false));
        Self { service, label, name, config, epoch, fleet, closed, watches, leases }
    }

    fn now(&self) -> Duration {
        instant_now().saturating_duration_since(self.epoch)
    }

    fn fleet(&self) -> MutexGuard<'_, Fleet> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn service(&self) -> &Arc<dyn Service> {
        &self.service
    }

    pub(super) fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// The product of a lookup that the node answers without waiting; `None` otherwise, and then nothing was done.
    pub fn at_once(&self, invocation: &mut Invocation) -> Option<Product> {
        if !invocation.is_lookup() || self.is_closed() {
            return None;
        }
        let request = Request {
            time_left: u32::MAX,
            scope: self.config.scope,
            operation_id: None,
            is_retry: false,
            operation: invocation.operation(),
            known: None,
        };
        match self.service.try_now(&request)? {
            Reply::Done(Answer::Found(found)) => invocation.found(found),
            _ => None,
        }
    }

    /// The trail of a lookup that was answered [at once](Self::at_once).
    pub(super) fn trail_at_once(&self) -> Trail {
        Trail::at_once(&self.label, &self.name)
    }

    /// Asks, and waits for the reply until `ends`.
    fn ask(&self, request: &Request, ends: Duration, give_up: GiveUp<'_>) -> Result<Reply, TransportError> {
        if let Some(reply) = self.service.try_now(request) {
            return Ok(reply);
        }
        let desk = Arc::new((Mutex::new(None), Condvar::new()));
        let theirs = Arc::clone(&desk);
        let within = ends.saturating_sub(self.now());
        self.service.submit(
            request.clone(),
            within,
            Box::new(move |reply| {
                *theirs.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
                theirs.1.notify_one();
            }),
        );
        let mut reply = desk.0.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(reply) = reply.take() {
                return Ok(reply);
            }
            let left = ends.saturating_sub(self.now());
            if left.is_zero() {
                return Err(TransportError::new(Phase::Wait, TransportErrorKind::TimedOut(within)));
            }
            drop(desk.1.wait_timeout(reply, left.min(SLICE)).unwrap_or_else(PoisonError::into_inner));
            if self.is_closed() || give_up() {
                return Err(TransportError::new(Phase::Wait, TransportErrorKind::Cancelled));
            }
            reply = desk.0.lock().unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until `until`; gives whether the caller has given up.
    fn pause(&self, until: Duration, give_up: GiveUp<'_>) -> bool {
        let left = until.saturating_sub(self.now()).min(SLICE);
        let nothing = (Mutex::new(()), Condvar::new());
        let guard = nothing.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(nothing.1.wait_timeout(guard, left));
        self.is_closed() || give_up()
    }

    /// Why a node takes nothing any longer, where that is what it said.
    pub(super) fn refusal_for_good(reply: &Reply) -> Option<RefusalReason> {
        let Reply::Failed(fault) = reply else { return None };
        let reason = fault.refusal.as_ref()?.reason;
        matches!(reason, RefusalReason::Closed | RefusalReason::Quiescing).then_some(reason)
    }
}

impl Driver for Direct {
    fn perform(
        &self,
        mut invocation: Invocation,
        timeout: Option<Duration>,
        give_up: GiveUp<'_>,
    ) -> Result<(Product, Trail), NamingError> {
        if self.is_closed() {
            return Err(closed(&invocation));
        }
        if let Some(product) = self.at_once(&mut invocation) {
            return Ok((product, self.trail_at_once()));
        }
        let mut call = Call::new(invocation, &self.config, self.now(), timeout.unwrap_or(self.config.timeout));
        let mut input = Input::Start;
        loop {
            let output = call.step(&mut self.fleet(), self.now(), input);
            input = match output {
                Output::Done(result) => {
                    if let Ok(product) = &result {
                        self.leases.note(call.invocation(), product);
                    }
                    return result.map(|product| (product, call.take_trail()));
                }
                Output::Wait { until } => {
                    if self.pause(until, give_up) {
                        return Err(self.abandoned(&mut call, false));
                    }
                    Input::Woke
                }
                Output::Send(send) => match self.ask(call.request(), send.ends, give_up) {
                    Ok(reply) => {
                        if let Some(reason) = Self::refusal_for_good(&reply) {
                            return Err(call.refused_for_good(&mut self.fleet(), self.now(), reason));
                        }
                        Input::Reply(reply)
                    }
                    Err(error) if error.kind == TransportErrorKind::Cancelled => {
                        return Err(self.abandoned(&mut call, true));
                    }
                    Err(error) => Input::Broke { error, reused: false },
                },
            };
        }
    }

    fn watch(&self, name: Name, scope: WatchScope, initial: bool) -> Result<Watch, NamingError> {
        self.watches.begin(name, scope, initial)
    }

    fn give_back(&self, name: &Name) -> Releasing {
        self.leases.give_back(name)
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.watches.close();
        self.leases.close().wait();
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Direct {
    fn abandoned(&self, call: &mut Call, left: bool) -> NamingError {
        let error = call.abandon(&mut self.fleet(), self.now(), left);
        if self.is_closed() { closed_under(error) } else { error }
    }
}

#[expect(clippy::disallowed_methods, reason = "the in-process driver reads the clock here and nowhere else")]
fn instant_now() -> Instant {
    Instant::now()
}
