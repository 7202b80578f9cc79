//! Many engines under one virtual clock and network, whose every delay is drawn from a seed.
//!
//! The network behaves as TCP does: what is sent across a cut waits and arrives after healing, unless the connection was
//! closed meanwhile; connecting across a cut times out, to a dead node is refused, to a frozen one hangs after the
//! handshake. A frozen node does nothing until it is thawed, then everything at once, its tick late.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hanaming::cluster::membership::{Config, DialFailure, Input, LinkId, Membership, Output, Past, Rules, Timing};
use hanaming::protocol::{Answer, Fault, FrameKind, Gossip, Introduction, Limits, Operation, Request, Scope, encode_frame};
use hanaming::topology::{Endpoint, Member, MemberState, NodeId};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// How long opening a link may take, as in the driver.
const OPEN: Duration = Duration::from_secs(1);
/// How long an answer to gossip is waited for, as in the driver.
const ANSWER: Duration = Duration::from_millis(1500);
/// How often what waits for a cut to heal looks again.
const RETRY: Duration = Duration::from_millis(20);

/// One node, through all its incarnations.
pub struct Node {
    pub name: String,
    pub endpoint: Endpoint,
    pub seeds: Vec<Endpoint>,
    pub engine: Option<Membership>,
    pub frozen: bool,
    pub failed: Option<Fault>,
    /// Counts incarnations: what was meant for an earlier one is lost.
    life: u64,
    /// Links that this incarnation has open: to which node's which life.
    links: BTreeMap<LinkId, (usize, u64)>,
    /// Came in while it was frozen.
    backlog: Vec<Event>,
}

/// Something on its way to a node.
#[derive(Debug)]
struct Envelope {
    /// Who sent it, where it crosses the network.
    from: Option<usize>,
    to: usize,
    /// For which life of the receiver it is meant.
    life: u64,
    event: Event,
}

#[derive(Debug)]
enum Event {
    Tick,
    /// A hello on the way to the node, and from whom.
    Hello {
        from: usize,
        life: u64,
        link: LinkId,
        introduction: Introduction,
        deadline: Duration,
    },
    /// The answer to it.
    Greeted {
        link: LinkId,
        to: usize,
        answer: Result<Introduction, Box<Fault>>,
        life: u64,
        deadline: Duration,
    },
    NotOpened {
        link: LinkId,
        failure: DialFailure,
    },
    Asked {
        from: usize,
        life: u64,
        link: LinkId,
        gossip: Gossip,
        deadline: Duration,
    },
    Answered {
        link: LinkId,
        gossip: Gossip,
    },
    Lost {
        link: LinkId,
    },
}

/// All nodes and the network between them.
pub struct World {
    pub now: Duration,
    pub chance: StdRng,
    pub nodes: Vec<Node>,
    pub cuts: BTreeSet<(usize, usize)>,
    queue: BTreeMap<(Duration, u64), Envelope>,
    serial: u64,
    next_id: u128,
    pub warnings: Vec<String>,
    /// How many events happened at nodes.
    events: u64,
    /// What each node has written to its links, in bytes, and in how many frames.
    pub written: Vec<(u64, u64)>,
    /// What the engines go by.
    pub rules: Rules,
    /// How many of a hundred questions and answers are lost, and how many come twice.
    pub lossy: u32,
    pub doubling: u32,
}

impl World {
    /// Nodes `n0`, `n1`, … whose seeds are given by their numbers; none is started.
    pub fn new(seed: u64, seeds: &[&[usize]]) -> Self {
        let endpoint = |number: usize| Endpoint::new(format!("10.0.0.{number}"), 11100);
        let node = |(number, seeds): (usize, &&[usize])| Node {
            name: format!("n{number}"),
            endpoint: endpoint(number),
            seeds: seeds.iter().map(|number| endpoint(*number)).collect(),
            engine: None,
            frozen: false,
            failed: None,
            life: 0,
            links: BTreeMap::new(),
            backlog: Vec::new(),
        };
        Self {
            now: Duration::ZERO,
            chance: StdRng::seed_from_u64(seed),
            nodes: seeds.iter().enumerate().map(node).collect(),
            cuts: BTreeSet::new(),
            queue: BTreeMap::new(),
            serial: 0,
            next_id: 1,
            warnings: Vec::new(),
            events: 0,
            written: vec![(0, 0); seeds.len()],
            rules: Rules::ALL,
            lossy: 0,
            doubling: 0,
        }
    }

    pub fn start(&mut self, number: usize) {
        // Incarnations in no order, so that nothing rests on it.
        self.next_id += 1;
        let id = NodeId((u128::from(self.chance.random::<u32>()) << 32) + self.next_id);
        let node = &mut self.nodes[number];
        assert!(node.engine.is_none(), "{} runs", node.name);
        let member = Member { name: node.name.clone(), id, endpoint: node.endpoint.clone(), state: MemberState::Joining };
        let config = Config {
            member,
            cluster: "c".to_owned(),
            seeds: node.seeds.clone(),
            past: Past::default(),
            timing: Timing::default(),
            seed: self.chance.random(),
            rules: self.rules,
        };
        node.engine = Some(Membership::new(self.now, config));
        node.life += 1;
        node.failed = None;
        self.step(number, Input::HasTree);
        self.schedule(number, Duration::ZERO, Event::Tick);
    }

    /// As `kill -9`: connections to it break, wherever that can be heard.
    pub fn kill(&mut self, number: usize) {
        self.end(number);
        for other in 0..self.nodes.len() {
            let broken = self.nodes[other].links.iter().filter(|(_, to)| to.0 == number).map(|(link, _)| *link);
            for link in broken.collect::<Vec<_>>() {
                self.send(number, other, Event::Lost { link });
            }
        }
    }

    /// Says farewell and ends.
    pub fn leave(&mut self, number: usize) {
        self.step(number, Input::Leave);
        self.run(Duration::from_millis(50));
        self.kill(number);
    }

    fn end(&mut self, number: usize) {
        let node = &mut self.nodes[number];
        node.engine = None;
        node.life += 1;
        node.links.clear();
        node.backlog.clear();
        node.frozen = false;
    }

    pub fn thaw(&mut self, number: usize) {
        let node = &mut self.nodes[number];
        node.frozen = false;
        let life = node.life;
        for event in std::mem::take(&mut node.backlog) {
            self.enqueue(self.now, Envelope { from: None, to: number, life, event });
        }
    }

    pub fn heal(&mut self) {
        self.cuts.clear();
        for number in 0..self.nodes.len() {
            self.thaw(number);
        }
    }

    pub fn cut_between(&mut self, group: &BTreeSet<usize>) {
        for one in 0..self.nodes.len() {
            for other in 0..self.nodes.len() {
                if group.contains(&one) != group.contains(&other) {
                    self.cuts.insert((one, other));
                }
            }
        }
    }

    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(entry) = self.queue.first_entry().filter(|entry| entry.key().0 <= end) {
            let ((at, _), envelope) = entry.remove_entry();
            self.now = self.now.max(at);
            let node = &mut self.nodes[envelope.to];
            if node.life != envelope.life {
                continue;
            }
            if envelope.from.is_some_and(|from| self.cuts.contains(&(from, envelope.to))) {
                self.enqueue(self.now + RETRY, envelope);
            } else if node.frozen {
                node.backlog.push(envelope.event);
            } else {
                self.count();
                self.happen(envelope.to, envelope.event);
            }
        }
        self.now = end;
    }

    /// However much happens, nodes do not drown each other in gossip.
    fn count(&mut self) {
        self.events += 1;
        let pairs = (self.nodes.len() * self.nodes.len()) as u64;
        let most = 800 * pairs + 120 * pairs * self.now.as_secs();
        assert!(self.events < most, "{} events by {:?}\n{}", self.events, self.now, self.picture());
    }

    /// Runs until `holds`, for at most `limit`; gives how long it took.
    pub fn run_until(&mut self, limit: Duration, holds: impl Fn(&Self) -> bool) -> Option<Duration> {
        let start = self.now;
        while !holds(self) {
            if self.now >= start + limit {
                return None;
            }
            self.run(Duration::from_millis(10));
        }
        Some(self.now.saturating_sub(start))
    }

    pub fn engine(&self, number: usize) -> &Membership {
        self.nodes[number].engine.as_ref().unwrap()
    }

    pub fn alive(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|number| self.nodes[*number].engine.is_some()).collect()
    }

    /// Whether these nodes, and nobody else, are live in one view.
    pub fn is_one(&self, numbers: &[usize]) -> bool {
        let mut names: Vec<&str> = numbers.iter().map(|number| self.nodes[*number].name.as_str()).collect();
        names.sort_unstable();
        numbers.iter().all(|number| {
            let view = self.engine(*number).view();
            let members = view.members();
            members.iter().map(|m| m.name.as_str()).eq(names.iter().copied())
                && members.iter().all(|member| member.state == MemberState::Live)
                && view.id() == self.engine(numbers[0]).view().id()
        })
    }

    pub fn picture(&self) -> String {
        let line = |number: usize| {
            let node = &self.nodes[number];
            let Some(engine) = &node.engine else { return format!("{}: down", node.name) };
            let introduction = engine.introduction();
            let members: Vec<_> = engine.view().members().iter().map(|m| format!("{} {:?}", m.name, m.state)).collect();
            format!(
                "{}: {:?} firm={} {:?} unready={:?} failed={:?} warnings={:?}",
                node.name,
                introduction.cluster_id,
                introduction.firm,
                members,
                engine.unready(self.now),
                node.failed.as_ref().map(|fault| &fault.message),
                engine.warnings(),
            )
        };
        (0..self.nodes.len()).map(line).collect::<Vec<_>>().join("\n")
    }

    pub fn step(&mut self, number: usize, input: Input) {
        let now = self.now;
        if let Some(engine) = &mut self.nodes[number].engine {
            let outputs = engine.step(now, input);
            self.carry_out(number, outputs);
        }
    }

    fn happen(&mut self, number: usize, event: Event) {
        let now = self.now;
        match event {
            Event::Tick => {
                self.step(number, Input::Tick);
                self.schedule(number, Timing::default().tick, Event::Tick);
            }
            Event::Hello { from, life, link, introduction, deadline } => {
                if self.nodes[from].life != life {
                    return;
                }
                let engine = self.nodes[number].engine.as_mut().unwrap();
                let (admitted, outputs) = engine.admit(now, &introduction);
                let answer = admitted.map(|()| engine.introduction()).map_err(Box::new);
                let own = self.nodes[number].life;
                self.send(number, from, Event::Greeted { link, to: number, answer, life: own, deadline });
                self.carry_out(number, outputs);
            }
            Event::Greeted { link, to, answer, life, deadline } => {
                // Answered too late: the limit has ended the attempt.
                if now >= deadline {
                    return;
                }
                self.forget_limit(number, link);
                match answer {
                    Ok(introduction) if self.nodes[to].life == life => {
                        self.nodes[number].links.insert(link, (to, life));
                        self.step(number, Input::Opened { link, introduction });
                    }
                    Ok(_) => self.step(number, Input::NotOpened { link, failure: DialFailure::Unreachable }),
                    Err(fault) => self.step(number, Input::NotOpened { link, failure: DialFailure::Rejected(fault) }),
                }
            }
            Event::NotOpened { link, failure } => {
                self.forget_limit(number, link);
                self.step(number, Input::NotOpened { link, failure });
            }
            Event::Asked { from, life, link, gossip, deadline } => {
                if self.nodes[from].life != life || !self.nodes[from].links.contains_key(&link) || now > deadline {
                    return;
                }
                let engine = self.nodes[number].engine.as_mut().unwrap();
                let (gossip, outputs) = engine.answer(now, gossip);
                self.written(number, FrameKind::Reply, &Answer::Gossip(gossip.clone()));
                self.convey(number, from, || Event::Answered { link, gossip: gossip.clone() });
                self.carry_out(number, outputs);
            }
            Event::Answered { link, gossip } => {
                if self.nodes[number].links.contains_key(&link) {
                    self.step(number, Input::Answered { link, gossip });
                }
            }
            Event::Lost { link } => {
                if self.nodes[number].links.remove(&link).is_some() {
                    self.step(number, Input::Lost { link });
                }
            }
        }
    }

    fn carry_out(&mut self, number: usize, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Resolve { seed } => panic!("{seed} is an IP literal"),
                Output::Dial { link, to } => self.dial(number, link, &to),
                Output::Gossip { link, gossip } => {
                    let Some((to, life)) = self.nodes[number].links.get(&link).copied() else { continue };
                    if self.nodes[to].life == life {
                        let operation = Operation::Gossip(gossip.clone());
                        let request = Request {
                            time_left: u32::MAX,
                            scope: Scope::Peer,
                            operation_id: None,
                            is_retry: false,
                            operation,
                            known: None,
                        };
                        self.written(number, FrameKind::Request, &request);
                        let (own, deadline) = (self.nodes[number].life, self.now + ANSWER);
                        self.convey(number, to, || Event::Asked {
                            from: number,
                            life: own,
                            link,
                            gossip: gossip.clone(),
                            deadline,
                        });
                    } else if !self.is_cut_off(number, to) {
                        // What is sent to a dead process comes back as a reset.
                        self.schedule(number, Duration::from_millis(1), Event::Lost { link });
                    }
                }
                Output::Close { link } => drop(self.nodes[number].links.remove(&link)),
                Output::View(_) | Output::Met | Output::Ready => {}
                Output::Failed(fault) => self.nodes[number].failed = Some(fault),
                // That a seed was silent for long is the weather here, and no dispute among nodes.
                Output::Warned(text) if text.contains("has never answered") => {}
                Output::Warned(text) => self.warnings.push(text),
            }
        }
    }

    fn dial(&mut self, number: usize, link: LinkId, to: &Endpoint) {
        let target = self.nodes.iter().position(|node| node.endpoint == *to).unwrap();
        let deadline = self.now + OPEN;
        self.schedule(number, OPEN, Event::NotOpened { link, failure: DialFailure::Unreachable });
        if self.is_cut_off(number, target) {
            return;
        }
        if self.nodes[target].engine.is_none() {
            let round_trip = self.delay() + self.delay();
            return self.schedule(number, round_trip, Event::NotOpened { link, failure: DialFailure::Refused });
        }
        let introduction = self.engine(number).introduction();
        let life = self.nodes[number].life;
        self.send(number, target, Event::Hello { from: number, life, link, introduction, deadline });
    }

    /// The attempt to open that link has ended: its limit means nothing any more.
    fn forget_limit(&mut self, number: usize, link: LinkId) {
        let is_limit = |event: &Event| matches!(event, Event::NotOpened { link: of, .. } if *of == link);
        self.queue.retain(|_, envelope| envelope.to != number || !is_limit(&envelope.event));
    }

    fn is_cut_off(&self, one: usize, other: usize) -> bool {
        self.cuts.contains(&(one, other)) || self.cuts.contains(&(other, one))
    }

    /// Counts a frame that a node writes, as the driver would write it.
    fn written(&mut self, number: usize, kind: FrameKind, body: &impl serde::Serialize) {
        let mut frame = bytes::BytesMut::new();
        encode_frame(&mut frame, kind, 0, 1, body, Limits::default()).unwrap();
        let (bytes, frames) = &mut self.written[number];
        *bytes += frame.len() as u64;
        *frames += 1;
    }

    fn delay(&mut self) -> Duration {
        Duration::from_micros(self.chance.random_range(50..5_000))
    }

    /// Lets a question or an answer travel; it may get lost, or come twice.
    fn convey(&mut self, from: usize, to: usize, event: impl Fn() -> Event) {
        if self.chance.random_range(0..100) < self.lossy {
            return;
        }
        self.send(from, to, event());
        if self.chance.random_range(0..100) < self.doubling {
            self.send(from, to, event());
        }
    }

    /// Lets an event travel from one node to another.
    fn send(&mut self, from: usize, to: usize, event: Event) {
        let (at, life) = (self.now + self.delay(), self.nodes[to].life);
        self.enqueue(at, Envelope { from: Some(from), to, life, event });
    }

    fn schedule(&mut self, to: usize, after: Duration, event: Event) {
        let life = self.nodes[to].life;
        self.enqueue(self.now + after, Envelope { from: None, to, life, event });
    }

    fn enqueue(&mut self, at: Duration, envelope: Envelope) {
        self.serial += 1;
        self.queue.insert((at, self.serial), envelope);
    }
}
