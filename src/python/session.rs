//! What a context and its subcontexts share: the way to the servers, and what is remembered of the last call.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::client::direct::Direct;
use crate::client::{Client, ClientConfig, Driver, Invocation, Metrics, Product, Releasing, Target, Trail, Watch, fork};
use crate::failure::{Attempt, CompletionStatus, Phase};
use crate::naming::{ErrorKind, Name, NamingError, Tree};
use crate::protocol::{Scope, WatchScope};
use crate::server::Node;
use crate::topology::View;

use super::error::guarded;
use super::known::Known;
use super::{factories, process};

/// How the servers are reached.
pub enum Reach {
    /// Over the network.
    Network(Client),
    /// In this process.
    Process(Box<InProcess>),
}

/// A node of this process.
pub struct InProcess {
    direct: Direct,
    pub node: Node,
    local: Arc<Tree>,
    cluster: Option<Arc<Tree>>,
    /// The process that the node runs in.
    generation: u64,
}

impl InProcess {
    /// An error in the child of a fork: the trees are there, the node is not.
    fn check_process(&self) -> Result<(), NamingError> {
        if self.generation == fork::generation() {
            return Ok(());
        }
        let message = format!("node {} runs in the parent process; start another one in this process", self.node.name());
        Err(NamingError::new(ErrorKind::ContextClosed, message))
    }
}

/// What a context and its subcontexts share.
pub struct Session {
    id: u64,
    reach: Reach,
    scope: Scope,
    closings: AtomicU64,
}

/// How an operation ended without a product.
pub enum Failure {
    /// It failed.
    Naming(NamingError),
    /// A signal's handler raised while it ran.
    Raised(PyErr),
}

/// What is remembered of a thread's last call.
enum Last {
    Trail(Trail),
    Attempts(Vec<Attempt>),
    /// Answered by this process's own node at once; this is how long it took.
    AtOnce(Duration),
}

/// Sessions of which one thread remembers its last call.
const REMEMBERED: usize = 32;

thread_local! {
    /// The session whose cache answered this thread's last call, or 0.
    static HOT: Cell<u64> = const { Cell::new(0) };
    /// The last calls of this thread, one for each session, the newest last.
    static LAST: RefCell<Vec<(u64, Last)>> = const { RefCell::new(Vec::new()) };
}

impl Session {
    /// Over the network.
    pub fn over_network(config: ClientConfig) -> Result<Arc<Self>, NamingError> {
        let scope = config.scope;
        Client::new(config).map(|client| Self::new(Reach::Network(client), scope))
    }

    /// To a node of this process: the cluster's names, or its own.
    pub fn in_process(node: &Node, scope: Scope, timeout: Duration) -> Arc<Self> {
        let direct = Direct::new(Arc::new(node.clone()), scope, timeout);
        let cluster = (scope == Scope::Cluster).then(|| node.cluster_tree());
        let (node, local) = (node.clone(), node.local_tree());
        let reach = InProcess { direct, node, local, cluster, generation: fork::generation() };
        Self::new(Reach::Process(Box::new(reach)), scope)
    }

    fn new(reach: Reach, scope: Scope) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self { id: NEXT.fetch_add(1, Ordering::Relaxed), reach, scope, closings: AtomicU64::new(0) })
    }

    /// How the servers are reached.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// A way to the same servers for somebody who asks on a thread of his own.
    pub fn another_driver(&self) -> Arc<dyn Driver> {
        match &self.reach {
            Reach::Network(client) => Arc::new(client.clone()),
            Reach::Process(process) => {
                Arc::new(Direct::new(Arc::new(process.node.clone()), self.scope, ClientConfig::DEFAULT_TIMEOUT))
            }
        }
    }

    fn driver(&self) -> &dyn Driver {
        match &self.reach {
            Reach::Network(client) => client,
            Reach::Process(process) => &process.direct,
        }
    }

    /// A number that changes whenever something may be answered otherwise than before; `None` where that can't be
    /// known, because the answers come from elsewhere. It is a sum of counters that only grow.
    #[inline]
    pub fn generation(&self) -> Option<u64> {
        let process = match &self.reach {
            Reach::Process(process) => process,
            Reach::Network(client) => {
                let kept = client.config().cache.as_ref()?.load(Ordering::Acquire);
                return Some(kept + factories::generation() + fork::generation() + self.closings.load(Ordering::Relaxed));
            }
        };
        let (local, cluster) = (process.local.generation(), process.cluster.as_ref().map_or(0, |tree| tree.generation()));
        if (local | cluster) & 1 == 1 {
            // A write is under way: of two lookups now, one may see what was before it and one what comes after.
            return None;
        }
        let trees = local + cluster;
        let process_wide = factories::generation() + fork::generation();
        Some(trees + process_wide + process.node.phases() + self.closings.load(Ordering::Relaxed))
    }

    /// Carries out one operation. Gives also how long it took.
    pub fn perform(
        &self,
        py: Python<'_>,
        mut invocation: Invocation,
        timeout: Option<Duration>,
    ) -> (Result<Product, Failure>, Duration) {
        let began = now();
        if let Reach::Process(process) = &self.reach {
            // Answered without waiting, and so without letting go of the interpreter.
            match process.check_process().and_then(|()| guarded(|| process.direct.at_once(&mut invocation))) {
                Ok(Some(product)) => {
                    let took = now().saturating_duration_since(began);
                    self.remember(Last::AtOnce(took));
                    return (Ok(product), took);
                }
                Ok(None) => {}
                Err(error) => {
                    self.remember(Last::Attempts(Vec::new()));
                    return (Err(Failure::Naming(error)), Duration::ZERO);
                }
            }
        }
        let (outcome, raised) = process::interruptible(py, |give_up| {
            guarded(|| self.driver().perform(invocation, timeout, give_up)).and_then(|outcome| outcome)
        });
        let took = now().saturating_duration_since(began);
        let outcome = match outcome {
            Ok((product, trail)) => {
                self.remember(Last::Trail(trail));
                Ok(product)
            }
            Err(error) => {
                self.remember(Last::Attempts(error.fields().attempts.clone()));
                Err(error)
            }
        };
        let outcome = match (outcome, raised) {
            (_, Some(raised)) => Err(Failure::Raised(raised)),
            (outcome, None) => outcome.map_err(Failure::Naming),
        };
        (outcome, took)
    }

    /// Begins to watch `name`, from the root.
    pub fn watch(&self, name: Name, scope: WatchScope, initial: bool) -> Result<Watch, NamingError> {
        self.driver().watch(name, scope, initial)
    }

    /// Gives back the lease of a name, if one is held there.
    pub fn give_back(&self, name: &Name) -> Releasing {
        self.driver().give_back(name)
    }

    /// Ends it: calls under way and later ones fail.
    pub fn close(&self, py: Python<'_>) {
        self.closings.fetch_add(1, Ordering::Relaxed);
        process::without_interpreter(py, || self.driver().close());
    }

    /// Whether that was done: all contexts over it are closed.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.driver().is_closed()
    }

    /// This thread's last call was answered by a cache.
    #[inline]
    pub fn remember_hot(&self) {
        if HOT.get() != self.id {
            self.turn_hot();
        }
    }

    #[cold]
    fn turn_hot(&self) {
        let before = HOT.replace(self.id);
        if before != 0 {
            keep(before, Last::AtOnce(Duration::ZERO));
        }
    }

    fn remember(&self, last: Last) {
        let hot = HOT.replace(0);
        if hot != 0 && hot != self.id {
            keep(hot, Last::AtOnce(Duration::ZERO));
        }
        keep(self.id, last);
    }

    /// The one attempt of a call that this process's own node answered at once.
    pub fn at_once(&self, took: Duration) -> Attempt {
        Attempt {
            target: self.node().map(|node| node.endpoint().to_string()).unwrap_or_default(),
            phase: Phase::Answer,
            outcome: "found".to_owned(),
            completion: CompletionStatus::Yes,
            elapsed: took,
            why_next: None,
            is_stale: false,
        }
    }

    /// The attempts of a call that was answered without asking over the network: this process's own node is one, what was
    /// kept is none.
    fn at_hand(&self, took: Duration) -> Vec<Attempt> {
        self.node().map(|_| self.at_once(took)).into_iter().collect()
    }

    /// Whether what lookups are answered may be kept here.
    pub fn keeps(&self) -> bool {
        match &self.reach {
            Reach::Process(_) => true,
            Reach::Network(client) => client.config().cache.is_some(),
        }
    }

    /// The attempts of this thread's last finished call.
    pub fn explain(&self) -> Vec<Attempt> {
        if HOT.get() == self.id {
            return self.at_hand(Duration::ZERO);
        }
        LAST.with_borrow(|last| match last.iter().find(|(id, _)| *id == self.id) {
            Some((_, Last::Trail(trail))) => trail.attempts(),
            Some((_, Last::Attempts(attempts))) => attempts.clone(),
            Some((_, Last::AtOnce(took))) => self.at_hand(*took),
            None => Vec::new(),
        })
    }
}

impl Known for Session {
    fn is_ha(&self) -> bool {
        self.scope == Scope::Cluster
    }

    fn node(&self) -> Option<&Node> {
        match &self.reach {
            Reach::Network(_) => None,
            Reach::Process(process) => Some(&process.node),
        }
    }

    fn known_targets(&self) -> Vec<(Target, Duration)> {
        match &self.reach {
            Reach::Network(client) => client.targets(),
            Reach::Process(_) => Vec::new(),
        }
    }

    fn known_metrics(&self) -> Metrics {
        match &self.reach {
            Reach::Network(client) => client.metrics(),
            Reach::Process(_) => Metrics::default(),
        }
    }

    fn known_view(&self) -> Option<Arc<View>> {
        match &self.reach {
            Reach::Network(client) => client.view(),
            Reach::Process(process) => Some(process.node.view()),
        }
    }
}

fn keep(id: u64, new: Last) {
    LAST.with_borrow_mut(|last| {
        if let Some((known, kept)) = last.last_mut()
            && *known == id
        {
            *kept = new;
            return;
        }
        last.retain(|(known, _)| *known != id);
        if last.len() == REMEMBERED {
            last.remove(0);
        }
        last.push((id, new));
    });
}

#[expect(clippy::disallowed_methods, reason = "tells the user how long an operation took; nothing is decided by it")]
fn now() -> Instant {
    Instant::now()
}
