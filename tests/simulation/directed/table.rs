//! A few engines on a table: messages are carried by hand, time goes on when it is told to.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hanaming::cluster::engine::{Engine, Input, Members, Output, Timing};
use hanaming::cluster::message::Message;
use hanaming::cluster::record::Record;
use hanaming::cluster::replica::{Replica, Retention};
use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::{Intent, Level, Request};
use hanaming::cluster::rules::Rules;
use hanaming::cluster::store::Store;
use hanaming::cluster::vector::Seen;
use hanaming::naming::{Content, Name};
use hanaming::protocol::OperationId;
use hanaming::topology::{NodeId, owner};
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::disk::Disk;
use crate::reader::Reader;
use crate::schedule::ms;

/// The table.
pub struct Table {
    /// The engines.
    pub engines: Vec<Engine>,
    /// The time.
    pub now: Duration,
    /// Whose mail is thrown away, and whose clock stands.
    pub deaf: BTreeSet<usize>,
    /// Whose disk is full: its engine is given nothing, and its driver says so.
    pub full: BTreeSet<usize>,
    /// How long after the one before it a part of a copy arrives, where copies take their time.
    pub slow: Option<Duration>,
    /// Answers to clients: handle, reply, when.
    pub answers: Vec<(u64, Reply, Duration)>,
    /// What else engines said: who, what.
    pub said: Vec<(usize, Output)>,
    /// What each node's readers are shown.
    pub readers: Vec<Reader>,
    /// The messages that were carried.
    pub carried: Vec<(usize, usize, Message)>,
    mail: VecDeque<(usize, usize, Message)>,
    /// Parts of copies that are on their way, and when the first of them arrives.
    parts: VecDeque<(usize, usize, Message)>,
    arrives: Duration,
    disks: Vec<Disk>,
    settings: (Timing, Retention, Rules),
    salt: u64,
}

/// An engine without data.
fn engine(node: usize, salt: u64, (timing, retention, rules): (Timing, Retention, Rules), now: Duration) -> Engine {
    let rng = |purpose: u64| StdRng::seed_from_u64(salt * 1000 + node as u64 * 10 + purpose);
    let replica = Replica::new(Arc::from(format!("n{node}")), Duration::from_secs(1000), rng(1), rules);
    Engine::new(id(node), replica.with_retention(retention), timing, rng(2), rules, now)
}

/// The id of a node.
pub fn id(node: usize) -> NodeId {
    NodeId(node as u128 + 1)
}

impl Table {
    /// So many engines that see each other.
    pub fn new(nodes: usize, timing: Timing, retention: Retention, rules: Rules) -> Self {
        let now = Duration::from_secs(10);
        let settings = (timing, retention, rules);
        let mut table = Self {
            engines: (0..nodes).map(|node| engine(node, 0, settings, now)).collect(),
            now,
            deaf: BTreeSet::new(),
            full: BTreeSet::new(),
            slow: None,
            answers: Vec::new(),
            said: Vec::new(),
            readers: (0..nodes).map(|_| Reader::default()).collect(),
            carried: Vec::new(),
            mail: VecDeque::new(),
            parts: VecDeque::new(),
            arrives: Duration::ZERO,
            disks: (0..nodes).map(|_| Disk::default()).collect(),
            settings,
            salt: 0,
        };
        for node in 0..nodes {
            table.see(node, 0..nodes, nodes);
        }
        table.carry();
        table
    }

    /// The usual table of three.
    pub fn of_three(rules: Rules) -> Self {
        Self::new(3, Timing::default(), Retention::default(), rules)
    }

    /// A node's view becomes this.
    pub fn see(&mut self, node: usize, live: impl IntoIterator<Item = usize>, members: usize) {
        self.see_guests(node, live, [], members);
    }

    /// A node's view becomes this, some joining or leaving.
    pub fn see_guests(
        &mut self,
        node: usize,
        live: impl IntoIterator<Item = usize>,
        guests: impl IntoIterator<Item = usize>,
        members: usize,
    ) {
        let ids = |nodes: &mut dyn Iterator<Item = usize>| nodes.map(id).collect();
        let (live, guests) = (ids(&mut live.into_iter()), ids(&mut guests.into_iter()));
        self.step(node, Input::Members(Members { live, guests, all: ids(&mut (0..members)) }));
    }

    /// A client asks a node, and the mail is carried.
    pub fn ask(&mut self, node: usize, handle: u64, request: Request) {
        self.step(node, Input::Request { asker: handle, request });
        self.carry();
    }

    /// A node coordinates a request, whoever owns the name; its mail stays on the table.
    pub fn coordinate(&mut self, node: usize, request: Request) {
        let from = id((node + 1) % self.engines.len());
        self.step(node, Input::Message { from, message: Message::Forward(request) });
    }

    /// Carries the mail until there is none.
    pub fn carry(&mut self) {
        let end = self.carried.len() + 10_000;
        while self.carry_one() {
            assert!(self.carried.len() < end, "the mail never ends");
        }
    }

    /// Carries one message, if there is one.
    pub fn carry_one(&mut self) -> bool {
        let Some((from, to, message)) = self.mail.pop_front() else { return false };
        if self.full.contains(&to) {
            if message != Message::Suspended {
                self.mail.push_back((to, from, Message::Suspended));
            }
        } else if !self.deaf.contains(&to) && !self.deaf.contains(&from) {
            self.carried.push((from, to, message.clone()));
            self.step(to, Input::Message { from: id(from), message });
        }
        true
    }

    /// Carries the mail until such a message lies on top; whether that came about.
    pub fn carry_until(&mut self, is_it: impl Fn(&Message) -> bool) -> bool {
        while let Some((_, _, message)) = self.mail.front() {
            if is_it(message) {
                return true;
            }
            self.carry_one();
        }
        false
    }

    /// A node starts again without data, alone until it is told of others.
    pub fn restart(&mut self, node: usize) {
        self.salt += 1;
        self.engines[node] = engine(node, self.salt, self.settings, self.now);
        self.readers[node] = Reader::default();
        self.disks[node] = Disk::default();
    }

    /// A node dies and starts again with all that it had, alone until it is told of others.
    pub fn start_again(&mut self, node: usize) {
        self.salt += 1;
        let (timing, retention, rules) = self.settings;
        let rng = |purpose: u64| StdRng::seed_from_u64(self.salt * 1000 + node as u64 * 10 + purpose);
        let state = self.disks[node].load().unwrap().expect("it has stored something");
        let replica = Replica::restore(state, Arc::from(format!("n{node}")), Duration::from_secs(1000), rng(1), rules);
        self.engines[node] = Engine::new(id(node), replica.with_retention(retention), timing, rng(2), rules, self.now);
        self.readers[node] = Reader::of(self.engines[node].replica());
    }

    /// Lets time go on, in small steps.
    pub fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += ms(10);
            if self.now >= self.arrives
                && let Some(part) = self.parts.pop_front()
            {
                self.mail.push_back(part);
                self.arrives = self.now + self.slow.unwrap_or_default();
            }
            for node in 0..self.engines.len() {
                if !self.deaf.contains(&node) && !self.full.contains(&node) && self.engines[node].next_wake() <= self.now {
                    self.step(node, Input::Tick);
                }
            }
            self.carry();
        }
    }

    /// A node whose disk was full stores again.
    pub fn resume(&mut self, node: usize) {
        self.full.remove(&node);
        self.step(node, Input::Tick);
        self.step(node, Input::Resumed);
        self.carry();
    }

    /// The reply to a client.
    pub fn reply(&self, handle: u64) -> Option<&Reply> {
        self.answers.iter().find(|(known, _, _)| *known == handle).map(|(_, reply, _)| reply)
    }

    /// The record that a node has.
    pub fn record(&self, node: usize, name: &Name) -> Record {
        self.engines[node].replica().record(name).map(|record| Record::clone(record)).unwrap_or_default()
    }

    /// Who owns the name when all are live.
    pub fn owner(&self, name: &Name) -> usize {
        usize::try_from(owner(name.get(0).unwrap(), (0..self.engines.len()).map(id)).unwrap().0).unwrap() - 1
    }

    /// An engine takes one step; its readers follow.
    pub fn step(&mut self, node: usize, input: Input) {
        let step = self.engines[node].step(self.now, input);
        self.readers[node].follow(&step.changes).unwrap();
        self.readers[node].check(self.engines[node].replica()).unwrap();
        self.disks[node].commit(&[step.transaction]).unwrap();
        for output in step.outputs {
            match output {
                Output::Send { to, message } => {
                    let to = usize::try_from(to.0).unwrap() - 1;
                    if self.slow.is_some() && matches!(message, Message::Part(_)) {
                        self.parts.push_back((node, to, message));
                    } else {
                        self.mail.push_back((node, to, message));
                    }
                }
                Output::Answer { asker, reply, .. } => self.answers.push((asker, reply, self.now)),
                other => self.said.push((node, other)),
            }
        }
    }
}

/// A name.
pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// A value.
pub fn content(text: &str) -> Content {
    Content::link(text)
}

/// A request of client 1.
pub fn request(sequence: u64, name: &Name, intent: Intent) -> Request {
    Request {
        operation: OperationId { client: 1, sequence },
        name: name.clone(),
        intent,
        is_retry: false,
        token: Seen::default(),
        level: Level::AllLive,
        within: Duration::from_secs(5),
    }
}
