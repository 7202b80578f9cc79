//! Real nodes: over the network in memory with its faults, and over TCP.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hanaming::naming::ErrorKind;
use hanaming::server::{Node, ServerConfig};
use hanaming::topology::Endpoint;
use hanaming::transport::Network;
use hanaming::transport::memory::MemoryNetwork;
use hanaming::transport::tcp::TcpNetwork;

/// A limit that no test should reach.
const LONG: Duration = Duration::from_secs(15);

#[expect(clippy::disallowed_methods, reason = "the tests wait for real nodes")]
fn clock() -> Instant {
    Instant::now()
}

/// Waits for a condition, looking again every few milliseconds.
fn until(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let start = clock();
    while !holds() {
        assert!(start.elapsed() < LONG, "{what} did not come about");
        std::thread::park_timeout(Duration::from_millis(3));
    }
    start.elapsed()
}

fn at(host: &str) -> Endpoint {
    Endpoint::new(host, 1)
}

/// The node's own host is part of its address on the network in memory.
fn config(name: &str, seeds: &[&str]) -> ServerConfig {
    let mut config = ServerConfig::new(name);
    config.listen = at(name);
    config.insecure = true;
    config.seeds = seeds.iter().map(|seed| at(seed)).collect();
    config
}

fn start(network: &MemoryNetwork, name: &str, seeds: &[&str]) -> Node {
    Node::start_on(network.host(name), config(name, seeds)).unwrap()
}

fn names(node: &Node) -> Vec<String> {
    node.view().members().iter().map(|member| member.name.clone()).collect()
}

fn is_one(nodes: &[&Node]) -> bool {
    let view = nodes[0].view();
    view.members().len() == nodes.len() && nodes.iter().all(|node| node.view().id() == view.id())
}

#[test]
fn nodes_meet_through_seeds_and_are_ready_in_one_view() {
    let network = MemoryNetwork::new(1);
    let n1 = start(&network, "n1", &[]);
    let n2 = start(&network, "n2", &["n1"]);
    let n3 = start(&network, "n3", &["n2"]);
    assert_eq!(names(&n3), ["n1", "n2", "n3"]);
    until("one view", || is_one(&[&n1, &n2, &n3]));
}

#[test]
fn over_tcp() {
    let tcp: Arc<dyn Network> = Arc::new(TcpNetwork);
    let n1 = Node::start_on(Arc::clone(&tcp), ServerConfig::new("n1")).unwrap();
    let mut second = ServerConfig::new("n2");
    second.seeds = vec![Endpoint::new("localhost", n1.endpoint().port())];
    let n2 = Node::start_on(tcp, second).unwrap();
    until("one view", || is_one(&[&n1, &n2]));
    let took = until("n1 alone", || {
        n2.close();
        names(&n1) == ["n1"]
    });
    assert!(took < Duration::from_millis(1400), "a node that is gone refuses: {took:?}");
}

#[test]
fn the_later_of_two_nodes_of_one_name_is_refused() {
    let network = MemoryNetwork::new(1);
    let n1 = start(&network, "n1", &[]);
    let n2 = start(&network, "n2", &["n1"]);
    let mut twin = config("n2", &["n1"]);
    twin.listen = at("elsewhere");
    let error = Node::start_on(network.host("elsewhere"), twin).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert_eq!(
        error.to_string(),
        "the node name 'n2' is taken by the live node at n2:1; the node at elsewhere:1 came later: give it another name, or \
         stop the first"
    );
    assert!(is_one(&[&n1, &n2]));
}
