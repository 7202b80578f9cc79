//! What all of a node's tasks share.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;

use crate::naming::Tree;
use crate::protocol::{Fault, OperationId, RefusalReason, Setting};
use crate::topology::NodeId;

use super::answer::fault;
use super::bulletin::Bulletin;
use super::clock::Clock;
use super::config::ServerLimits;
use super::load::Load;
use super::log::ChangeLog;
use super::peers::Peers;
use super::peers::inquiries::Inquiries;
use super::peers::remembered::Remembered;
use super::replication::{Origin, Readers, Replication};

/// Names of which the node remembers which peer had them.
const REMEMBERED: usize = 32 * 1024;

/// How long a node that quiesces waits for what is in flight, at most: it is to have left within 5 s.
pub const DRAIN: Duration = Duration::from_secs(4);

/// A node's trees, neighbours and state. Everything in it may be used from any thread.
#[derive(Debug)]
pub struct Core {
    /// The node's name.
    pub name: Arc<str>,
    /// Its incarnation.
    pub id: NodeId,
    /// Its own tree.
    pub local: Arc<Tree>,
    /// Its copy of the cluster tree.
    pub cluster: Arc<Tree>,
    /// Which names of its own tree have changed.
    pub local_log: Arc<ChangeLog>,
    /// Which names of the cluster tree have.
    pub cluster_log: Arc<ChangeLog>,
    /// What keeps that copy.
    pub replication: Arc<Replication>,
    /// What it runs with.
    pub settings: Vec<Setting>,
    /// The other nodes.
    pub peers: Arc<dyn Peers>,
    /// What it takes from others at most.
    pub limits: ServerLimits,
    /// The time.
    pub clock: Clock,
    /// What is going on.
    pub load: Load,
    /// Where it stands in its life.
    pub phase: PhaseCell,
    /// The members, as everybody here is told.
    pub bulletins: watch::Receiver<Arc<Bulletin>>,
    /// Set to begin quiescing, by whoever may: how long what is in flight may still take.
    pub quiesce: watch::Sender<Option<Duration>>,
    /// Names that peers are asked for.
    pub inquiries: Arc<Inquiries>,
    /// Which peer had a name.
    pub remembered: Mutex<Remembered>,
    /// Changes that came without an id and were given one.
    changes: AtomicU64,
}

/// Who a node is and where its trees are, for [`Core::new`].
#[derive(Debug)]
pub struct Identity {
    /// The node's name.
    pub name: Arc<str>,
    /// Its incarnation.
    pub id: NodeId,
    /// Its own tree.
    pub local: Arc<Tree>,
    /// Its copy of the cluster tree.
    pub cluster: Arc<Tree>,
    /// What watches these two trees.
    pub logs: [Arc<ChangeLog>; 2],
    /// What it runs with.
    pub settings: Vec<Setting>,
    /// What it knows of the cluster tree.
    pub origin: Origin,
}

impl Core {
    /// A core that is joining.
    pub fn new(
        identity: Identity,
        peers: Arc<dyn Peers>,
        limits: ServerLimits,
        clock: Clock,
        bulletins: watch::Receiver<Arc<Bulletin>>,
    ) -> Arc<Self> {
        let Identity { name, id, local, cluster, logs: [local_log, cluster_log], settings, origin } = identity;
        let readers = Readers { tree: Arc::clone(&cluster), log: Arc::clone(&cluster_log) };
        let replication = Replication::new(id, Arc::clone(&name), readers, Arc::clone(&peers), clock, origin);
        Arc::new(Self {
            replication,
            changes: AtomicU64::new(0),
            name,
            id,
            local,
            cluster,
            local_log,
            cluster_log,
            settings,
            inquiries: Inquiries::new(Arc::clone(&peers), clock),
            peers,
            limits,
            clock,
            load: Load::default(),
            phase: PhaseCell::default(),
            bulletins,
            quiesce: watch::Sender::new(None),
            remembered: Mutex::new(Remembered::new(REMEMBERED)),
        })
    }

    /// The members, as clients and peers are told.
    pub fn bulletin(&self) -> Arc<Bulletin> {
        Arc::clone(&self.bulletins.borrow())
    }

    /// Whether the view has no other member.
    pub fn is_alone(&self) -> bool {
        self.bulletins.borrow().peers.is_empty()
    }

    /// An id for a change that came without one.
    pub fn next_operation(&self) -> OperationId {
        OperationId { client: self.id.0, sequence: self.changes.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    /// Begins to quiesce, unless that has begun. What is in flight may take so long to end.
    pub fn begin_quiescing(&self, drain: Duration) {
        self.quiesce.send_if_modified(|begun| begun.is_none() && begun.replace(drain.min(DRAIN)).is_none());
    }

    /// A refusal of everything, for that reason, with the view.
    pub fn refused(&self, reason: RefusalReason) -> Fault {
        let view = (reason != RefusalReason::Closed).then(|| self.bulletins.borrow().for_clients.clone());
        fault::refused(reason, &self.name, view)
    }
}

/// Where a node stands in its life. It goes forward only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    /// Not yet in the cluster.
    Joining = 0,
    /// Answers everybody.
    Serving = 1,
    /// Leaving, or has left: answers peers only.
    Quiescing = 2,
    /// Closed in this process.
    Closed = 3,
}

impl Phase {
    /// Why clients are refused in this phase.
    pub fn refusal(self) -> Option<RefusalReason> {
        match self {
            Self::Joining => Some(RefusalReason::Joining),
            Self::Serving => None,
            Self::Quiescing => Some(RefusalReason::Quiescing),
            Self::Closed => Some(RefusalReason::Closed),
        }
    }
}

/// A phase that all threads see.
#[derive(Debug, Default)]
pub struct PhaseCell(AtomicU8);

impl PhaseCell {
    /// The phase now.
    pub fn get(&self) -> Phase {
        match self.0.load(Ordering::Acquire) {
            0 => Phase::Joining,
            1 => Phase::Serving,
            2 => Phase::Quiescing,
            _ => Phase::Closed,
        }
    }

    /// Goes on to `phase`, and says whether that was a step forward.
    pub fn advance(&self, phase: Phase) -> bool {
        self.0.fetch_max(phase as u8, Ordering::AcqRel) < phase as u8
    }
}
