//! Real nodes: over the network in memory with its faults, and over TCP. How long things take is tested by the engine and
//! its simulation, where no busy machine can blur it.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use hanaming::naming::{BindOptions, Content, EntryKind, ErrorKind, Name};
use hanaming::protocol::{Answer, Operation, Reply, Request, Scope};
use hanaming::server::{Node, ServerConfig};
use hanaming::topology::{Endpoint, MemberState};
use hanaming::transport::memory::{MemoryNetwork, Mishap, Rule};
use hanaming::transport::tcp::TcpNetwork;
use hanaming::transport::{Network, Service};

/// A limit that no test should reach.
const LONG: Duration = Duration::from_secs(20);

#[expect(clippy::disallowed_methods, reason = "the tests wait for real nodes")]
fn clock() -> Instant {
    Instant::now()
}

/// Waits for a condition, looking again every few milliseconds; says how long it took.
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

/// On the network in memory a node's host bears its name.
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

/// Three nodes in one view.
fn three(network: &MemoryNetwork) -> [Node; 3] {
    let nodes = [start(network, "n1", &[]), start(network, "n2", &["n1"]), start(network, "n3", &["n1"])];
    until("one view", || is_one(&[&nodes[0], &nodes[1], &nodes[2]]));
    nodes
}

fn names(node: &Node) -> Vec<String> {
    node.view().members().iter().map(|member| member.name.clone()).collect()
}

fn is_one(nodes: &[&Node]) -> bool {
    let view = nodes[0].view();
    view.members().len() == nodes.len()
        && view.members().iter().all(|member| member.state == MemberState::Live)
        && nodes.iter().all(|node| node.view().id() == view.id())
}

fn bind(node: &Node, name: &str) {
    let content =
        Content { kind: EntryKind::Value, class_name: Arc::from("str"), value: bytes::Bytes::from_static(b"v"), instance: None };
    node.local_tree().bind(&Name::parse(name).unwrap(), content, BindOptions::default()).unwrap();
}

fn lookup(node: &Node, name: &str) -> Reply {
    let operation = Operation::Lookup { name: name.to_owned() };
    let request =
        Request { time_left: 2_000_000, scope: Scope::Cluster, operation_id: None, is_retry: false, operation, known: None };
    let (sender, reply) = sync_channel(1);
    node.submit(request, Duration::from_secs(2), Box::new(move |reply| sender.send(reply).unwrap()));
    reply.recv_timeout(LONG).unwrap()
}

fn finds(node: &Node, name: &str) -> bool {
    matches!(lookup(node, name), Reply::Done(Answer::Found(_)))
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
fn all_at_once_with_each_other_as_seeds() {
    let network = MemoryNetwork::new(2);
    let all = ["n1", "n2", "n3", "n4"];
    let starting: Vec<_> = all
        .into_iter()
        .map(|name| {
            let network = network.clone();
            std::thread::spawn(move || start(&network, name, &all))
        })
        .collect();
    let nodes: Vec<Node> = starting.into_iter().map(|thread| thread.join().unwrap()).collect();
    until("one view", || is_one(&nodes.iter().collect::<Vec<_>>()));
}

#[test]
fn over_tcp_by_a_host_name() {
    let tcp: Arc<dyn Network> = Arc::new(TcpNetwork);
    let n1 = Node::start_on(Arc::clone(&tcp), ServerConfig::new("n1")).unwrap();
    let mut second = ServerConfig::new("n2");
    second.seeds = vec![Endpoint::new("localhost", n1.endpoint().port())];
    let n2 = Node::start_on(tcp, second).unwrap();
    until("one view", || is_one(&[&n1, &n2]));
    bind(&n2, "a");
    assert!(finds(&n1, "a"));
    n2.close();
    until("n1 alone", || names(&n1) == ["n1"]);
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

#[test]
fn a_node_of_another_clusters_name_is_refused() {
    let network = MemoryNetwork::new(1);
    let n1 = start(&network, "n1", &[]);
    let mut stranger = config("n2", &["n1"]);
    stranger.cluster = "other".to_owned();
    let error = Node::start_on(network.host("n2"), stranger).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    let text = error.to_string();
    assert!(text.contains("node n1") && text.contains("'default'") && text.contains("'other'"), "{text}");
    assert_eq!(names(&n1), ["n1"]);
}

#[test]
fn two_clusters_of_one_name_refuse_each_other_loudly() {
    let network = MemoryNetwork::new(1);
    let (a1, b1) = (start(&network, "a1", &[]), start(&network, "b1", &[]));
    let (_a2, _b2) = (start(&network, "a2", &["a1"]), start(&network, "b2", &["b1"]));
    let is_firm = |node: &Node| node.status().introduction.firm;
    until("both firm", || is_firm(&a1) && is_firm(&b1));
    // A node with seeds of both can be in one only.
    let bridge = start(&network, "n", &["a1", "b1"]);
    until("said on both sides", || {
        let refusing = if names(&bridge).contains(&"a1".to_owned()) { &b1 } else { &a1 };
        [&bridge, refusing].iter().all(|node| node.status().warnings.iter().any(|text| text.contains("Neither gives way")))
    });
    assert_eq!(names(&bridge).len(), 3);
}

#[test]
fn a_node_that_cannot_be_reached_is_told_so() {
    let network = MemoryNetwork::new(1);
    let n1 = start(&network, "n1", &[]);
    let mut hidden = config("n2", &["n1"]);
    hidden.advertise = Some(Endpoint::new("nowhere", 9));
    hidden.ready_within = Duration::from_millis(700);
    let error = Node::start_on(network.host("n2"), hidden).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimeLimitExceeded);
    let text = error.to_string();
    assert!(text.contains("node n1 at n1:1 does not see this node: can it reach nowhere:9?"), "{text}");
    assert_eq!(names(&n1), ["n1"]);
}

#[test]
fn a_killed_node_is_seen_dead_and_comes_back_as_another() {
    let network = MemoryNetwork::new(1);
    let [n1, n2, n3] = three(&network);
    network.kill("n3");
    until("seen dead", || is_one(&[&n1, &n2]));
    n3.close();
    network.revive("n3");
    let again = start(&network, "n3", &["n1"]);
    assert_ne!(again.id(), n3.id());
    until("back", || is_one(&[&n1, &n2, &again]));
}

#[test]
fn a_restart_before_the_death_was_seen_replaces_the_old_at_once() {
    let network = MemoryNetwork::new(1);
    let [n1, n2, n3] = three(&network);
    // As if its host had vanished: no reset reaches the others.
    network.freeze("n3");
    n3.close();
    network.heal();
    let again = start(&network, "n3", &["n1"]);
    assert_ne!(again.id(), n3.id());
    until("replaced", || is_one(&[&n1, &n2, &again]));
}

#[test]
fn a_frozen_node_is_removed_and_rejoins_by_itself() {
    let network = MemoryNetwork::new(1);
    let [n1, n2, n3] = three(&network);
    network.freeze("n3");
    let took = until("removed", || is_one(&[&n1, &n2]));
    assert!(took > Duration::from_secs(1), "it is silent, and does not refuse: {took:?}");
    network.thaw("n3");
    until("back", || is_one(&[&n1, &n2, &n3]));
}

#[test]
fn a_split_heals() {
    let network = MemoryNetwork::new(1);
    let [n1, n2, n3] = three(&network);
    network.partition(&[&["n1"], &["n2", "n3"]]);
    until("two sides", || names(&n1) == ["n1"] && names(&n2) == ["n2", "n3"] && names(&n3) == ["n2", "n3"]);
    network.heal();
    until("one again", || is_one(&[&n1, &n2, &n3]));
}

#[test]
fn a_one_way_cut_is_seen_from_both_ends() {
    let network = MemoryNetwork::new(1);
    let [n1, n2, n3] = three(&network);
    network.cut("n3", "n1");
    until("seen", || names(&n1) == ["n1", "n2"] && names(&n3) == ["n2", "n3"]);
    assert_eq!(names(&n2), ["n1", "n2", "n3"]);
    network.heal();
    until("one again", || is_one(&[&n1, &n2, &n3]));
}

#[test]
fn a_quiescing_node_leaves_at_once() {
    let network = MemoryNetwork::new(1);
    let [n1, n2, n3] = three(&network);
    n3.quiesce(Duration::from_secs(2)).unwrap();
    // Sooner than its silence would tell.
    assert!(until("it has left", || is_one(&[&n1, &n2])) < Duration::from_millis(1400));
}

#[test]
fn a_connection_for_requests_is_opened_again_after_a_reset() {
    let network = MemoryNetwork::new(1);
    let [n1, n2, n3] = three(&network);
    bind(&n1, "a");
    assert!(finds(&n2, "a"));
    for _ in 0..3 {
        network.reset("n1", "n2");
        assert!(finds(&n2, "a"));
    }
    until("nobody was lost over it", || is_one(&[&n1, &n2, &n3]));
}

#[test]
fn lost_gossip_kills_nobody() {
    let network = MemoryNetwork::new(4);
    let gossip = Operation::Gossip(hanaming::protocol::Gossip {
        speaker: hanaming::topology::NodeId(1),
        edition: 1,
        introduction: None,
        has: None,
        beheld: 0,
        sees_you: true,
        leaving: false,
        settled: true,
        packets: Vec::new(),
    });
    network.add(Rule::new(Mishap::Lose).operation(gossip.code()).chance(0.1));
    network.add(Rule::new(Mishap::Delay(Duration::ZERO..Duration::from_millis(40))));
    let [n1, n2, n3] = three(&network);
    let watched = clock();
    while watched.elapsed() < Duration::from_secs(3) {
        for node in [&n1, &n2, &n3] {
            assert_eq!(names(node), ["n1", "n2", "n3"]);
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
    assert!(network.struck() > 20, "{}", network.struck());
}
