//! The run of a plan: engines behind failure detectors, processes that freeze inside a handler, clients that retry.

use std::collections::BTreeMap;
use std::time::Duration;

use hanaming::cluster::engine::{Input, Output, Timing};
use hanaming::cluster::reply::Reply;
use hanaming::cluster::rules::Rules;
use hanaming::cluster::vector::{Dot, Seen};
use hanaming::naming::Name;

use crate::campaign::{Plan, Tally};
use crate::network::{Network, Weather};
use crate::random::Dice;
use crate::schedule::{Schedule, ms};

use super::client::Client;
use super::host::{Delivery, Host, PULSE, id, index};
use super::lease::{Holder, RENEWED_EVERY, holder_of};
use super::plan::{Action, Faults, What, names};

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
    Resume { node: usize },
    Renew { client: usize },
    Renewed { client: usize, handle: u64, reply: Reply },
    Sight { client: usize, handle: u64, sight: Option<(Seen, Vec<Dot>)> },
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
    /// Their leases.
    holders: Vec<Option<Holder>>,
    /// Who renews none any longer.
    left: [bool; 3],
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
            holders: vec![None, None, None],
            left: [false; 3],
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

    /// The time.
    pub fn now(&self) -> Duration {
        self.schedule.now()
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
            let is_well = |host: &Host| !host.frozen && !host.crashed && !host.suspended && host.freeze_next.is_none();
            let is_calm = is_done && self.hosts.iter().all(is_well);
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
                if self.may_strike(node) {
                    self.counts.faults += 1;
                    self.hosts[node].freeze_next = Some((sent, lasting));
                }
            }
            Action::Crash { node, lasting } => {
                // One node at least lives on.
                let still = self.hosts.iter().filter(|host| host.crashed || host.frozen || host.suspended).count();
                if still + 1 < self.hosts.len() && !self.hosts[node].crashed {
                    self.counts.faults += 1;
                    if self.hosts[node].crash() {
                        self.schedule.add(PULSE, Event::Deliver { node, delivery: Delivery::Beat });
                    }
                    self.trace(|| format!("n{node} dies for {lasting:?}"));
                    self.break_links(node);
                    self.schedule.add(lasting, Event::Restart { node });
                }
            }
            Action::Split { side, lasting } => {
                self.counts.faults += 1;
                self.network.split(self.hosts.len(), side);
                self.trace(|| format!("split: {side:b}"));
                self.schedule.add(lasting, Event::Heal);
            }
            Action::Suspend { node, lasting } => {
                if self.may_strike(node) {
                    self.counts.faults += 1;
                    self.hosts[node].suspended = true;
                    self.trace(|| format!("n{node}'s disk is full for {lasting:?}"));
                    self.schedule.add(lasting, Event::Resume { node });
                }
            }
            Action::Leave { client } => {
                self.left[client] = true;
                if let Some(holder) = &mut self.holders[client] {
                    holder.has_left = true;
                }
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
            Event::Heal => self.heal(),
            Event::Resume { node } if self.hosts[node].suspended => {
                self.trace(|| format!("n{node}'s disk has room"));
                match self.hosts[node].resume(self.schedule.now()) {
                    Ok(outputs) => self.release(node, outputs),
                    Err(violation) => self.violation = Some(format!("n{node}: {violation}")),
                }
                self.wake(node);
            }
            Event::Act(_) | Event::Thaw { .. } | Event::Resume { .. } => {}
            Event::Renew { client } => self.renew(client),
            Event::Renewed { client, handle, reply } => {
                if let Some(holder) = &mut self.holders[client] {
                    holder.answered(handle, &reply);
                }
            }
            Event::Sight { client, handle, sight } => match self.clients[client].shown(handle, sight) {
                Ok(Some(true)) => self.schedule.add(ms(2), Event::Again { client, handle }),
                Ok(Some(false)) => self.next_call(client),
                Ok(None) => {}
                Err(violation) => self.violation = Some(violation),
            },
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

    /// One node at least goes on.
    fn may_strike(&self, node: usize) -> bool {
        let is_struck = |host: &Host| host.crashed || host.frozen || host.suspended || host.freeze_next.is_some();
        let struck = self.hosts.iter().filter(|host| is_struck(host)).count();
        let host = &self.hosts[node];
        struck + 1 < self.hosts.len() && !host.frozen && !host.crashed && !host.suspended
    }

    /// The others notice that the connections of a process that died have ended.
    fn break_links(&mut self, node: usize) {
        for other in (0..self.hosts.len()).filter(|other| *other != node) {
            if self.network.reaches(node, other) {
                let delay = self.delay();
                let delivery = Delivery::Request(Input::Disconnected { peer: id(node) });
                self.schedule.add(delay, Event::Deliver { node: other, delivery });
            }
        }
    }

    fn renew(&mut self, client: usize) {
        let now = self.schedule.now();
        let Some(holder) = self.holders[client].as_mut().filter(|holder| !holder.has_left) else { return };
        let (asker, request) = holder.renew(now);
        self.counts.operations += 1;
        let (node, delay) = (self.dice.index(self.hosts.len()), self.delay());
        let delivery = Delivery::Request(Input::Request { asker, request });
        self.schedule.add(delay, Event::Deliver { node, delivery });
        self.schedule.add(RENEWED_EVERY, Event::Renew { client });
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
        self.check_leases(node);
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
                    let event = match holder_of(asker) {
                        Some(client) => Event::Renewed { client, handle: asker, reply },
                        None => Event::Reply { client: client_of(asker), handle: asker, reply, token },
                    };
                    self.answer(event);
                }
                Output::Readable { asker, is_current } => {
                    let client = client_of(asker);
                    let sight = is_current.then(|| self.sight(node, client));
                    self.answer(Event::Sight { client, handle: asker, sight });
                }
                _ => {}
            }
        }
    }

    /// An answer is on its way to a client, or lost.
    fn answer(&mut self, event: Event) {
        if !self.dice.chance(self.faults.lost_replies) {
            let delay = self.delay();
            self.schedule.add(delay, event);
        }
    }

    /// What a client is shown that looks now, and all that the node has seen.
    fn sight(&self, node: usize, client: usize) -> (Seen, Vec<Dot>) {
        let replica = self.hosts[node].engine.replica();
        let call = self.clients[client].calls.front();
        let record = call.and_then(|call| replica.record(&self.names[call.at]));
        (replica.seen().clone(), record.into_iter().flat_map(|record| &record.siblings).map(|sibling| sibling.dot).collect())
    }

    fn check_leases(&mut self, node: usize) {
        let replica = self.hosts[node].engine.replica();
        for holder in self.holders.iter().flatten() {
            if let Err(violation) = holder.check(replica, self.schedule.now()) {
                self.violation = Some(format!("n{node}: {violation}"));
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
        if at < host.wake_at && !host.suspended {
            host.wake_at = at;
            self.schedule.add_at(at, Event::Deliver { node, delivery: Delivery::Wake });
        }
    }

    fn attempt(&mut self, client: usize) {
        let (now, nodes) = (self.schedule.now(), self.hosts.len());
        match self.clients[client].attempt(now, &self.names, nodes, &mut self.dice) {
            Some((target, handle, request)) => {
                let delay = self.delay();
                self.schedule.add(delay, Event::Deliver { node: target, delivery: Delivery::Request(request) });
                let patience = self.clients[client].patience();
                self.schedule.add(patience, Event::Again { client, handle });
            }
            None => self.next_call(client),
        }
    }

    fn replied(&mut self, client: usize, handle: u64, reply: Reply, token: Option<&Seen>) {
        self.trace(|| format!("client {client} ← {reply:?}"));
        self.begin_lease(client, handle, &reply);
        match self.clients[client].replied(handle, reply, token) {
            Some(true) => self.schedule.add(ms(2), Event::Again { client, handle }),
            Some(false) => self.next_call(client),
            None => {}
        }
    }

    /// A client that was given a lease begins to renew it.
    fn begin_lease(&mut self, client: usize, handle: u64, reply: &Reply) {
        let asking = &self.clients[client];
        let (Some(began), Some(call)) = (asking.began.filter(|_| asking.handle() == handle), asking.calls.front()) else {
            return;
        };
        if let (What::Lease(_), Reply::Done { version: Some(version), .. }) = (call.what, reply) {
            let mut holder = Holder::new(client, self.names[call.at].clone(), (*version, asking.operation()), began);
            holder.has_left = self.left[client];
            self.holders[client] = Some(holder);
            self.schedule.add(RENEWED_EVERY, Event::Renew { client });
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

/// The client whose call bears this handle.
fn client_of(handle: u64) -> usize {
    usize::try_from(handle >> 40).unwrap() - 1
}
