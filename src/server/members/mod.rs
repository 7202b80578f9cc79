//! The members of the cluster, as they are met over the network: the driver around the membership engine.
//!
//! The engine decides (see [`membership`](crate::cluster::membership)); what stands here carries its outputs out and
//! brings it its inputs. Connections of several kinds go to each member, so that nothing waits behind what is slower: a
//! *control link* for gossip alone, and one for each [`Channel`] that is used, opened when it first is.
//!
//! All tasks belong to a [`Members`] and end with it, with [`shutdown`](Members::shutdown) or with their runtime.

mod control;
mod copies;
mod links;
mod messages;
mod peers;
mod ticker;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::cluster::membership::{Config, Input, Membership, Output, Past, Rules, Timing};
use crate::protocol::{Channel, Fault, Gossip, Hello, Introduction, Limits, Role};
use crate::topology::{Endpoint, Member, NodeId, View};
use crate::transport::link::Link;
use crate::transport::{Network, TransportError};

use control::ControlLinks;
use copies::Copies;
use links::Links;
use messages::Backlogs;

/// How a node takes part in its cluster.
#[derive(Clone, Debug)]
pub struct MembersConfig {
    /// The node; its state is set by what happens.
    pub member: Member,
    /// Its cluster's name.
    pub cluster: String,
    /// Where to meet the cluster.
    pub seeds: Vec<Endpoint>,
    /// What it knows from before its start.
    pub past: Past,
    /// What is taken from other nodes.
    pub limits: Limits,
    /// How long things take.
    pub timing: Timing,
}

/// How far a node came in joining.
#[derive(Clone, Debug, PartialEq)]
enum Standing {
    Joining,
    Met,
    Ready,
    Failed(Box<Fault>),
}

/// The members of a node's cluster. Cheap to clone; the clones are one.
#[derive(Clone, Debug)]
pub struct Members {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Outputs are carried out under this lock, so in the order in which they were given.
    engine: Mutex<Membership>,
    control: Mutex<ControlLinks>,
    links: Links,
    backlogs: Backlogs,
    copies: Copies,
    views: watch::Sender<Arc<View>>,
    standing: watch::Sender<Standing>,
    /// `None` after the end.
    tasks: Mutex<Option<JoinSet<()>>>,
    network: Arc<dyn Network>,
    runtime: Handle,
    limits: Limits,
    id: NodeId,
    epoch: Instant,
}

impl Members {
    /// Begins to take part. Must be called on the runtime that shall carry it.
    pub fn start(config: MembersConfig, network: Arc<dyn Network>) -> Self {
        let MembersConfig { member, cluster, seeds, past, limits, timing } = config;
        let id = member.id;
        let engine = Membership::new(
            Duration::ZERO,
            Config { member, cluster, seeds, past, timing, seed: rand::random(), rules: Rules::ALL },
        );
        let inner = Arc::new(Inner {
            views: watch::Sender::new(Arc::new(engine.view().clone())),
            engine: Mutex::new(engine),
            control: Mutex::default(),
            links: Links::default(),
            backlogs: Backlogs::default(),
            copies: Copies::default(),
            standing: watch::Sender::new(Standing::Joining),
            tasks: Mutex::new(Some(JoinSet::new())),
            network,
            runtime: Handle::current(),
            limits,
            id,
            epoch: Instant::now(),
        });
        inner.spawn(ticker::run(Arc::downgrade(&inner), timing.tick));
        Self { inner }
    }

    /// The members at this moment: joining, live and quiescing, this node among them.
    pub fn view(&self) -> Arc<View> {
        Arc::clone(&self.inner.views.borrow())
    }

    /// The members, as they change.
    pub fn subscribe(&self) -> watch::Receiver<Arc<View>> {
        self.inner.views.subscribe()
    }

    /// All members but this node.
    pub fn others(&self) -> Vec<Member> {
        self.view().members().iter().filter(|member| member.id != self.inner.id).cloned().collect()
    }

    /// Waits until the node is in one view with every seed that answered: also for ever.
    pub async fn met(&self) {
        let met = |standing: &Standing| matches!(standing, Standing::Met | Standing::Ready);
        // The sender lives as long as `self`.
        let _ = self.inner.standing.subscribe().wait_for(met).await;
    }

    /// The node has the cluster tree: it may serve once it has met the others.
    pub fn has_tree(&self) {
        self.inner.step(Input::HasTree);
    }

    /// Waits until the node is in one view with every seed that answered, and has the cluster tree.
    ///
    /// # Errors
    /// The fault with which all nodes that were met refuse it.
    pub async fn ready(&self) -> Result<(), Fault> {
        let mut standing = self.inner.standing.subscribe();
        let is_decided = |standing: &Standing| matches!(standing, Standing::Ready | Standing::Failed(_));
        match standing.wait_for(is_decided).await.as_deref() {
            Ok(Standing::Failed(fault)) => Err((**fault).clone()),
            // The sender lives as long as `self`.
            _ => Ok(()),
        }
    }

    /// Why the node is not ready, in words.
    pub fn unready(&self) -> Option<String> {
        let now = self.inner.now();
        self.inner.engine().unready(now)
    }

    /// How this node introduces itself.
    pub fn introduction(&self) -> Introduction {
        self.inner.engine().introduction()
    }

    /// What a person should see.
    pub fn warnings(&self) -> Vec<String> {
        self.inner.engine().warnings()
    }

    /// Whether a node that says hello may come in: compares the cluster's name, then its id, then the node's name.
    pub fn admit(&self, introduction: &Introduction) -> Result<(), Fault> {
        self.inner.act(|engine, now| engine.admit(now, introduction))
    }

    /// Takes another node's gossip and answers it.
    pub fn answer_gossip(&self, gossip: Gossip) -> Gossip {
        self.inner.act(|engine, now| engine.answer(now, gossip))
    }

    /// Tells the others that this node refuses clients.
    pub fn set_quiescing(&self) {
        self.inner.step(Input::Quiesce);
    }

    /// A connection to a member for requests, shared by all who ask it.
    ///
    /// # Errors
    /// The phase is `Connect` or `Handshake`: nothing was asked yet.
    pub async fn data_link(&self, member: NodeId, within: Duration) -> Result<Link, TransportError> {
        self.inner.link(member, Channel::Data, within).await
    }

    /// Tells all others that this node leaves, and waits for their answers for at most `within`. They remove it at once.
    pub async fn leave(&self, within: Duration) {
        self.inner.leave(within).await;
    }

    /// Ends all tasks and links. The others are not told.
    pub fn shutdown(&self) {
        self.inner.shutdown();
    }
}

impl Inner {
    fn engine(&self) -> MutexGuard<'_, Membership> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn step(self: &Arc<Self>, input: Input) {
        self.act(|engine, now| ((), engine.step(now, input)));
    }

    /// Asks the engine and carries out what it wants, before anybody else can ask it.
    fn act<T>(self: &Arc<Self>, ask: impl FnOnce(&mut Membership, Duration) -> (T, Vec<Output>)) -> T {
        let mut engine = self.engine();
        let (answer, outputs) = ask(&mut engine, self.now());
        for output in outputs {
            self.carry_out(output);
        }
        answer
    }

    /// Never waits: whatever takes time becomes a task.
    fn carry_out(self: &Arc<Self>, output: Output) {
        match output {
            Output::Resolve { seed } => self.resolve(seed),
            Output::Dial { link, to } => self.dial(link, to),
            Output::Gossip { link, gossip } => {
                if let Some(exchange) = self.exchange(link, gossip) {
                    self.spawn(exchange);
                }
            }
            Output::Close { link } => self.close(link),
            Output::View(view) => {
                self.links.retain(&view);
                self.views.send_replace(Arc::new(view));
            }
            Output::Met => drop(self.standing.send_replace(Standing::Met)),
            Output::Ready => drop(self.standing.send_replace(Standing::Ready)),
            Output::Failed(fault) => {
                tracing::error!("{}", fault.message);
                self.standing.send_replace(Standing::Failed(Box::new(fault)));
            }
            Output::Warned(text) => tracing::warn!("{text}"),
        }
    }

    /// A hello to another node of the cluster.
    fn hello(&self, channel: Channel) -> Hello {
        let introduction = self.engine().introduction();
        let cluster = introduction.cluster.clone();
        Hello::new(Role::Peer { introduction, channel }, Some(cluster))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(tasks) = &mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner) {
            while tasks.try_join_next().is_some() {}
            tasks.spawn_on(task, &self.runtime);
        }
    }

    fn shutdown(&self) {
        drop(self.tasks.lock().unwrap_or_else(PoisonError::into_inner).take());
        self.control().close_all();
        self.links.close_all();
    }
}
