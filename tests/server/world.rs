//! Nodes without a network: cores that ask each other directly, each as slow or broken as a test says. With the
//! runtime's clock paused, every time in a test is exact.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hanaming::cluster::message::Message;
use hanaming::failure::Phase as Reached;
use hanaming::naming::{BindOptions, Content, EntryKind, Name, Observer, Source, Tree};
use hanaming::protocol::{Channel, Limits, Operation, OperationId, Reply, Request, Scope};
use hanaming::server::ServerLimits;
use hanaming::server::bulletin::Bulletin;
use hanaming::server::clock::Clock;
use hanaming::server::connection::Caller;
use hanaming::server::core::{Core, Identity, Phase};
use hanaming::server::log::ChangeLog;
use hanaming::server::replication::{Origin, follow_views, keep_time};
use hanaming::topology::{Endpoint, Member, MemberState, NodeId, View};
use hanaming::transport::{BoxFuture, TransportError, TransportErrorKind};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::companions::{Carrier, Companions};

/// How a node treats those who ask it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Manner {
    /// Answers after that time.
    Answers(Duration),
    /// Never answers.
    Frozen,
    /// Connections to it break at once.
    Broken,
}

/// What all cores of a test share.
#[derive(Debug, Default)]
struct Between {
    cores: Mutex<HashMap<NodeId, Arc<Core>>>,
    manners: Mutex<HashMap<NodeId, Manner>>,
    asked: Mutex<Vec<(NodeId, Operation)>>,
}

/// A cluster of cores `n0`, `n1`, …
pub struct World {
    between: Arc<Between>,
    pub cores: Vec<Arc<Core>>,
    bulletins: Vec<watch::Sender<Arc<Bulletin>>>,
}

impl Carrier for Between {
    fn tell(self: Arc<Self>, from: NodeId, peer: NodeId, messages: Vec<Message>) {
        tokio::spawn(async move {
            let manner = self.manners.lock().unwrap().get(&peer).copied();
            let Manner::Answers(after) = manner.unwrap_or(Manner::Answers(Duration::from_millis(1))) else { return };
            sleep(after).await;
            let core = Arc::clone(&self.cores.lock().unwrap()[&peer]);
            for message in messages {
                core.replication.receive(from, message);
            }
        });
    }

    fn ask(&self, peer: NodeId, request: Request, within: Duration) -> BoxFuture<'_, Result<Reply, TransportError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push((peer, request.operation.clone()));
            let manner = self.manners.lock().unwrap().get(&peer).copied();
            match manner.unwrap_or(Manner::Answers(Duration::from_millis(1))) {
                Manner::Answers(after) => {
                    sleep(after).await;
                    let core = Arc::clone(&self.cores.lock().unwrap()[&peer]);
                    Ok(core.answer_now(Caller::Peer(NodeId(1), Channel::Data), &request).expect("a peer answers at once"))
                }
                Manner::Frozen => {
                    sleep(within).await;
                    Err(TransportError::new(Reached::Wait, TransportErrorKind::TimedOut(within)))
                }
                Manner::Broken => Err(TransportError::new(Reached::Connect, TransportErrorKind::Refused)),
            }
        })
    }
}

impl World {
    /// So many live nodes that see each other.
    pub fn new(nodes: u128) -> Self {
        Self::with_limits(nodes, &ServerLimits::default())
    }

    /// One node that has not joined yet.
    pub fn joining() -> Self {
        Self::start(1, &ServerLimits::default())
    }

    pub fn with_limits(nodes: u128, limits: &ServerLimits) -> Self {
        let world = Self::start(nodes, limits);
        for core in &world.cores {
            tokio::spawn(keep_time(Arc::clone(&core.replication)));
            tokio::spawn(follow_views(Arc::clone(&core.replication), Vec::new(), core.peers.views()));
            core.phase.advance(Phase::Serving);
        }
        world
    }

    fn start(nodes: u128, limits: &ServerLimits) -> Self {
        let members: Vec<Member> = (0..nodes)
            .map(|n| Member {
                name: format!("n{n}"),
                id: NodeId(n),
                endpoint: Endpoint::new(format!("host{n}"), 1),
                state: MemberState::Live,
            })
            .collect();
        let between = Arc::new(Between::default());
        let mut world = Self { between: Arc::clone(&between), cores: Vec::new(), bulletins: Vec::new() };
        let view = Arc::new(View::new("test", None, members.clone()));
        for member in members {
            let name: Arc<str> = Arc::from(member.name.as_str());
            let id = member.id;
            let logs = [2 * id.0, 2 * id.0 + 1].map(|id| Arc::new(ChangeLog::new(id)));
            let tree = |source, log: &Arc<ChangeLog>| {
                let tree = Tree::new(log.id()).with_origin(source, Arc::clone(&name));
                Arc::new(tree.with_observer(Arc::clone(log) as Arc<dyn Observer>))
            };
            let identity = Identity {
                id,
                local: tree(Source::Local, &logs[0]),
                cluster: tree(Source::Cluster, &logs[1]),
                logs,
                name: Arc::clone(&name),
                settings: Vec::new(),
                origin: Origin::Memory,
            };
            let bulletin = Bulletin::new(Arc::clone(&view), id, false, Limits::default());
            let bulletins = watch::Sender::new(Arc::new(bulletin));
            let (views, carrier) = (watch::Sender::new(Arc::clone(&view)), Arc::clone(&between));
            let companions = Companions { member, cluster: "test", views, carrier };
            let core = Core::new(identity, Arc::new(companions), limits.clone(), Clock::default(), bulletins.subscribe());
            between.cores.lock().unwrap().insert(id, Arc::clone(&core));
            world.cores.push(core);
            world.bulletins.push(bulletins);
        }
        world
    }

    /// How a node treats those who ask it from now on.
    pub fn set(&self, node: u128, manner: Manner) {
        self.between.manners.lock().unwrap().insert(NodeId(node), manner);
    }

    /// `node` leaves the view of `seen_by`.
    pub fn leave(&self, node: u128, seen_by: usize) {
        let before = self.cores[seen_by].bulletin();
        let members = before.view.members().iter().filter(|m| m.id != NodeId(node)).cloned().collect();
        let view = Arc::new(View::new("test", None, members));
        let bulletin = Bulletin::new(view, self.cores[seen_by].id, false, Limits::default());
        self.bulletins[seen_by].send_replace(Arc::new(bulletin));
    }

    /// Binds a text in a node's local tree.
    pub fn bind(&self, node: usize, name: &str, value: &str) {
        bind(&self.cores[node].local, name, text(value));
    }

    /// Who was asked what since the last call.
    pub fn asked(&self) -> Vec<(u128, Operation)> {
        let asked = std::mem::take(&mut *self.between.asked.lock().unwrap());
        asked.into_iter().map(|(node, operation)| (node.0, operation)).collect()
    }

    /// Who was asked for names since the last call, and for which.
    pub fn asked_names(&self) -> Vec<(u128, Vec<String>)> {
        let names = |operation| match operation {
            Operation::LookupMany { names } => names.iter().map(str::to_owned).collect(),
            other => panic!("asked {other:?}"),
        };
        self.asked().into_iter().map(|(node, operation)| (node, names(operation))).collect()
    }

    /// Asks a node as a client, who waits for so many milliseconds: the reply and how long it took.
    pub async fn ask(&self, node: usize, scope: Scope, operation: Operation, left: u64) -> (Reply, Duration) {
        let core = Arc::clone(&self.cores[node]);
        let request = request(scope, operation);
        let start = Instant::now();
        let reply = match core.answer_now(Caller::Client, &request) {
            Some(reply) => reply,
            None => core.answer_later(request, start + Duration::from_millis(left)).await.reply,
        };
        (reply, start.elapsed())
    }

    /// Asks a node for a change of the cluster tree, each time as another operation.
    pub async fn ask_as(&self, node: usize, operation: Operation) -> Reply {
        let core = Arc::clone(&self.cores[node]);
        let request = Request { operation_id: Some(core.next_operation()), ..request(Scope::Cluster, operation) };
        match core.answer_now(Caller::Client, &request) {
            Some(reply) => reply,
            None => core.answer_later(request, Instant::now() + Duration::from_secs(1)).await.reply,
        }
    }

    /// Looks a name up by the rule, for a client that waits 250 ms.
    pub async fn lookup(&self, node: usize, name: &str) -> (Reply, Duration) {
        self.ask(node, Scope::Cluster, Operation::Lookup { name: name.to_owned() }, 250).await
    }
}

pub fn request(scope: Scope, operation: Operation) -> Request {
    let operation_id = matches!(operation, Operation::Mutate(_)).then_some(OperationId { client: 7, sequence: 1 });
    Request { time_left: 1_000_000, scope, operation_id, is_retry: false, operation, known: None }
}

/// A text as it is bound. Its bytes are no canonical value: no server ever reads them.
pub fn text(value: &str) -> Content {
    Content {
        kind: EntryKind::Value,
        class_name: Arc::from("str"),
        value: bytes::Bytes::copy_from_slice(value.as_bytes()),
        instance: None,
    }
}

pub fn bind(tree: &Tree, name: &str, content: Content) {
    let options = BindOptions { replace: true, create_parents: true };
    tree.bind(&Name::parse(name).unwrap(), content, options).unwrap();
}
