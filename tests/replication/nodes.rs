//! Nodes on a network in memory, asked in their own process.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use hanaming::naming::{Content, EntryKind, ErrorKind, Lookup, NamingError};
use hanaming::protocol::{Answer, Fault, Mutation, Operation, OperationId, Reply, Request, Scope, Written};
use hanaming::server::{Node, ServerConfig};
use hanaming::topology::{Endpoint, MemberState};
use hanaming::transport::Service;
use hanaming::transport::memory::MemoryNetwork;

use crate::comparison::Comparison;
use crate::folders::Scratch;

/// A limit that no test should reach.
pub const LONG: Duration = Duration::from_secs(20);

/// How long a change may take.
const WITHIN: Duration = Duration::from_secs(5);

#[expect(clippy::disallowed_methods, reason = "the tests wait for real nodes")]
pub fn clock() -> Instant {
    Instant::now()
}

/// Waits for a condition, looking again every few milliseconds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = clock();
    while !holds() {
        assert!(start.elapsed() < LONG, "{what} did not come about");
        std::thread::park_timeout(Duration::from_millis(3));
    }
}

/// Nodes `n0`, `n1`, … of one cluster.
pub struct Cluster {
    pub network: MemoryNetwork,
    pub nodes: Vec<Node>,
    /// The nodes' data folders, where they have any.
    pub folders: Option<Scratch>,
    operations: AtomicU64,
    comparison: Comparison,
}

impl Cluster {
    pub fn start(count: usize) -> Self {
        Self::start_with(count, None)
    }

    /// Nodes that have data folders.
    pub fn durable(count: usize) -> Self {
        Self::start_with(count, Some(Scratch::new()))
    }

    fn start_with(count: usize, folders: Option<Scratch>) -> Self {
        let network = MemoryNetwork::new(1);
        let nodes = all_at_once(&network, count, folders.as_ref());
        let comparison = Comparison::of(&nodes);
        let cluster = Self { network, nodes, folders, operations: AtomicU64::new(0), comparison };
        cluster.settled();
        cluster
    }

    /// Ends all nodes.
    pub fn close(&self) {
        self.nodes.iter().for_each(Node::close);
    }

    /// Starts all anew, after all were killed.
    pub fn start_again(&mut self) {
        for number in 0..self.nodes.len() {
            self.network.revive(&format!("n{number}"));
        }
        self.nodes = all_at_once(&self.network, self.nodes.len(), self.folders.as_ref());
        self.comparison.follow(&self.nodes);
        self.settled();
    }

    /// The data folder of a node.
    pub fn folder(&self, number: usize) -> PathBuf {
        self.folders.as_ref().expect("a cluster with data").path(&format!("n{number}"))
    }

    /// Waits until all nodes are in one view.
    pub fn settled(&self) {
        until("one view", || {
            self.nodes.iter().all(|node| {
                let view = node.view();
                view.members().iter().filter(|member| member.state == MemberState::Live).count() == self.nodes.len()
            })
        });
    }

    /// Kills a node: nobody is told.
    pub fn kill(&self, number: usize) {
        self.network.kill(&format!("n{number}"));
        self.nodes[number].close();
    }

    /// Starts a killed node anew, with the data of its folder where it has one.
    pub fn restart(&mut self, number: usize) {
        self.try_restart(number, |_| {}).unwrap();
    }

    /// The same, in another way.
    pub fn try_restart(&mut self, number: usize, change: impl FnOnce(&mut ServerConfig)) -> Result<(), NamingError> {
        self.network.revive(&format!("n{number}"));
        let mut config = config(number, self.nodes.len(), self.folders.as_ref());
        change(&mut config);
        self.nodes[number] = Node::start_on(self.network.host(&format!("n{number}")), config)?;
        self.comparison.follow(&self.nodes);
        Ok(())
    }

    /// Asks a node for a change of the cluster tree, as an operation of its own.
    pub fn change(&self, number: usize, mutation: Mutation) -> Reply {
        let sequence = self.operations.fetch_add(1, Ordering::Relaxed) + 1;
        self.change_as(number, mutation, OperationId { client: 1, sequence })
    }

    pub fn change_as(&self, number: usize, mutation: Mutation, operation: OperationId) -> Reply {
        ask(&self.nodes[number], Some(operation), Operation::Mutate(mutation))
    }

    #[track_caller]
    pub fn written(&self, number: usize, mutation: Mutation) -> Written {
        match self.change(number, mutation) {
            Reply::Done(Answer::Written(written)) => written,
            other => panic!("not written: {other:?}"),
        }
    }

    #[track_caller]
    pub fn refused(&self, number: usize, mutation: Mutation) -> (ErrorKind, Fault) {
        match self.change(number, mutation) {
            Reply::Failed(fault) => (ErrorKind::from_code(fault.code), fault),
            other => panic!("not refused: {other:?}"),
        }
    }

    /// Waits until these nodes have the same tree.
    pub fn equal(&self, numbers: &[usize]) {
        let digest = |number: &usize| self.nodes[*number].cluster_digest();
        let is_equal = || numbers.iter().all(|number| digest(number) == digest(&numbers[0]));
        until("equal trees", is_equal);
    }

    /// The bytes of the value that a node shows at a name; `None` where nothing is bound.
    pub fn bytes(&self, number: usize, name: &str) -> Option<bytes::Bytes> {
        match self.nodes[number].cluster_tree().lookup(name) {
            Lookup::Found(entry) => Some(entry.content.value.clone()),
            _ => None,
        }
    }

    /// What a node shows at a name; `None` where nothing is bound.
    pub fn shows(&self, number: usize, name: &str) -> Option<String> {
        match self.nodes[number].cluster_tree().lookup(name) {
            Lookup::Found(entry) => Some(match entry.content.kind {
                EntryKind::Context => "context".to_owned(),
                _ => String::from_utf8_lossy(&entry.content.value).into_owned(),
            }),
            _ => None,
        }
    }
}

/// All at the same moment: each waits for the others before it founds anything.
fn all_at_once(network: &MemoryNetwork, count: usize, folders: Option<&Scratch>) -> Vec<Node> {
    std::thread::scope(|scope| {
        let start = |number: usize| {
            let config = config(number, count, folders);
            scope.spawn(move || Node::start_on(network.host(&config.name), config).unwrap())
        };
        let starting: Vec<_> = (0..count).map(start).collect();
        starting.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Node `number` of `count` that are each other's seeds.
pub fn config(number: usize, count: usize, folders: Option<&Scratch>) -> ServerConfig {
    let name = format!("n{number}");
    let mut config = ServerConfig::new(&name);
    config.listen = Endpoint::new(&name, 1);
    config.insecure = true;
    config.seeds = (0..count).filter(|other| *other != number).map(|other| Endpoint::new(format!("n{other}"), 1)).collect();
    config.data_dir = folders.map(|folders| folders.path(&name));
    config
}

pub fn ask(node: &Node, operation_id: Option<OperationId>, operation: Operation) -> Reply {
    let time_left = u32::try_from(WITHIN.as_micros()).unwrap();
    let request = Request { time_left, scope: Scope::Cluster, operation_id, is_retry: false, operation, known: None };
    let (sender, receiver) = sync_channel(1);
    let reply_to = Box::new(move |reply| drop(sender.send(reply)));
    node.submit(request, WITHIN, reply_to);
    receiver.recv_timeout(LONG).unwrap()
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

pub fn bind(name: &str, value: &str) -> Mutation {
    binding(name, value, false)
}

pub fn rebind(name: &str, value: &str) -> Mutation {
    binding(name, value, true)
}

fn binding(name: &str, value: &str, replace: bool) -> Mutation {
    Mutation::Bind { name: name.to_owned(), content: text(value), replace, create_parents: true, lease: None }
}

pub fn unbind(name: &str) -> Mutation {
    Mutation::Unbind { name: name.to_owned() }
}
