//! The run of a plan: engines behind failure detectors, processes that freeze inside a handler, clients that retry.

use std::collections::BTreeMap;
use std::time::Duration;

use hanaming::cluster::engine::{Input, Output, Timing};
use hanaming::cluster::reply::Reply;
use hanaming::cluster::rules::Rules;
use hanaming::cluster::vector::Seen;
use hanaming::naming::Name;

use crate::campaign::{Plan, Tally};
use crate::network::{Network, Weather};
use crate::random::Dice;
use crate::schedule::{Schedule, ms};

use super::client::{ATTEMPT, Client};
use super::host::{Delivery, Host, PULSE, id, index};
use super::plan::{Action, Faults, names};

/// Between nodes: connections, so nothing is lost or repeated while they hold.
const LINK: Weather = Weather { loss: 0, repeats: 0, late: 0, delay: ms(4), lateness: ms(4) };

/// When the plan begins; engines and detectors run by then.
const START: Duration = ms(2000);

/// How long everything may take until all nodes are equal again.
const SETTLING: Duration = ms(5000);

/// What can happen next.
enum Event {
    Act(usize),
    Deliver { node: usize, delivery: Delivery },
    Thaw { node: usize },
    Restart { node: usize },
    Heal,
    Reply { client: usize, handle: u64, reply: Reply, token: Option<Seen> },
    Begin { client: usize },
    Again { client: usize, handle: u64 },
}

/// Everything there is.
pub struct World {
    /// The nodes.
    pub hosts: Vec<Host>,
    /// The clients.
    pub clients: Vec<Client>,
    /// The names.
    pub names: Vec<Name>,
    network: Network,
    /// Until when each direction stalls.
    stalls: BTreeMap<(usize, usize), Duration>,
    schedule: Schedule<Event>,
    dice: Dice,
    faults: Faults,
    counts: Tally,
    violation: Option<String>,
    /// Tell on standard error what happens.
    is_traced: bool,
}

impl World {
    /// The world before the plan.
    pub fn new(plan: &Plan<Action>, faults: Faults, timing: Timing, rules: Rules) -> Self {
        let dice = Dice::new(plan.seed, 12);
        let now = START.saturating_sub(ms(100));
        let hosts: Vec<Host> =
            (0..plan.nodes).map(|n| Host::new(n, plan.nodes, Dice::new(plan.seed, 100 + n as u64), timing, rules, now)).collect();
        let mut world = Self {
            hosts,
            clients: (0..3).map(|number| Client::new(number + 1)).collect(),
            names: names(),
            network: Network::new(Dice::new(plan.seed, 13), LINK),
            stalls: BTreeMap::new(),
            schedule: Schedule::new(now),
            dice,
            faults,
            counts: Tally::default(),
            violation: None,
            is_traced: std::env::var_os("SIMULATION_TRACE").is_some(),
        };
        for node in 0..plan.nodes {
            let first = Duration::from_micros(world.dice.below(100_000));
            world.schedule.add(first, Event::Deliver { node, delivery: Delivery::Beat });
            let outputs = world.hosts[node].members(now).unwrap_or_default();
            world.release(node, outputs);
            world.wake(node);
        }
        world
    }

    /// What was done.
    pub fn tally(&self) -> Tally {
        self.counts
    }

    /// Runs the plan until all clients are done and all nodes had time to become equal.
    pub fn run(&mut self, plan: &Plan<Action>) -> Result<(), String> {
        for (number, (at, _)) in plan.actions.iter().enumerate() {
            self.schedule.add_at(START + *at, Event::Act(number));
        }
        let mut left = plan.actions.len();
        let mut end = None;
        while let Some(event) = self.schedule.next() {
            match event {
                Event::Act(number) => {
                    left -= 1;
                    self.act(&plan.actions[number].1);
                }
                event => self.happen(event),
            }
            if let Some(violation) = self.violation.take() {
                return Err(violation);
            }
            let is_done = left == 0 && self.clients.iter().all(|client| client.calls.is_empty());
            let is_calm = is_done && self.hosts.iter().all(|host| !host.frozen && !host.crashed && host.freeze_next.is_none());
            match end {
                None if is_calm => end = Some(self.schedule.now() + SETTLING),
                None if is_done => self.hosts.iter_mut().for_each(|host| host.freeze_next = None),
                Some(end) if self.schedule.now() > end => break,
                _ => {}
            }
        }
        Ok(())
    }

    fn act(&mut self, action: &Action) {
        match *action {
            Action::Call { client, call } => {
                self.clients[client].calls.push_back(call);
                self.schedule.add(Duration::ZERO, Event::Begin { client });
            }
            Action::Freeze { node, sent, lasting } => {
                // One node at least goes on.
                let still = self.hosts.iter().filter(|host| host.crashed || host.frozen || host.freeze_next.is_some()).count();
                if still + 1 < self.hosts.len() && !self.hosts[node].frozen && !self.hosts[node].crashed {
                    self.counts.faults += 1;
                    self.hosts[node].freeze_next = Some((sent, lasting));
                }
            }
            Action::Crash { node, lasting } => {
                // One node at least lives on.
                let still = self.hosts.iter().filter(|host| host.crashed || host.frozen).count();
                if still + 1 < self.hosts.len() && !self.hosts[node].crashed {
                    self.counts.faults += 1;
                    if self.hosts[node].crash() {
                        self.schedule.add(PULSE, Event::Deliver { node, delivery: Delivery::Beat });
                    }
                    self.trace(|| format!("n{node} dies for {lasting:?}"));
                    self.schedule.add(lasting, Event::Restart { node });
                }
            }
            Action::Split { side, lasting } => {
                self.counts.faults += 1;
                self.network.split(self.hosts.len(), side);
                self.trace(|| format!("split: {side:b}"));
                self.schedule.add(lasting, Event::Heal);
            }
            Action::Stall { from, to, lasting } => {
                self.counts.faults += 1;
                let until = self.schedule.now() + lasting;
                let stalled = self.stalls.entry((from, to)).or_default();
                *stalled = until.max(*stalled);
            }
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Deliver { node, delivery } if self.hosts[node].crashed => {
                if matches!(delivery, Delivery::Beat) {
                    self.schedule.add(PULSE, Event::Deliver { node, delivery });
                }
            }
            Event::Deliver { node, delivery } if self.hosts[node].frozen => self.hosts[node].inbox.push(delivery),
            Event::Deliver { node, delivery } => self.deliver(node, delivery),
            Event::Thaw { node } if self.hosts[node].frozen => self.thaw(node),
            Event::Act(_) | Event::Thaw { .. } => {}
            Event::Heal => self.heal(),
            Event::Restart { node } => {
                let now = self.schedule.now();
                let outputs = self.hosts[node].restart(now).unwrap_or_default();
                self.trace(|| format!("n{node} starts again"));
                self.release(node, outputs);
                self.wake(node);
            }
            Event::Reply { client, handle, reply, token } => self.replied(client, handle, reply, token.as_ref()),
            Event::Begin { client } => {
                if self.clients[client].begin(self.schedule.now()) {
                    self.counts.operations += 1;
                    self.attempt(client);
                }
            }
            Event::Again { client, handle } => {
                if self.clients[client].handle() == handle && self.clients[client].began.is_some() {
                    self.attempt(client);
                }
            }
        }
    }

    /// Links are made again where they were cut.
    fn heal(&mut self) {
        for (node, peer) in self.network.heal() {
            let delivery = Delivery::Request(Input::Reconnected { peer: id(peer) });
            self.schedule.add(Duration::ZERO, Event::Deliver { node, delivery });
        }
    }

    fn deliver(&mut self, node: usize, delivery: Delivery) {
        let now = self.schedule.now();
        let mut outputs = Vec::new();
        self.trace(|| format!("n{node} ← {delivery:?}"));
        match &delivery {
            Delivery::Beat => {
                for to in (0..self.hosts.len()).filter(|to| *to != node) {
                    self.post(node, to, &Delivery::Pulse { from: node });
                }
                self.schedule.add(PULSE, Event::Deliver { node, delivery: Delivery::Beat });
            }
            Delivery::Wake => self.hosts[node].wake_at = Duration::MAX,
            Delivery::Pulse { .. } => {}
            Delivery::Message { .. } | Delivery::Request(_) => self.counts.messages += 1,
        }
        let is_pulse = matches!(delivery, Delivery::Pulse { .. } | Delivery::Beat);
        match self.hosts[node].handle(now, delivery) {
            Ok(more) => outputs.extend(more),
            Err(violation) => self.violation = Some(format!("n{node}: {violation}")),
        }
        let freeze = if is_pulse && outputs.is_empty() { None } else { self.hosts[node].freeze_next.take() };
        if let Some((sent, lasting)) = freeze {
            let held = outputs.split_off(sent.min(outputs.len()));
            let host = &mut self.hosts[node];
            host.held = held;
            host.frozen = true;
            self.trace(|| format!("n{node} freezes for {lasting:?}, {sent} messages having left"));
            self.schedule.add(lasting, Event::Thaw { node });
        }
        self.release(node, outputs);
        self.wake(node);
    }

    fn thaw(&mut self, node: usize) {
        self.hosts[node].frozen = false;
        self.trace(|| format!("n{node} thaws"));
        let held = std::mem::take(&mut self.hosts[node].held);
        self.release(node, held);
        let mut inbox = std::mem::take(&mut self.hosts[node].inbox);
        if self.dice.chance(500) {
            // The timers may be seen before what came in meanwhile.
            inbox.sort_by_key(|delivery| !matches!(delivery, Delivery::Beat | Delivery::Wake));
        }
        for delivery in inbox {
            if self.hosts[node].frozen {
                self.hosts[node].inbox.push(delivery);
            } else {
                self.deliver(node, delivery);
            }
        }
    }

    fn release(&mut self, node: usize, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Send { to, message } => self.post(node, index(to), &Delivery::Message { from: node, message }),
                Output::Answer { asker, reply, token } => {
                    self.check_receipt(&reply);
                    let client = usize::try_from(asker >> 40).unwrap() - 1;
                    if !self.dice.chance(self.faults.lost_replies) {
                        let delay = self.delay();
                        self.schedule.add(delay, Event::Reply { client, handle: asker, reply, token });
                    }
                }
                _ => {}
            }
        }
    }

    fn post(&mut self, from: usize, to: usize, delivery: &Delivery) {
        let stalled = self.stalls.get(&(from, to)).map_or(Duration::ZERO, |until| until.saturating_sub(self.schedule.now()));
        for delay in self.network.delays(from, to) {
            let delay = delay + stalled;
            self.schedule.add(delay, Event::Deliver { node: to, delivery: delivery.clone() });
        }
    }

    fn wake(&mut self, node: usize) {
        let host = &mut self.hosts[node];
        let at = host.engine.next_wake();
        if at < host.wake_at {
            host.wake_at = at;
            self.schedule.add_at(at, Event::Deliver { node, delivery: Delivery::Wake });
        }
    }

    fn attempt(&mut self, client: usize) {
        let (now, nodes) = (self.schedule.now(), self.hosts.len());
        match self.clients[client].attempt(now, &self.names, nodes, &mut self.dice) {
            Some((target, handle, request)) => {
                let request = Delivery::Request(Input::Request { asker: handle, request });
                let delay = self.delay();
                self.schedule.add(delay, Event::Deliver { node: target, delivery: request });
                self.schedule.add(ATTEMPT, Event::Again { client, handle });
            }
            None => self.next_call(client),
        }
    }

    fn replied(&mut self, client: usize, handle: u64, reply: Reply, token: Option<&Seen>) {
        self.trace(|| format!("client {client} ← {reply:?}"));
        match self.clients[client].replied(handle, reply, token) {
            Some(true) => self.schedule.add(ms(2), Event::Again { client, handle }),
            Some(false) => self.next_call(client),
            None => {}
        }
    }

    fn next_call(&mut self, client: usize) {
        let pause = Duration::from_micros(self.dice.below(20_000));
        self.schedule.add(pause, Event::Begin { client });
    }

    fn delay(&mut self) -> Duration {
        Duration::from_micros(500 + self.dice.below(4000))
    }

    fn trace(&self, what: impl FnOnce() -> String) {
        if self.is_traced {
            let what = what();
            if !["Pulse", "Beat", "Wake"].iter().any(|dull| what.ends_with(dull) || what.contains("Pulse")) {
                eprintln!("{:>12?} {what}", self.schedule.now());
            }
        }
    }

    /// An acknowledgement names the nodes on which the write is held: there it was seen, or what replaced it was.
    fn check_receipt(&mut self, reply: &Reply) {
        let Reply::Done { version: Some(dot), receipt } = reply else { return };
        let holds = |node: usize| {
            let replica = self.hosts[node].engine.replica();
            replica.seen().has(*dot) || replica.records().any(|(_, record)| record.history.get(*dot).is_some())
        };
        if let Some(node) = receipt.acked_by.iter().copied().map(index).find(|node| !holds(*node)) {
            self.violation = Some(format!("{dot} was acknowledged as held by {:?}, which has not seen it", id(node)));
        }
    }
}
