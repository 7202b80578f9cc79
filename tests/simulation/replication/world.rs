//! The run of a plan: time, network, disks and processes around the replicas.

use std::time::Duration;

use hanaming::cluster::history::{Digest, Outcome};
use hanaming::cluster::replica::Draft;
use hanaming::cluster::rules::{Rule, Rules};
use hanaming::cluster::store::{Store, Transaction};
use hanaming::cluster::sync::Progress;
use hanaming::cluster::vector::Dot;
use hanaming::naming::{Content, EntryKind, Name};
use hanaming::protocol::OperationId;

use crate::campaign::{Plan, Tally};
use crate::disk::Fate;
use crate::network::{Network, Weather};
use crate::random::Dice;
use crate::schedule::{Schedule, ms};

use super::host::{Effects, Host, Message, names};
use super::ledger::Ledger;
use super::plan::{Action, NAMES};

/// A bad network: much is late, up to a hundred actions long.
const BAD: Weather = Weather { loss: 100, repeats: 150, late: 350, delay: ms(40), lateness: ms(1200) };

/// What can happen next.
pub enum Event {
    /// The plan's next action.
    Act(usize),
    /// A message arrives at a process.
    Arrive { from: usize, to: usize, message: Message },
    /// A node's commit is through.
    Commit { node: usize, life: u64 },
    /// A node's disk works again.
    Recover { node: usize },
}

/// Everything there is.
pub struct World {
    pub(super) rules: Rules,
    pub(super) names: Vec<Name>,
    pub(super) hosts: Vec<Host>,
    pub(super) network: Network,
    pub(super) schedule: Schedule<Event>,
    pub(super) ledger: Ledger,
    pub(super) counts: Tally,
    dice: Dice,
    written: u64,
}

impl World {
    /// The world before the plan.
    pub fn new(plan: &Plan<Action>, rules: Rules) -> Self {
        let dice = |purpose| Dice::new(plan.seed, purpose);
        let mut hosts: Vec<Host> = (0..plan.nodes).map(|index| Host::new(index, dice(100 + index as u64))).collect();
        for host in &mut hosts {
            host.start(rules);
        }
        Self {
            rules,
            names: names(NAMES),
            hosts,
            network: Network::new(dice(2), BAD),
            schedule: Schedule::new(Duration::ZERO),
            ledger: Ledger::new(NAMES),
            counts: Tally::default(),
            dice: dice(3),
            written: 0,
        }
    }

    /// What was done.
    pub fn tally(&self) -> Tally {
        self.counts
    }

    /// The safety phase: the plan's actions and all that follows from them while they last.
    pub fn run(&mut self, plan: &Plan<Action>) -> Result<(), String> {
        self.plan_next(plan, 0);
        let mut left = plan.actions.len();
        while left > 0 {
            let Some(event) = self.schedule.next() else { break };
            if let Event::Act(index) = event {
                left -= 1;
                self.plan_next(plan, index + 1);
                self.act(&plan.actions[index].1)?;
            } else {
                self.happen(event)?;
            }
        }
        Ok(())
    }

    /// One action at a time is in the schedule, which is short then.
    fn plan_next(&mut self, plan: &Plan<Action>, index: usize) {
        if let Some((at, _)) = plan.actions.get(index) {
            self.schedule.add_at(*at, Event::Act(index));
        }
    }

    /// What is not of the plan.
    pub(super) fn happen(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Act(_) => Ok(()),
            Event::Arrive { from, to, message } => {
                let until = self.hosts[to].frozen_until;
                if until > self.schedule.now() {
                    self.schedule.add_at(until, Event::Arrive { from, to, message });
                    return Ok(());
                }
                self.counts.messages += 1;
                self.arrive(from, to, message)
            }
            Event::Commit { node, life } => {
                let until = self.hosts[node].frozen_until;
                if until > self.schedule.now() {
                    self.schedule.add_at(until, Event::Commit { node, life });
                } else if self.hosts[node].life == life && self.hosts[node].replica.is_some() {
                    self.commit(node);
                }
                Ok(())
            }
            Event::Recover { node } => {
                self.hosts[node].disk.ailment = None;
                self.start(node);
                Ok(())
            }
        }
    }

    fn act(&mut self, action: &Action) -> Result<(), String> {
        self.counts.faults += u64::from(action.is_fault());
        match *action {
            Action::Write { node, name } => self.write(node, name, true)?,
            Action::Remove { node, name } => self.write(node, name, false)?,
            Action::Pull { node, from } => self.pull(node, from),
            Action::Purge { node } => self.purge(node),
            Action::Cut { from, to } => self.network.cut(from, to),
            Action::Split { side } => self.network.split(self.hosts.len(), side),
            Action::Heal => drop(self.network.heal()),
            Action::Crash { node, fate } => self.crash(node, fate),
            Action::Start { node } => self.start(node),
            Action::Wipe { node } => {
                self.crash(node, Fate::Lost);
                self.hosts[node].lose_data();
                self.start(node);
            }
            Action::Freeze { node, lasting } => self.hosts[node].frozen_until = self.schedule.now() + lasting,
            Action::Backup { node } => self.hosts[node].backup = self.hosts[node].disk.copy(),
            Action::Restore { node } => self.restore(node),
            Action::Ail { node, ailment, lasting } => {
                self.hosts[node].disk.ailment = Some(ailment);
                self.schedule.add(lasting, Event::Recover { node });
            }
        }
        Ok(())
    }

    fn write(&mut self, node: usize, name: usize, binds: bool) -> Result<(), String> {
        let now = self.schedule.now();
        let host = &mut self.hosts[node];
        let Some(replica) = host.replica.as_mut().filter(|_| host.frozen_until <= now && host.disk.ailment.is_none()) else {
            return Ok(());
        };
        let before = replica.record(&self.names[name]).cloned();
        if !self.ledger.has_room(name) || (!binds && before.as_ref().is_none_or(|record| record.is_tombstone())) {
            return Ok(());
        }
        self.counts.operations += 1;
        self.written += 1;
        let content = binds.then(|| Content {
            kind: EntryKind::Value,
            class_name: "int".into(),
            value: self.written.to_le_bytes().to_vec().into(),
            instance: None,
        });
        let operation = OperationId { client: 1, sequence: self.written };
        // Nobody objects here: each write is settled when it is made.
        let event = Some((operation, Digest::default(), Outcome::Done));
        let dot = replica.write(now, &self.names[name], Draft { event, ..Draft::of(operation, content) });
        self.ledger.write(name, dot, binds.then_some(self.written), before.as_deref(), replica)?;
        let record = replica.record(&self.names[name]).cloned().unwrap_or_default();
        let others = (0..self.hosts.len()).filter(|other| *other != node);
        let messages = others.map(|other| (other, Message::Fan { name, record: record.clone() })).collect();
        self.finish(node, Effects { messages, made: vec![dot], holds: vec![dot] });
        Ok(())
    }

    pub(super) fn pull(&mut self, node: usize, from: usize) {
        let host = &mut self.hosts[node];
        if let Some(replica) = host.replica.as_mut().filter(|_| host.frozen_until <= self.schedule.now()) {
            let (request, pull) = replica.begin_pull();
            host.pulls.insert(from, pull);
            self.finish(node, Effects { messages: vec![(from, Message::Ask(request))], ..Effects::default() });
        }
    }

    fn purge(&mut self, node: usize) {
        let now = self.schedule.now();
        if let Some(replica) = &mut self.hosts[node].replica {
            replica.forget_operations(now);
            let everybody = replica.seen().vector().clone();
            self.counts.syncs[2] += replica.purge(now, &everybody) as u64;
            self.finish(node, Effects::default());
        }
    }

    fn arrive(&mut self, from: usize, to: usize, message: Message) -> Result<(), String> {
        let now = self.schedule.now();
        let host = &mut self.hosts[to];
        let Some(replica) = &mut host.replica else { return Ok(()) };
        let mut effects = Effects::default();
        let mut touched = None;
        match message {
            Message::Fan { name, record } => {
                replica.merge(now, &self.names[name], &record, None);
                effects.holds = record.dots().collect();
                touched = Some(name);
            }
            Message::Ask(request) => {
                if replica.is_outrun_by(&request.seen) {
                    replica.renew_actor();
                }
                let parts = replica.answer_pull_in(&request, 1);
                effects.messages = parts.into_iter().map(|part| (from, Message::Part(part))).collect();
            }
            Message::Part(part) => {
                if part.claim.as_ref().is_some_and(|claim| replica.is_outrun_by(&claim.seen)) {
                    replica.renew_actor();
                }
                let Some(pull) = host.pulls.get_mut(&from) else { return Ok(()) };
                match replica.take_part(now, pull, part) {
                    Progress::Complete { full } => {
                        self.counts.syncs[usize::from(full)] += 1;
                        host.pulls.remove(&from);
                    }
                    Progress::Waiting | Progress::Ignored => {}
                }
            }
        }
        self.check(to, touched)?;
        self.finish(to, effects);
        Ok(())
    }

    /// Everything that a node shows is checked after a sync; after a single record, that name.
    fn check(&self, node: usize, touched: Option<usize>) -> Result<(), String> {
        let Some(replica) = &self.hosts[node].replica else { return Ok(()) };
        for (index, name) in self.names.iter().enumerate().filter(|(index, _)| touched.is_none_or(|t| t == *index)) {
            let shown = self.ledger.check_shown(index, replica, replica.record(name).map(AsRef::as_ref));
            shown.map_err(|violation| format!("at {:?} n{node} {violation}", self.schedule.now()))?;
        }
        Ok(())
    }

    /// The end of a step: its effects wait for the disk.
    pub(super) fn finish(&mut self, node: usize, mut effects: Effects) {
        let host = &mut self.hosts[node];
        let Some(replica) = &mut host.replica else { return };
        let transaction = replica.take_transaction();
        if !self.rules.hold(Rule::DurableBeforeSent) {
            let messages = std::mem::take(&mut effects.messages);
            self.send(node, messages);
        }
        let host = &mut self.hosts[node];
        host.uncommitted.push((transaction, effects));
        if host.committing == 0 {
            self.begin_commit(node);
        }
    }

    fn begin_commit(&mut self, node: usize) {
        let host = &mut self.hosts[node];
        host.committing = host.uncommitted.len();
        if host.committing > 0 {
            let lasting = Duration::from_micros(100 + self.dice.below(15_000));
            self.schedule.add(lasting, Event::Commit { node, life: host.life });
        }
    }

    pub(super) fn commit(&mut self, node: usize) {
        let host = &mut self.hosts[node];
        let committing = std::mem::take(&mut host.committing);
        let (group, effects): (Vec<Transaction>, Vec<Effects>) = host.uncommitted.drain(..committing).unzip();
        if host.disk.commit(&group).is_err() {
            // What memory holds is ahead of the disk: it is given up, and loaded again when the disk works.
            self.retract(effects);
            self.crash(node, Fate::Lost);
            return;
        }
        let holder = (node, host.generation);
        for effects in effects {
            self.ledger.hold(holder, &effects.holds);
            self.send(node, effects.messages);
        }
        self.begin_commit(node);
    }

    fn send(&mut self, from: usize, messages: Vec<(usize, Message)>) {
        for (to, message) in messages {
            for delay in self.network.delays(from, to) {
                self.schedule.add(delay, Event::Arrive { from, to, message: message.clone() });
            }
        }
    }

    fn crash(&mut self, node: usize, fate: Fate) {
        let holder = (node, self.hosts[node].generation);
        let (kept, lost) = self.hosts[node].crash(fate);
        let held: Vec<Dot> = kept.into_iter().flat_map(|effects| effects.holds).collect();
        self.ledger.hold(holder, &held);
        self.retract(lost);
    }

    /// What was lost before it left never happened.
    fn retract(&mut self, lost: Vec<Effects>) {
        for dot in lost.into_iter().flat_map(|effects| effects.made) {
            self.ledger.retract(dot);
        }
    }

    pub(super) fn start(&mut self, node: usize) {
        if self.hosts[node].replica.is_none() {
            self.hosts[node].start(self.rules);
        }
    }

    /// A backup takes the place of the data: what was acknowledged since is gone from this node.
    fn restore(&mut self, node: usize) {
        let Some(state) = self.hosts[node].backup.clone() else { return };
        self.crash(node, Fate::Lost);
        let host = &mut self.hosts[node];
        host.lose_data();
        let state = if self.rules.hold(Rule::DotsUsedOnce) { state.detached() } else { state };
        host.disk.replace(Some(state));
        host.start(self.rules);
    }
}
