//! The cluster tree's engine on one node: what it does with requests, messages, views and time.
//!
//! `step(now, input)` changes the replica and yields a transaction, the changes that readers are to be shown, and
//! outputs; changes and outputs take effect when the transaction is durable. The parts:
//!
//! - [`input`]: what happens to an engine, and what it wants done
//! - `request`: a client's request: session token, owner, what is already known of the operation (3.5)
//! - `decide`: what the request comes to, by the table of outcomes (1.4)
//! - `write`: a write is fanned out and acknowledged; who misses it lags (3.5)
//! - `create`: bind and its like, which others may object to (3.6)
//! - `void`: a repetition that slipped through is taken back
//! - `nothing`: what came to nothing is remembered, where a copy of the request may be on its way
//! - `catch_up`: pulls, lagging peers, anti-entropy, purge (3.7)
//! - `standing`: joining, serving, leaving (3.7)
//! - `session`: clients who must see what they saw before, also after a freeze (3.5)
//! - `lease`: what goes unless it is renewed (3.7)
//! - `status`: what became of an operation
//! - `suspension`: peers, and this node, that can store nothing for now

mod catch_up;
mod create;
mod decide;
pub mod input;
mod lease;
mod nothing;
mod orphan;
mod pulling;
mod request;
mod session;
mod standing;
mod status;
mod suspension;
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

use super::message::Message;
use super::record::Record;
use super::replica::Replica;
use super::reply::{Receipt, Reply};
use super::rules::Rules;
use super::vector::{Dot, Seen, Vector};

use lease::Leases;
use orphan::Orphans;
use pulling::Pulls;
use request::{Asker, Caller};
use session::Sessions;
use standing::Standing;
use status::Inquiry;
use timer::{Timer, Timers};
use write::Writing;

pub use input::{Input, Members, OperationStatus, Output, Step};
pub use status::Trace;

/// How long things take, and how many nodes a write needs.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// After this long without an acknowledgement a peer lags.
    pub lagging_after: Duration,
    /// How long the owner may take for a forwarded request, and peers for a question about an operation.
    pub patience: Duration,
    /// How long the owner may take for such a question: a client that comes again has most likely waited for it already.
    pub owner_known_silent: Duration,
    /// How long a node that is behind a client's token tries to catch up.
    pub catch_up: Duration,
    /// How long it waits before it asks others: a write is most likely on its way.
    pub on_its_way: Duration,
    /// The engine's pulse.
    pub beat: Duration,
    /// A beat that is later than this by so much tells of a freeze: what was gathered before it is stale.
    pub too_late: Duration,
    /// How often a random peer is asked for what this node lacks.
    pub anti_entropy: Duration,
    /// How long a node waits for somebody from whom it was to copy the tree.
    pub lost_ones: Duration,
    /// How long a bind may be under way before the owner of its name goes on with it in the place of its coordinator.
    pub orphaned: Duration,
    /// On how many nodes a write must be held.
    pub min_replicas: usize,
    /// How many names may be bound; asked of a coordinator, never of a merge.
    pub max_names: u64,
    /// How many bytes all values may take.
    pub max_bytes: u64,
    /// So many leases that would go at once are held, where they are more than [`HELD_SHARE`] percent of all.
    pub held_from: usize,
}

/// More than so many of a hundred leases don't go at once: rather than all their holders, the way to them is gone.
pub const HELD_SHARE: usize = 15;

impl Default for Timing {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self {
            lagging_after: ms(250),
            patience: ms(150),
            owner_known_silent: ms(20),
            catch_up: ms(50),
            on_its_way: ms(5),
            beat: ms(100),
            too_late: ms(250),
            anti_entropy: ms(1000),
            lost_ones: ms(3000),
            orphaned: ms(3000),
            min_replicas: 1,
            max_names: 4_000_000,
            max_bytes: 8 << 30,
            held_from: 10,
        }
    }
}

/// The cluster tree's engine on one node.
pub struct Engine {
    id: NodeId,
    replica: Replica,
    timing: Timing,
    rules: Rules,
    rng: StdRng,
    live: BTreeSet<NodeId>,
    guests: BTreeSet<NodeId>,
    members: BTreeSet<NodeId>,
    /// Those that would be live if they could store anything; they are among the guests.
    suspended: BTreeSet<NodeId>,
    standing: Standing,
    sessions: Sessions,
    leases: Leases,
    inquiries: BTreeMap<OperationId, Inquiry>,
    /// Peers that missed a write, and up to which of this actor's writes they must have seen to be waited for again.
    lagging: BTreeMap<NodeId, Dot>,
    /// What each peer is known to have seen.
    vectors: BTreeMap<NodeId, Vector>,
    /// The peers that had seen more than this node, since the last beat.
    ahead: BTreeSet<NodeId>,
    orphans: Orphans,
    writings: BTreeMap<Dot, Writing>,
    callers: BTreeMap<OperationId, Caller>,
    pulls: Pulls,
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
            guests: BTreeSet::new(),
            suspended: BTreeSet::new(),
            standing: Standing::default(),
            sessions: Sessions::default(),
            leases: Leases::default(),
            inquiries: BTreeMap::new(),
            members: BTreeSet::from([id]),
            lagging: BTreeMap::new(),
            vectors: BTreeMap::new(),
            ahead: BTreeSet::new(),
            orphans: Orphans::default(),
            writings: BTreeMap::new(),
            callers: BTreeMap::new(),
            pulls: Pulls::default(),
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
        if self.was_frozen() {
            self.wake_up();
        }
        match input {
            Input::Request { asker, request } => self.request(Asker::Client(asker), request),
            Input::Message { from, message } => self.message(from, message),
            Input::Read { asker, token } => self.read(asker, token),
            Input::Status { asker, operation } => self.asked_status(asker, operation),
            Input::Members(members) => self.members_changed(members),
            Input::Reconnected { peer } => self.reconnected(peer),
            Input::Disconnected { peer } => self.disconnected(peer),
            Input::Quiesce => self.quiesce(),
            Input::Resumed => self.resumed(),
            Input::Tick => self.tick(),
        }
        self.recheck_ahead();
        let transaction = self.replica.take_transaction();
        Step {
            seen: transaction.meta.as_ref().map(|meta| meta.seen.clone()),
            digest: self.replica.digest(),
            conflicts: self.replica.conflict_count(),
            transaction,
            changes: self.replica.take_changes(),
            outputs: mem::take(&mut self.outputs),
        }
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
        if !matches!(message, Message::Suspended) {
            self.heard_storing(from);
        }
        match message {
            Message::Forward(request) => self.request(Asker::Node(from), request),
            Message::Forwarded { operation, reply, token } => self.forwarded(operation, &reply, &token),
            Message::Create(write) => self.receive_create(from, &write),
            Message::CreateHeld(dot) | Message::Held(dot) => self.acknowledged(from, dot),
            Message::CreateObjection { dot, records } => self.create_objected(dot, &records),
            Message::CreateKnown { dot, records } => self.create_known(dot, &records),
            Message::Write(write) => self.receive_write(from, &write),
            Message::Inquire(operation) => self.inquired(from, operation),
            Message::Informed { operation, records, is_forgotten } => {
                self.informed(from, operation, &records, is_forgotten);
            }
            Message::Pull(request) => self.answer_pull(from, &request),
            Message::Part(part) => self.take_part(from, part),
            Message::CaughtUp(vector) => self.caught_up(from, &vector),
            Message::Lagging => self.pull_from(from),
            Message::Suspended => self.heard_suspended(from),
            Message::Renewed { name, version } => self.renewed(&name, version),
        }
    }

    fn members_changed(&mut self, members: Members) {
        let before: BTreeSet<NodeId> = self.audience().into_iter().collect();
        self.live = members.live;
        self.live.insert(self.id);
        self.guests = members.guests;
        self.guests.remove(&self.id);
        self.keep_suspended();
        self.members = members.all;
        self.members.extend(self.live.iter().copied());
        let audience = self.audience();
        self.notice_lost_ones(before.iter().filter(|node| !audience.contains(node)));
        self.lagging.retain(|node, _| self.live.contains(node));
        self.vectors.retain(|node, _| self.members.contains(node));
        self.pulls.retain(&audience.iter().copied().collect());
        for node in audience.into_iter().filter(|node| !before.contains(node)) {
            self.pull_anew_from(node);
        }
        self.view_changed();
        self.leases_begin_anew();
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
                Timer::LookAgain(operation) => self.looked_again(operation),
                Timer::StillStale(asker) => self.still_stale(asker),
                Timer::AskAround => self.ask_around(),
                Timer::StatusDue(operation) => self.status_due(operation),
            }
        }
    }

    fn beat(&mut self) {
        let is_late = self.now > self.last_beat + self.timing.too_late;
        self.last_beat = self.now;
        self.timers.add(self.now + self.timing.beat, Timer::Beat);
        if is_late {
            self.distrust_creates();
            self.leases_begin_anew();
        }
        self.check_all();
        self.await_lost_ones();
        self.remind_lagging();
        self.close_gaps();
        self.ask_those_ahead();
        self.adopt_orphans();
        self.expire_leases();
        self.hand_over();
    }

    /// The pulse stopped: this node was frozen, and does not know what the others did meanwhile.
    fn was_frozen(&self) -> bool {
        self.now > self.late_from()
    }

    /// From when on a pulse that has not come tells of a freeze.
    pub fn late_from(&self) -> Duration {
        self.last_beat + self.timing.too_late
    }

    /// The other nodes that serve.
    fn peers(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.live.iter().copied().filter(|node| *node != self.id)
    }

    /// All who are sent every write.
    pub fn audience(&self) -> Vec<NodeId> {
        self.peers().chain(self.guests.iter().copied()).collect()
    }

    fn send(&mut self, to: NodeId, message: Message) {
        self.outputs.push(Output::Send { to, message });
    }

    fn broadcast(&mut self, message: &Message) {
        for peer in self.audience() {
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
            let is_news = || !caller.request.token.includes(&token);
            self.outputs.push(match asker {
                Asker::Client(asker) => Output::Answer { asker, reply, token: is_news().then_some(token) },
                Asker::Node(to) => Output::Send { to, message: Message::Forwarded { operation, reply, token } },
            });
        }
    }

    fn receipt(&self, acked_by: impl IntoIterator<Item = NodeId>) -> Receipt {
        let count = |nodes: &BTreeSet<NodeId>| u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        Receipt { acked_by: acked_by.into_iter().collect(), live: count(&self.live), members: count(&self.members) }
    }

    fn jitter(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.rng.random_range(from..to))
    }

    fn random_peer(&mut self) -> Option<NodeId> {
        let peers = self.audience();
        let draw = usize::try_from(self.rng.next_u32()).unwrap_or(0);
        (!peers.is_empty()).then(|| peers[draw % peers.len()])
    }

    /// What is known of a name; an empty record where nothing is.
    fn record_of(&self, name: &Name) -> Arc<Record> {
        self.replica.record(name).cloned().unwrap_or_default()
    }
}
