//! A node of the cluster in this process: started, used, quiesced, closed.
//!
//! A node brings a runtime of its own, so that it serves whatever the program around it does, and it never keeps that
//! program waiting: each step that waits has a limit.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::cluster::context::Conflict;
use crate::discovery::multicast::Announcer;
use crate::naming::{ErrorKind, Name, NamingError, Tree};
use crate::protocol::{NodeStatus, TreeCopy};
use crate::topology::{Endpoint, NodeId, View};
use crate::transport::Network;

use super::bulletin::Bulletin;
use super::config::ServerConfig;
use super::core::{Core, Phase};
use super::herald::Departure;
use super::launch::{COPY, LISTEN, LOAD, Launched, launch};
use super::replication::Keeper;

/// How long the end of the runtime's threads is waited for.
const SHUTDOWN: Duration = Duration::from_secs(1);

/// How much longer than its own limit something is waited for, before it is given up.
const MARGIN: Duration = Duration::from_secs(2);

/// How often one who waits is asked whether to go on.
const SLICE: Duration = Duration::from_millis(100);

/// Asked from time to time by what waits: whether to give up.
pub type GiveUp<'a> = &'a mut dyn FnMut() -> bool;

/// A node. Cheap to clone: the clones are one node, which is closed with the last of them at the latest.
#[derive(Clone)]
pub struct Node(Arc<Inner>);

struct Inner {
    core: Arc<Core>,
    listening: Endpoint,
    departed: watch::Receiver<Option<Departure>>,
    runtime: Mutex<Option<Runtime>>,
    handle: Handle,
    /// Ended after the runtime, since what runs there may still have something to be stored.
    keeper: Mutex<Option<Keeper>>,
    /// What says on the network that it's there.
    announcer: Mutex<Option<Arc<Announcer>>>,
    /// The process that started it. In a child made by `fork` the runtime's threads don't exist, and nothing that
    /// would wait for them may be done.
    process: u32,
}

impl Node {
    /// Starts a node on the machine's own network and waits until it is ready.
    ///
    /// # Errors
    /// `Configuration` for what is wrong with the configuration, the address or the cluster, with the remedy;
    /// `TimeLimitExceeded` where the node was not ready in time.
    pub fn start(config: ServerConfig) -> Result<Self, NamingError> {
        Self::start_unless(config, &mut || false)
    }

    /// Starts a node, unless the caller gives up: `give_up` is asked from time to time.
    ///
    /// # Errors
    /// As [`start`](Self::start), and `Communication` where the caller gave up.
    pub fn start_unless(config: ServerConfig, give_up: GiveUp<'_>) -> Result<Self, NamingError> {
        Self::launch(Arc::new(crate::transport::tcp::TcpNetwork), config, give_up)
    }

    /// Starts a node on any network.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_on(network: Arc<dyn Network>, config: ServerConfig) -> Result<Self, NamingError> {
        Self::launch(network, config, &mut || false)
    }

    fn launch(network: Arc<dyn Network>, config: ServerConfig, give_up: GiveUp<'_>) -> Result<Self, NamingError> {
        config.validate()?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(config.workers)
            .thread_name(format!("hanaming-{}", config.name))
            .enable_all()
            .build()
            .map_err(|error| {
                NamingError::new(ErrorKind::Configuration, format!("the node's threads could not be started: {error}"))
            })?;
        let load = if config.data_dir.is_some() { LOAD } else { Duration::ZERO };
        let limit = load + LISTEN + config.ready_within + COPY + MARGIN;
        let (sender, started) = sync_channel(1);
        // Not `block_on`: whoever calls may be inside a runtime of its own.
        runtime.spawn(async move {
            // Nobody waits any longer where it can't be sent.
            let _ = sender.send(launch(network, config).await);
        });
        let handle = runtime.handle().clone();
        let launched = wait(&started, limit, give_up).unwrap_or_else(|unheard| {
            Err(match unheard {
                Unheard::GivenUp => NamingError::new(ErrorKind::Communication, "the start was given up by the caller"),
                Unheard::Late => {
                    NamingError::new(ErrorKind::TimeLimitExceeded, format!("the node did not start within {limit:?}"))
                }
            })
        });
        match launched {
            Ok(Launched { core, listening, departed, keeper, announcer }) => Ok(Self(Arc::new(Inner {
                core,
                listening,
                departed,
                runtime: Mutex::new(Some(runtime)),
                handle,
                keeper: Mutex::new(keeper),
                announcer: Mutex::new(announcer),
                process: std::process::id(),
            }))),
            Err(error) => {
                end(runtime);
                Err(error)
            }
        }
    }

    /// The node's name.
    pub fn name(&self) -> &str {
        &self.0.core.name
    }

    /// Its incarnation.
    pub fn id(&self) -> NodeId {
        self.0.core.id
    }

    /// The address that it advertises.
    pub fn endpoint(&self) -> Endpoint {
        self.0.core.peers.introduction().member.endpoint
    }

    /// The address that it listens at, with the real port.
    pub fn listening(&self) -> &Endpoint {
        &self.0.listening
    }

    /// The members as the node sees them.
    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.0.core.bulletin().view)
    }

    /// The members, as they change. The sender is gone when the node is closed.
    pub fn views(&self) -> watch::Receiver<Arc<Bulletin>> {
        self.0.core.bulletins.clone()
    }

    /// The node's own tree.
    pub fn local_tree(&self) -> Arc<Tree> {
        Arc::clone(&self.0.core.local)
    }

    /// Its copy of the cluster tree.
    pub fn cluster_tree(&self) -> Arc<Tree> {
        Arc::clone(&self.0.core.cluster)
    }

    /// A number that is the same on all nodes whose copies are equal.
    pub fn cluster_digest(&self) -> u64 {
        self.cluster_copy().digest
    }

    /// How its copy of the cluster tree compares with others'.
    pub fn cluster_copy(&self) -> TreeCopy {
        self.0.core.copy()
    }

    /// The names of the cluster tree at and beneath `context` at which versions disagree.
    pub fn conflicts(&self, context: &Name) -> Vec<Conflict> {
        self.0.core.replication.conflicts(context)
    }

    /// Its state, for people.
    pub fn status(&self) -> NodeStatus {
        self.0.core.status()
    }

    /// How many requests it has sent to other nodes' trees.
    pub fn asked_peers(&self) -> u64 {
        self.0.core.inquiries.sent()
    }

    /// Refuses new requests, finishes those in flight, for at most `within`, and leaves the cluster. The node stays in
    /// this process and refuses until it is closed.
    ///
    /// # Errors
    /// `TimeLimitExceeded` where requests were cut; the node has left all the same. `ContextClosed` after `close`.
    pub fn quiesce(&self, within: Duration) -> Result<(), NamingError> {
        self.quiesce_unless(within, &mut || false)
    }

    /// The same, unless the caller gives up waiting: the node leaves all the same. `give_up` is asked from time to time.
    ///
    /// # Errors
    /// As [`quiesce`](Self::quiesce).
    pub fn quiesce_unless(&self, within: Duration, give_up: GiveUp<'_>) -> Result<(), NamingError> {
        if self.is_closed() {
            return Err(self.closed());
        }
        self.0.core.begin_quiescing(within);
        match self.wait_departed(within.min(super::core::DRAIN) + MARGIN, give_up) {
            Some(Departure::Drained) => Ok(()),
            Some(Departure::Cut(requests)) => Err(NamingError::new(
                ErrorKind::TimeLimitExceeded,
                format!("{requests} requests were still in flight when node {} left", self.name()),
            )),
            None if self.is_closed() => Err(self.closed()),
            None => Err(NamingError::new(ErrorKind::TimeLimitExceeded, format!("node {} did not leave in time", self.name()))),
        }
    }

    /// Waits until the node has left the cluster, whoever had it quiesced, at most for `within`: whether it has.
    pub fn wait_left(&self, within: Duration) -> bool {
        self.wait_departed(within, &mut || false).is_some()
    }

    /// Whether the node is about to leave, or has left, and takes no changes any longer.
    pub fn is_leaving(&self) -> bool {
        self.0.core.phase.get() >= Phase::Quiescing
    }

    /// Whether the node has left the cluster.
    pub fn has_left(&self) -> bool {
        self.0.departed.borrow().is_some()
    }

    /// Ends the node at once, with all its tasks, threads and connections. Doing so again does nothing.
    pub fn close(&self) {
        self.0.close();
    }

    /// Whether the node was closed, or this is a child process made by `fork`.
    pub fn is_closed(&self) -> bool {
        self.0.core.phase.get() == Phase::Closed || self.is_forked()
    }

    /// A number that grows whenever the node goes on to another phase of its life.
    pub fn phases(&self) -> u64 {
        self.0.core.phase.get() as u64
    }

    /// Whether this is a child process made by `fork`, in which the node does not run.
    pub fn is_forked(&self) -> bool {
        self.0.process != std::process::id()
    }

    /// What all tasks share.
    pub(super) fn core(&self) -> &Arc<Core> {
        &self.0.core
    }

    /// The runtime that serves.
    pub(super) fn handle(&self) -> &Handle {
        &self.0.handle
    }

    fn wait_departed(&self, within: Duration, give_up: GiveUp<'_>) -> Option<Departure> {
        if self.has_left() || self.is_forked() {
            return *self.0.departed.borrow();
        }
        let (sender, departure) = sync_channel(1);
        let mut departed = self.0.departed.clone();
        self.0.handle.spawn(async move {
            let departure = timeout(within, departed.wait_for(Option::is_some)).await;
            // Nobody waits any longer where it can't be sent.
            let _ = sender.send(departure.ok().and_then(Result::ok).and_then(|departure| *departure));
        });
        wait(&departure, within + MARGIN, give_up).ok().flatten()
    }

    fn closed(&self) -> NamingError {
        NamingError::new(ErrorKind::ContextClosed, format!("node {} is closed", self.name()))
    }
}

/// Why nothing was heard from a task.
enum Unheard {
    GivenUp,
    Late,
}

/// Waits for what a task sends, and asks from time to time whether to go on.
fn wait<T>(from: &Receiver<T>, within: Duration, give_up: GiveUp<'_>) -> Result<T, Unheard> {
    let mut left = within;
    loop {
        let slice = left.min(SLICE);
        match from.recv_timeout(slice) {
            Ok(sent) => return Ok(sent),
            Err(RecvTimeoutError::Disconnected) => return Err(Unheard::Late),
            Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(slice),
        }
        if left.is_zero() {
            return Err(Unheard::Late);
        }
        if give_up() {
            return Err(Unheard::GivenUp);
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Node({} on {}, {:?})", self.name(), self.0.listening, self.0.core.phase.get())
    }
}

impl Inner {
    fn close(&self) {
        self.core.phase.advance(Phase::Closed);
        let runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner).take();
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        let announcer = self.announcer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(runtime) = runtime else { return };
        if self.process == std::process::id() {
            if let Some(announcer) = announcer {
                announcer.end();
            }
            end(runtime);
            drop(keeper);
        } else {
            // Its threads are in the parent process.
            std::mem::forget((runtime, keeper, announcer));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.close();
    }
}

/// Ends all tasks and, where this thread may wait, waits for the threads.
fn end(runtime: Runtime) {
    if Handle::try_current().is_ok() {
        runtime.shutdown_background();
    } else {
        runtime.shutdown_timeout(SHUTDOWN);
    }
}
