//! The cluster tree's engine on one node: what it does with requests, messages, views and time.
//!
//! `step(now, input)` changes the replica and yields a transaction and outputs; the outputs leave when the
//! transaction is durable. The parts:
//!
//! - `request`: a client's request: session token, owner, what is already known of the operation (3.5)
//! - `write`: a write is fanned out and acknowledged; who misses it lags (3.5)
//! - `create`: bind, which others may object to (3.6)
//! - `void`: a repetition that slipped through is taken back
//! - `catch_up`: pulls, lagging peers, anti-entropy, purge (3.7)

mod catch_up;
mod create;
mod request;
mod timer;
mod void;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, RngExt};

use crate::naming::Name;
use crate::protocol::OperationId;
use crate::topology::NodeId;

use super::message::{Message, Receipt, Reply, Request};
use super::record::Record;
use super::replica::Replica;
use super::rules::Rules;
use super::store::Transaction;
use super::sync::Pull;
use super::vector::{Dot, Seen, Vector};

use request::{Asker, Caller};
use timer::{Timer, Timers};
use write::Writing;

/// How long things take, and how many nodes a write needs.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// After this long without an acknowledgement a peer lags.
    pub lagging_after: Duration,
    /// How long the owner may take for a forwarded request, and peers for a question about an operation.
    pub patience: Duration,
    /// How long a node that is behind a client's token tries to catch up.
    pub catch_up: Duration,
    /// The engine's pulse.
    pub beat: Duration,
    /// A beat that is later than this by so much tells of a freeze: what was gathered before it is stale.
    pub too_late: Duration,
    /// How often a random peer is asked for what this node lacks.
    pub anti_entropy: Duration,
    /// On how many nodes a write must be held.
    pub min_replicas: usize,
}

impl Default for Timing {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self {
            lagging_after: ms(250),
            patience: ms(150),
            catch_up: ms(50),
            beat: ms(100),
            too_late: ms(250),
            anti_entropy: ms(1000),
            min_replicas: 1,
        }
    }
}

/// What happens to an engine.
#[derive(Clone, Debug)]
pub enum Input {
    /// A client asks; `asker` is handed back with the answer.
    Request {
        /// The driver's handle of who asked.
        asker: u64,
        /// What is asked.
        request: Request,
    },
    /// A peer says something.
    Message {
        /// The peer.
        from: NodeId,
        /// What it says.
        message: Message,
    },
    /// The members changed.
    Members {
        /// Those that are live, this node among them.
        live: BTreeSet<NodeId>,
        /// All that are known, live or not.
        all: BTreeSet<NodeId>,
    },
    /// Time has passed: [`Engine::next_wake`] was reached.
    Tick,
}

/// What an engine wants done, once its transaction is durable.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Tell a peer.
    Send {
        /// The peer.
        to: NodeId,
        /// What.
        message: Message,
    },
    /// Answer a client.
    Answer {
        /// Who asked.
        asker: u64,
        /// What is answered.
        reply: Reply,
        /// The client's token from now on.
        token: Seen,
    },
}

/// What a step led to.
#[derive(Debug, Default)]
pub struct Step {
    /// To be made durable first.
    pub transaction: Transaction,
    /// To be done then, in order.
    pub outputs: Vec<Output>,
}

/// The cluster tree's engine on one node.
pub struct Engine {
    id: NodeId,
    replica: Replica,
    timing: Timing,
    rules: Rules,
    rng: StdRng,
    live: BTreeSet<NodeId>,
    members: BTreeSet<NodeId>,
    /// Peers that missed a write, and up to which of this actor's writes they must have seen to be waited for again.
    lagging: BTreeMap<NodeId, Dot>,
    /// What each peer is known to have seen.
    vectors: BTreeMap<NodeId, Vector>,
    writings: BTreeMap<Dot, Writing>,
    callers: BTreeMap<OperationId, Caller>,
    pulls: BTreeMap<NodeId, Pull>,
    timers: Timers,
    last_beat: Duration,
    now: Duration,
    outputs: Vec<Output>,
}

impl Engine {
    /// An engine over a replica, at time `now`, alone until it is told of members.
    pub fn new(id: NodeId, replica: Replica, timing: Timing, rng: StdRng, rules: Rules, now: Duration) -> Self {
        let mut engine = Self {
            id,
            replica,
            timing,
            rules,
            rng,
            live: BTreeSet::from([id]),
            members: BTreeSet::from([id]),
            lagging: BTreeMap::new(),
            vectors: BTreeMap::new(),
            writings: BTreeMap::new(),
            callers: BTreeMap::new(),
            pulls: BTreeMap::new(),
            timers: Timers::default(),
            last_beat: now,
            now,
            outputs: Vec::new(),
        };
        engine.timers.add(now + timing.beat, Timer::Beat);
        engine.timers.add(now + timing.anti_entropy, Timer::AntiEntropy);
        engine
    }

    /// Handles one input.
    pub fn step(&mut self, now: Duration, input: Input) -> Step {
        self.now = self.now.max(now);
        match input {
            Input::Request { asker, request } => self.request(Asker::Client(asker), request),
            Input::Message { from, message } => self.message(from, message),
            Input::Members { live, all } => self.members_changed(live, all),
            Input::Tick => self.tick(),
        }
        Step { transaction: self.replica.take_transaction(), outputs: mem::take(&mut self.outputs) }
    }

    /// When the engine wants the next tick, at the latest.
    pub fn next_wake(&self) -> Duration {
        self.timers.next().unwrap_or(self.now + self.timing.beat)
    }

    /// Whose engine it is.
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// The replica, to read.
    pub fn replica(&self) -> &Replica {
        &self.replica
    }

    /// The peers that are not waited for.
    pub fn lagging(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.lagging.keys().copied()
    }

    fn message(&mut self, from: NodeId, message: Message) {
        match message {
            Message::Forward(request) => self.request(Asker::Node(from), request),
            Message::Forwarded { operation, reply, token } => self.forwarded(operation, &reply, &token),
            Message::Create(write) => self.receive_create(from, &write),
            Message::CreateHeld(dot) | Message::Held(dot) => self.acknowledged(from, dot),
            Message::CreateObjection { dot, record } => self.create_objected(dot, &record),
            Message::CreateKnown { dot, record } => self.create_known(dot, &record),
            Message::Write(write) => self.receive_write(from, &write),
            Message::Inquire { operation, name } => self.inquired(from, operation, name),
            Message::Informed { operation, name, record, is_forgotten } => {
                self.informed(from, operation, &name, record.as_deref(), is_forgotten);
            }
            Message::Pull(request) => self.answer_pull(from, &request),
            Message::Part(part) => self.take_part(from, part),
            Message::CaughtUp(vector) => self.caught_up(from, &vector),
            Message::Lagging => self.pull_from(from),
        }
    }

    fn members_changed(&mut self, live: BTreeSet<NodeId>, all: BTreeSet<NodeId>) {
        let joined: Vec<NodeId> = live.difference(&self.live).copied().filter(|node| *node != self.id).collect();
        self.live = live;
        self.live.insert(self.id);
        self.members = all;
        self.members.extend(self.live.iter().copied());
        self.lagging.retain(|node, _| self.live.contains(node));
        self.vectors.retain(|node, _| self.members.contains(node));
        self.pulls.retain(|node, _| self.live.contains(node));
        for node in joined {
            self.pull_from(node);
        }
        self.check_all();
    }

    fn tick(&mut self) {
        while let Some(timer) = self.timers.due(self.now) {
            match timer {
                Timer::Beat => self.beat(),
                Timer::AntiEntropy => self.anti_entropy(),
                Timer::Overdue(dot) => self.overdue(dot),
                Timer::OwnerSilent(operation) => self.owner_silent(operation),
                Timer::PeersSilent(operation) => self.peers_silent(operation),
                Timer::StillBehind(operation) => self.still_behind(operation),
                Timer::LookAgain(operation) => self.execute(operation),
            }
        }
    }

    fn beat(&mut self) {
        let is_late = self.now > self.last_beat + self.timing.too_late;
        self.last_beat = self.now;
        self.timers.add(self.now + self.timing.beat, Timer::Beat);
        if is_late {
            self.distrust_creates();
        }
        self.check_all();
        self.remind_lagging();
    }

    /// The pulse stopped: this node was frozen, and does not know what the others did meanwhile.
    fn was_frozen(&self) -> bool {
        self.now > self.last_beat + self.timing.too_late
    }

    fn peers(&self) -> Vec<NodeId> {
        self.live.iter().copied().filter(|node| *node != self.id).collect()
    }

    fn send(&mut self, to: NodeId, message: Message) {
        self.outputs.push(Output::Send { to, message });
    }

    fn broadcast(&mut self, message: &Message) {
        for peer in self.peers() {
            self.send(peer, message.clone());
        }
    }

    /// Answers everybody who waits for the operation.
    fn answer(&mut self, operation: OperationId, reply: &Reply) {
        let token = self.replica.seen().clone();
        self.answer_with(operation, reply, &token);
    }

    /// The same with another node's reply, and what that node had seen.
    fn answer_with(&mut self, operation: OperationId, reply: &Reply, token: &Seen) {
        let Some(caller) = self.callers.remove(&operation) else { return };
        for asker in caller.askers {
            let (reply, token) = (reply.clone(), token.clone());
            self.outputs.push(match asker {
                Asker::Client(asker) => Output::Answer { asker, reply, token },
                Asker::Node(to) => Output::Send { to, message: Message::Forwarded { operation, reply, token } },
            });
        }
    }

    fn receipt(&self, acked_by: impl IntoIterator<Item = NodeId>) -> Receipt {
        Receipt { acked_by: acked_by.into_iter().collect(), live: self.live.len(), members: self.members.len() }
    }

    fn jitter(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.rng.random_range(from..to))
    }

    fn random_peer(&mut self) -> Option<NodeId> {
        let peers = self.peers();
        let draw = usize::try_from(self.rng.next_u32()).unwrap_or(0);
        (!peers.is_empty()).then(|| peers[draw % peers.len()])
    }

    /// What is known of a name; an empty record where nothing is.
    fn record_of(&self, name: &Name) -> Arc<Record> {
        self.replica.record(name).cloned().unwrap_or_default()
    }
}
