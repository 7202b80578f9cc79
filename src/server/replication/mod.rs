//! The cluster tree on a node: the driver around its [engine](crate::cluster::engine).
//!
//! Whoever has something for the engine (a session with a peer's message, a client with a change, the clock) steps it
//! under one lock and carries out what it wants before anybody else can: readers are shown, peers told and clients
//! answered in the order in which things happened. Nothing here waits: a message is handed to its link, and lost where
//! that takes no more, which the engine copes with; an answer is handed to whoever waits for it.
//!
//! Without a data folder a transaction is durable as soon as it is in memory; a node that is started anew begins
//! as a new author of writes and copies the others' tree. With one, steps wait in a *journal* for the thread that makes
//! them durable (the *keeper*), and are carried out then, in their order.

mod acquaintances;
mod aside;
mod audience;
mod copy;
mod durable;
mod journal;
mod keeper;
mod readers;
mod sight;
mod tasks;
mod upkeep;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::{Notify, oneshot, watch};

use crate::cluster::context::Conflict;
use crate::cluster::engine::{Engine, Input, OperationStatus, Output, Step, Timing};
use crate::cluster::message::Message;
use crate::cluster::replica::Replica;
use crate::cluster::reply::Reply;
use crate::cluster::request::Request;
use crate::cluster::rules::Rules;
use crate::cluster::store::State as Stored;
use crate::cluster::vector::Seen;
use crate::naming::Name;
use crate::topology::NodeId;

use super::clock::Clock;
use super::peers::Peers;

use aside::LongSteps;
use durable::Progress;
use journal::Journal;
use sight::Sight;

pub use acquaintances::remember_members;
pub use keeper::Keeper;
pub use readers::Readers;
pub use tasks::{follow_views, keep_time};

/// How often it is looked whether a node that can store nothing can again.
const PAUSE: Duration = Duration::from_millis(100);

/// So many may wait without anybody looking who has given up.
const FEW_ASKING: usize = 64;

/// A node's part in the cluster tree.
pub struct Replication {
    /// What the engine wants is carried out under this lock, so in the order in which it was wanted.
    state: Mutex<State>,
    long: LongSteps,
    /// How many parts of copies have come in.
    parts: AtomicU64,
    readers: Readers,
    peers: Arc<dyn Peers>,
    clock: Clock,
    /// Rung when the engine wants to be woken earlier than it said last.
    earlier: Notify,
    stage: watch::Sender<Stage>,
    /// Where its steps are kept, for people.
    folder: Option<PathBuf>,
    /// Rung when something waits for the disk.
    work: Condvar,
    progress: watch::Sender<Progress>,
    /// The names of members that were forgotten since the start, in order.
    forgotten: watch::Sender<Vec<String>>,
    /// What readers may be asked for, and whether.
    sight: Sight,
}

/// What a node begins with.
#[derive(Debug, Default)]
pub enum Origin {
    /// Nothing, and nothing is kept.
    #[default]
    Memory,
    /// What is in a data folder, where all is kept that comes. A [`Keeper`] has to see to that.
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is in it.
        state: Option<Stored>,
    },
}

struct State {
    engine: Engine,
    /// Who waits for an answer, by the handle that the engine was given.
    asking: HashMap<u64, Asking>,
    last_asker: u64,
    /// Where there are so many, those who gave up are looked for: at each new one it would be once for each that waits.
    most_asking: usize,
    /// The digest of what readers are shown, and at how many names versions disagree there.
    shown: (u64, usize),
    /// How many leases are overdue and held all the same, and of how many.
    held_leases: Option<(usize, usize)>,
    /// When the engine is to be woken, as far as the clock's task knows.
    wake: Duration,
    /// What is not yet durable, where there is a data folder.
    journal: Option<Journal>,
}

/// For what somebody waits. Whoever asked may have given up.
enum Asking {
    /// A change.
    Change(oneshot::Sender<Told>),
    /// To be shown all that it has seen; whether it is.
    Sight(oneshot::Sender<bool>),
    /// What became of a change.
    Status(oneshot::Sender<OperationStatus>),
}

impl Asking {
    fn is_over(&self) -> bool {
        match self {
            Self::Change(sender) => sender.is_closed(),
            Self::Sight(sender) => sender.is_closed(),
            Self::Status(sender) => sender.is_closed(),
        }
    }
}

/// What came of a change.
#[derive(Debug)]
pub struct Told {
    /// What came of it.
    pub reply: Reply,
    /// What its client has seen with that; `None` where it had seen all that.
    pub token: Option<Seen>,
}

impl From<Reply> for Told {
    fn from(reply: Reply) -> Self {
        Self { reply, token: None }
    }
}

/// How far a node has come with the cluster tree. It goes forward only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It has not yet all that the others have.
    Copying,
    /// It has.
    Ready,
    /// It leaves, and the others have all that it had.
    HandedOver,
}

impl Replication {
    /// The part of the node `id`, called `writer`, whose readers look into `readers`.
    pub fn new(id: NodeId, writer: Arc<str>, readers: Readers, peers: Arc<dyn Peers>, clock: Clock, origin: Origin) -> Arc<Self> {
        let dice = || StdRng::seed_from_u64(rand::random());
        let (folder, stored) = match origin {
            Origin::Memory => (None, None),
            Origin::Folder { path, state } => (Some(path), state),
        };
        let replica = match stored {
            Some(stored) => Replica::restore(stored, writer, clock.epoch(), dice(), Rules::ALL),
            None => Replica::new(writer, clock.epoch(), dice(), Rules::ALL),
        };
        readers.show_all(&replica);
        let shown = (replica.digest(), replica.conflict_count());
        let engine = Engine::new(id, replica, Timing::default(), dice(), Rules::ALL, clock.now());
        let wake = engine.next_wake();
        let sight = Sight::of(engine.replica().seen().clone());
        Arc::new(Self {
            sight,
            state: Mutex::new(State {
                engine,
                asking: HashMap::new(),
                last_asker: 0,
                most_asking: FEW_ASKING,
                shown,
                held_leases: None,
                wake,
                journal: folder.is_some().then(Journal::default),
            }),
            long: LongSteps::default(),
            parts: AtomicU64::new(0),
            readers,
            peers,
            clock,
            earlier: Notify::new(),
            stage: watch::Sender::new(Stage::Copying),
            folder,
            work: Condvar::new(),
            progress: watch::Sender::new(Progress::default()),
            forgotten: watch::Sender::new(Vec::new()),
        })
    }

    /// Takes a peer's message.
    pub fn receive(&self, from: NodeId, message: Message) {
        if let Message::Part(_) = &message {
            self.parts.fetch_add(1, Ordering::Relaxed);
        }
        let is_long = aside::is_long(&message, || self.shown().count());
        let take = || {
            let mut state = self.lock();
            if !self.turns_away(&state, from, &message) {
                self.step_locked(&mut state, Input::Message { from, message });
            }
        };
        self.long.step_where(is_long, take);
    }

    /// Begins a change. The reply comes when it is settled, often at once, and never where the node ends first.
    pub fn submit(&self, request: Request) -> oneshot::Receiver<Told> {
        let (sender, receiver) = oneshot::channel();
        let mut state = self.lock();
        if let Some(refusal) = Self::not_begun(&state) {
            // Its receiver is in our hands.
            let _ = sender.send(Reply::Refused(refusal).into());
            return receiver;
        }
        let asker = state.enter(Asking::Change(sender));
        self.step_locked(&mut state, Input::Request { asker, request });
        receiver
    }

    /// A peer has opened a connection on which its engine speaks: of what it said on an earlier one some may be lost.
    pub fn reconnected(&self, peer: NodeId) {
        self.step(Input::Reconnected { peer });
    }

    /// The connection on which a peer's engine spoke has ended.
    pub fn disconnected(&self, peer: NodeId) {
        self.step(Input::Disconnected { peer });
    }

    /// Begins to leave: what is new is refused from now on.
    pub fn quiesce(&self) {
        self.step(Input::Quiesce);
    }

    /// How many parts of copies have come in, and whether it is busy with what takes long: a node that copies a large tree goes
    /// on as long as either changes.
    pub fn copied(&self) -> (u64, bool) {
        (self.parts.load(Ordering::Relaxed), self.long.are_under_way())
    }

    /// Waits until the node has come that far.
    pub async fn reached(&self, stage: Stage) {
        // The sender lives in `self`, so the wait cannot fail.
        let _ = self.stage.subscribe().wait_for(|reached| *reached >= stage).await;
    }

    /// The names at and beneath `context` at which versions disagree, and all of these.
    pub fn conflicts(&self, context: &Name) -> Vec<Conflict> {
        self.lock().engine.replica().conflicts().filter(|conflict| conflict.name.starts_with(context)).collect()
    }

    /// A number that is the same on all nodes whose readers are shown equal trees.
    pub fn digest(&self) -> u64 {
        self.lock().shown.0
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.long.wait(|| self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn step(&self, input: Input) {
        self.step_locked(&mut self.lock(), input);
    }

    fn step_locked(&self, state: &mut State, input: Input) {
        let Some(input) = self.is_missed(state, input) else { return };
        let step = state.engine.step(self.clock.now(), input);
        self.sight.note(&state.engine);
        match &mut state.journal {
            Some(journal) if !(journal.is_empty() && step.transaction.is_empty()) => {
                journal.push(step);
                self.work.notify_one();
            }
            _ => self.take_effect(state, step),
        }
        let wake = state.engine.next_wake();
        if wake < state.wake {
            self.earlier.notify_one();
        }
        state.wake = wake;
    }

    /// Shows and tells what a step did: it is durable.
    fn take_effect(&self, state: &mut State, step: Step) {
        let Step { transaction: _, seen, digest, conflicts, changes, outputs } = step;
        state.shown = (digest, conflicts);
        if let Some(seen) = seen {
            // First: what a reader finds is never more than what it is told that it has seen.
            self.sight.show(seen);
        }
        let is_long = aside::are_many(changes.len());
        let show = || self.readers.show(state.engine.replica(), changes);
        self.long.step_where(is_long, show);
        self.carry_out(state, outputs);
    }

    fn carry_out(&self, state: &mut State, outputs: Vec<Output>) {
        let mut messages: Vec<(NodeId, Vec<Message>)> = Vec::new();
        for output in outputs {
            match output {
                Output::Send { to, message } => match messages.iter_mut().find(|(node, _)| *node == to) {
                    Some((_, row)) => row.push(message),
                    None => messages.push((to, vec![message])),
                },
                Output::Answer { asker, reply, token } => {
                    if let Some(Asking::Change(waits)) = state.asking.remove(&asker) {
                        let _ = waits.send(Told { reply, token });
                    }
                }
                Output::Readable { asker, is_current } => {
                    if let Some(Asking::Sight(waits)) = state.asking.remove(&asker) {
                        let _ = waits.send(is_current);
                    }
                }
                Output::Ready => self.reach(Stage::Ready),
                Output::HandedOver => self.reach(Stage::HandedOver),
                Output::NotReady => {
                    tracing::warn!(
                        "this node was away for so long that deletions may have passed it by: it copies the tree anew"
                    );
                }
                Output::LeasesHeld { overdue, all } => {
                    state.held_leases = (overdue > 0).then_some((overdue, all));
                    if overdue == 0 {
                        continue;
                    }
                    tracing::warn!("{overdue} of {all} leases are overdue at once, and are held until their holders are heard");
                }
                Output::Status { asker, status } => {
                    if let Some(Asking::Status(waits)) = state.asking.remove(&asker) {
                        let _ = waits.send(status);
                    }
                }
            }
        }
        for (to, row) in messages {
            self.peers.tell(to, row);
        }
    }

    fn reach(&self, stage: Stage) {
        self.stage.send_if_modified(|reached| {
            *reached < stage && {
                *reached = stage;
                true
            }
        });
        if stage == Stage::Ready {
            self.peers.has_tree();
        }
    }
}

impl State {
    /// A handle for somebody who waits.
    fn enter(&mut self, asking: Asking) -> u64 {
        self.last_asker += 1;
        if self.asking.len() >= self.most_asking {
            self.asking.retain(|_, asking| !asking.is_over());
            self.most_asking = FEW_ASKING.max(2 * self.asking.len());
        }
        self.asking.insert(self.last_asker, asking);
        self.last_asker
    }
}

impl fmt::Debug for Replication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replication").field("stage", &*self.stage.borrow()).finish_non_exhaustive()
    }
}
