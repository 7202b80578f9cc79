//! One program in the simulated world: its fleet, and one call after the other.

use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::client::balancer::{Attempts, Failure, Sequel, Step};
use crate::client::{ClientConfig, Elections, Fleet, LOOK_EVERY, Metrics, Names, Target, TargetId};
use crate::discovery::Source;
use crate::discovery::dns::DnsConfig;
use crate::failure::verdict::Need;
use crate::failure::{Action, Category, CompletionStatus};

use super::scenario::Scenario;
use super::world::{Connection, World};

/// How one call ended.
pub(super) enum Ended {
    /// This server answered.
    Answered(usize),
    /// None did.
    Failed,
}

/// A connection, and the last view that came over it.
#[derive(Debug)]
struct Link {
    target: TargetId,
    connection: Connection,
    view: Option<u64>,
}

#[derive(Debug)]
pub(super) struct Client {
    fleet: Fleet,
    rng: StdRng,
    call_every: Duration,
    /// The call under way, and until when it waits.
    call: Option<(Attempts, Duration)>,
    next_call: Duration,
    /// When something is due in the fleet, as far as that was looked at.
    due: Option<Duration>,
    connections: Vec<Link>,
    /// It heeds what servers tell of each other.
    views: bool,
    /// It stays with one server, and servers say how many do.
    stays: bool,
    /// The fleet as it was when connections were looked through.
    revision: u64,
    last: Option<usize>,
}

impl Client {
    pub(super) fn new(scenario: &Scenario, elections: &Arc<Elections>, seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let dns = DnsConfig { refresh: scenario.refresh, ..DnsConfig::default() };
        let config = ClientConfig {
            policy: scenario.policy,
            dns,
            follow_views: scenario.views,
            ..ClientConfig::over(vec![Source::Host(World::name())])
        };
        let mut fleet = Fleet::new(&config, Arc::clone(elections), Names::Resolved, rng.random());
        if scenario.told_loads {
            fleet.have_looks();
        }
        let revision = fleet.revision();
        let next_call = scenario.call_every.mul_f64(rng.random());
        Self {
            fleet,
            rng,
            call_every: scenario.call_every,
            call: None,
            next_call,
            due: None,
            connections: Vec::new(),
            views: scenario.views,
            stays: scenario.policy.elects() && scenario.told_loads,
            revision,
            last: None,
        }
    }

    /// When it first has something to do.
    pub(super) fn first(&self) -> Duration {
        self.next_call
    }

    /// Does what is due. Gives when there is something to do again; what came of its call is told to `ended`.
    pub(super) fn wake(&mut self, world: &mut World, now: Duration, ended: &mut impl FnMut(Ended)) -> Duration {
        if self.stays || self.due.is_none_or(|due| due <= now) {
            self.tend(world, now);
        }
        self.go_on(world, now, ended);
        if self.fleet.next_due().is_some_and(|due| due <= now) {
            // What the call has told the fleet made something due at once.
            self.tend(world, now);
        }
        self.drop_connections(world);
        if self.stays {
            self.stay(world, now);
        }
        self.due = self.fleet.next_due();
        let next = self.call.as_ref().map_or(self.next_call, |(_, until)| *until);
        self.due.map_or(next, |due| due.min(next)).max(now + MOMENT)
    }

    /// What the background does for a client.
    fn tend(&mut self, world: &World, now: Duration) {
        for question in self.fleet.questions_due(now) {
            self.fleet.told(&question, world.resolve(), now);
        }
        for (id, endpoint) in self.fleet.probes_due(now) {
            self.fleet.connected(id, world.at(endpoint.socket_addr()).is_some(), now, now);
        }
        let looks = self.fleet.looks_due(now);
        if !looks.is_empty() {
            let load = |(id, server)| (id, world.connections(server));
            let answering = looks.into_iter().filter_map(|(id, endpoint)| Some((id, world.at(endpoint.socket_addr())?)));
            let loads: Vec<(TargetId, u64)> = answering.map(load).collect();
            self.fleet.saw_loads(&loads, now);
        }
    }

    /// When it will have noticed what happens to the world just now, without a call: only those do that stay with a server.
    pub(super) fn notices(&mut self, now: Duration) -> Option<Duration> {
        let looks = self.stays && self.fleet.stays_with().is_some();
        looks.then(|| now + LOOK_EVERY.mul_f64(self.rng.random()))
    }

    /// Whom it stays with.
    pub(super) fn stays_with(&self) -> Option<TargetId> {
        if self.stays { self.fleet.stays_with().map(|(id, _)| id) } else { None }
    }

    /// Has a connection to the server that it stays with, as the background sees to it.
    fn stay(&mut self, world: &mut World, now: Duration) {
        while let Some((id, endpoint)) = self.fleet.stays_with() {
            let Some(server) = world.at(endpoint.socket_addr()) else {
                // Who can't be reached is left for another one, as long as there are any.
                self.fleet.connected(id, false, now, now);
                continue;
            };
            self.connect(world, id, server, now);
            // A view may have had it elect another.
            if self.stays_with() == Some(id) {
                break;
            }
        }
        self.drop_connections(world);
    }

    /// Goes on with the call under way, or begins one where that is due.
    fn go_on(&mut self, world: &mut World, now: Duration, ended: &mut impl FnMut(Ended)) {
        let mut call = match self.call.take() {
            Some((call, _)) => call,
            None if self.next_call > now => return,
            None => {
                self.next_call = now + self.call_every.mul_f64(self.rng.random_range(0.5..1.5));
                Attempts::new(NEED, now, ClientConfig::DEFAULT_TIMEOUT)
            }
        };
        loop {
            match call.next(&mut self.fleet, now) {
                Step::Call(id) => {
                    let address = self.fleet.target(id).and_then(|target| target.address);
                    if let Some(server) = world.at(address) {
                        call.succeeded(&mut self.fleet, now);
                        self.answered(world, id, server, now);
                        return ended(Ended::Answered(server));
                    }
                    if call.failed(&mut self.fleet, now, refused()) != Sequel::Again {
                        return ended(Ended::Failed);
                    }
                }
                Step::Wait { until } => {
                    self.call = Some((call, until));
                    return;
                }
                Step::Over(_) => return ended(Ended::Failed),
            }
        }
    }

    fn answered(&mut self, world: &mut World, target: TargetId, server: usize, now: Duration) {
        self.last = Some(server);
        self.connect(world, target, server, now);
    }

    /// Has a connection to a server, and heeds what it tells.
    fn connect(&mut self, world: &mut World, target: TargetId, server: usize, now: Duration) {
        let known = self.connections.iter().position(|link| link.target == target);
        let at = known.unwrap_or_else(|| {
            self.connections.push(Link { target, connection: world.connect(server), view: None });
            self.connections.len() - 1
        });
        let link = &mut self.connections[at];
        if !world.stands(link.connection) {
            *link = Link { target, connection: world.connect(server), view: None };
        }
        let view = world.view();
        if self.views && link.view != Some(view.id()) {
            link.view = Some(view.id());
            self.fleet.saw_view(target, view, now);
        }
    }

    fn drop_connections(&mut self, world: &mut World) {
        if self.fleet.revision() == self.revision {
            return;
        }
        self.revision = self.fleet.revision();
        let fleet = &self.fleet;
        self.connections.retain(|link| {
            let kept = fleet.target(link.target).is_some_and(Target::keeps_connections);
            if !kept {
                world.disconnect(link.connection);
            }
            kept
        });
    }

    /// What it has counted, and whose answer it had last.
    pub(super) fn counted(&self) -> (Metrics, Option<usize>) {
        (self.fleet.metrics(), self.last)
    }
}

/// No client is woken twice in less.
const MOMENT: Duration = Duration::from_micros(100);
/// Lookups: they may be sent again.
const NEED: Need = Need { idempotent: true, value: true };

fn refused() -> Failure {
    Failure {
        category: Category::NotConnected,
        completion: Some(CompletionStatus::No),
        action: Action::Failover,
        action_if_idempotent: Action::Failover,
        words: String::new(),
    }
}
