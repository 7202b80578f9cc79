//! Real nodes for the drivers to talk to, and what tests do with them.

use std::time::{Duration, Instant};

use hanaming::client::{Client, ClientConfig, Driver, Invocation, Product};
use hanaming::naming::{BindOptions, NamingError, Value};
use hanaming::server::{Node, ServerConfig};
use hanaming::topology::{Endpoint, MemberState};
use hanaming::transport::memory::MemoryNetwork;

use crate::stage::{name, subject};

/// A limit that no test should reach.
pub const LONG: Duration = Duration::from_secs(15);

#[expect(clippy::disallowed_methods, reason = "these tests wait for real nodes")]
pub fn clock() -> Instant {
    Instant::now()
}

/// Waits for a condition, looking again every few milliseconds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = clock();
    while !holds() {
        assert!(start.elapsed() < LONG, "{what} did not come about");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Nodes `n1`, `n2`, … of one cluster, over TCP on free loopback ports.
pub struct Cluster {
    pub nodes: Vec<Node>,
}

impl Cluster {
    pub fn start(count: usize) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        for nth in 1..=count {
            let seeds = nodes.iter().take(1).map(Node::endpoint).collect();
            let config = ServerConfig { seeds, ..ServerConfig::new(format!("n{nth}")) };
            nodes.push(Node::start(config).unwrap());
        }
        let cluster = Self { nodes };
        cluster.until_one(count);
        cluster
    }

    fn until_one(&self, count: usize) {
        until("one view", || self.nodes.iter().filter(|node| !node.is_closed()).all(|node| are_live(node, count)));
    }

    pub fn endpoints(&self) -> Vec<Endpoint> {
        self.nodes.iter().map(Node::endpoint).collect()
    }

    /// Closes a node and starts another of that name at the same port, in the same cluster.
    pub fn restart(&mut self, nth: usize) {
        let endpoint = self.nodes[nth].endpoint();
        let name = self.nodes[nth].name().to_owned();
        self.nodes[nth].close();
        let seeds = self.endpoints().into_iter().filter(|seed| *seed != endpoint).collect();
        let config = ServerConfig { seeds, listen: endpoint, ..ServerConfig::new(name) };
        let mut started = None;
        until("the port is free again", || {
            started = Node::start(config.clone()).ok();
            started.is_some()
        });
        self.nodes[nth] = started.unwrap();
        self.until_one(self.nodes.len());
    }

    /// Binds a number in every node's local tree.
    pub fn bind_everywhere(&self, text: &str, number: i64) {
        for node in &self.nodes {
            bind_local(node, text, number);
        }
    }
}

/// Whether a node sees so many live members.
pub fn are_live(node: &Node, count: usize) -> bool {
    let view = node.view();
    view.members().len() == count && view.members().iter().all(|member| member.state == MemberState::Live)
}

/// A node on the network in memory, with its name for a host.
pub fn in_memory(network: &MemoryNetwork, host: &str, seeds: &[&str]) -> Node {
    let at = |host: &str| Endpoint::new(host, 1);
    let config = ServerConfig {
        listen: at(host),
        insecure: true,
        seeds: seeds.iter().map(|seed| at(seed)).collect(),
        ..ServerConfig::new(host)
    };
    Node::start_on(network.host(host), config).unwrap()
}

pub fn bind_local(node: &Node, text: &str, number: i64) {
    let content = Value::Int(number).to_content().unwrap();
    let options = BindOptions { replace: true, create_parents: true };
    node.local_tree().bind(&name(text), content, options).unwrap();
}

/// How many requests each node has served.
pub fn served(nodes: &[Node]) -> Vec<u64> {
    nodes.iter().map(|node| node.status().requests).collect()
}

pub fn client(endpoints: Vec<Endpoint>) -> Client {
    Client::new(ClientConfig::new(endpoints)).unwrap()
}

pub fn ask(driver: &dyn Driver, invocation: Invocation) -> Result<Product, NamingError> {
    driver.perform(invocation, None, &mut || false).map(|(product, _)| product)
}

/// Looks a number up.
pub fn look(driver: &dyn Driver, text: &str) -> Result<i64, NamingError> {
    let product = ask(driver, Invocation::lookup(subject(text)).unwrap())?;
    let Product::Found(located) = product else { panic!("{product:?}") };
    let Value::Int(number) = Value::from_content(&located.found.content)? else { panic!("a number was bound") };
    Ok(number)
}

/// Bound to `number` in a node's local tree?
pub fn is_bound(node: &Node, text: &str) -> bool {
    matches!(node.local_tree().lookup(text), hanaming::naming::Lookup::Found(_))
}
