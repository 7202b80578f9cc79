//! One node's part in the cluster tree without the node: its disk and its peers are the test's.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hanaming::cluster::message::Message;
use hanaming::cluster::reply::Reply as Outcome;
use hanaming::cluster::request::{Binding, Intent, Level, Request as Change};
use hanaming::cluster::vector::Seen;
use hanaming::naming::{Lookup, Name, Tree};
use hanaming::protocol::{OperationId, Reply, Request};
use hanaming::server::clock::Clock;
use hanaming::server::log::ChangeLog;
use hanaming::server::replication::{Keeper, Origin, Readers, Replication, Told, follow_views, keep_time};
use hanaming::topology::{Endpoint, Member, MemberState, NodeId, View};
use hanaming::transport::{BoxFuture, TransportError};
use tokio::runtime::Runtime;
use tokio::sync::{oneshot, watch};

use crate::companions::{Carrier, Companions};
use crate::disk::Disk;
use crate::nodes::text;

pub const ME: NodeId = NodeId(1);
pub const PEER: NodeId = NodeId(2);

/// Where a rig says that its data is.
pub const FOLDER: &str = "/the/data";

/// Peers that never answer: what they are told is kept.
#[derive(Debug, Default)]
pub struct Deaf {
    pub told: Mutex<Vec<(NodeId, Message)>>,
}

pub struct Rig {
    pub replication: Arc<Replication>,
    pub tree: Arc<Tree>,
    pub peers: Arc<Deaf>,
    views: watch::Sender<Arc<View>>,
    pub keeper: Option<Keeper>,
    operations: AtomicU64,
    pub runtime: Runtime,
}

fn member(id: NodeId) -> Member {
    Member { name: format!("n{}", id.0), id, endpoint: Endpoint::new("h", 1), state: MemberState::Live }
}

impl Rig {
    /// A node on `disk`, alone.
    pub fn start(disk: &Disk) -> Self {
        Self::start_on(disk, Runtime::new().unwrap())
    }

    /// A node on `disk`, alone, with that runtime.
    pub fn start_on(disk: &Disk, runtime: Runtime) -> Self {
        let entered = runtime.enter();
        let views = watch::Sender::new(Arc::new(View::new("c", None, vec![member(ME)])));
        let peers = Arc::new(Deaf::default());
        let tree = Arc::new(Tree::new(1));
        let state = disk.platter().held.clone();
        let last = state.as_ref().map(|state| state.meta.clone());
        let origin = Origin::Folder { path: PathBuf::from(FOLDER), state };
        let carrier = Arc::clone(&peers);
        let companions = Arc::new(Companions { member: member(ME), cluster: "c", views: views.clone(), carrier });
        let readers = Readers { tree: Arc::clone(&tree), log: Arc::new(ChangeLog::new(1)) };
        let replication = Replication::new(ME, Arc::from("n1"), readers, companions, Clock::default(), origin);
        let keeper = Keeper::start(Arc::clone(&replication), disk.clone(), last, None).unwrap();
        runtime.spawn(keep_time(Arc::clone(&replication)));
        runtime.spawn(follow_views(Arc::clone(&replication), Vec::new(), views.subscribe()));
        runtime.block_on(replication.reached(hanaming::server::replication::Stage::Ready));
        drop(entered);
        Self { replication, tree, peers, views, keeper: Some(keeper), operations: AtomicU64::new(0), runtime }
    }

    /// A second member comes.
    pub fn meet_peer(&self) {
        self.views.send_replace(Arc::new(View::new("c", None, vec![member(ME), member(PEER)])));
    }

    /// It goes.
    pub fn lose_peer(&self) {
        self.views.send_replace(Arc::new(View::new("c", None, vec![member(ME)])));
    }

    pub fn begin(&self, name: &str) -> oneshot::Receiver<Told> {
        self.begin_with(name, "x")
    }

    pub fn begin_with(&self, name: &str, value: &str) -> oneshot::Receiver<Told> {
        let sequence = self.operations.fetch_add(1, Ordering::Relaxed) + 1;
        self.replication.submit(Change {
            operation: OperationId { client: 7, sequence },
            name: Name::parse(name).unwrap(),
            intent: Intent::Rebind(Binding { content: text(value), create_parents: true, lease: None }),
            is_retry: false,
            token: Seen::default(),
            level: Level::AllLive,
            within: Duration::from_secs(5),
        })
    }

    pub fn write(&self, name: &str) -> Outcome {
        self.begin(name).blocking_recv().unwrap().reply
    }

    pub fn shows(&self, name: &str) -> bool {
        matches!(self.tree.lookup(name), Lookup::Found(_))
    }

    pub fn told(&self, what: impl Fn(&Message) -> bool) -> bool {
        self.peers.told.lock().unwrap().iter().any(|(_, message)| what(message))
    }
}

impl Carrier for Deaf {
    fn tell(self: Arc<Self>, _: NodeId, peer: NodeId, messages: Vec<Message>) {
        self.told.lock().unwrap().extend(messages.into_iter().map(|message| (peer, message)));
    }

    fn ask(&self, _: NodeId, _: Request, _: Duration) -> BoxFuture<'_, Result<Reply, TransportError>> {
        Box::pin(std::future::pending())
    }
}
