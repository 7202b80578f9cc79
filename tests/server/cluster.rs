//! Nodes that ask each other, over the network in memory with its faults, and over TCP.

use std::time::Duration;

use hanaming::failure::CompletionStatus;
use hanaming::naming::{ErrorKind, Source};
use hanaming::protocol::{
    Answer, Fault, Hello, Limits, Mutation, Operation, PageRequest, RefusalReason, Reply, Role, Scope, SurveyAnswer, TreeChoice,
};
use hanaming::server::{Node, ServerConfig};
use hanaming::topology::{Endpoint, MemberState, View};
use hanaming::transport::Service;
use hanaming::transport::link::Link;
use hanaming::transport::memory::{MemoryNetwork, Mishap, Rule};
use tokio::runtime::Runtime;
use tokio::time::Instant;

use crate::raw::{LONG, Raw, eventually, lookup};
use crate::world::{bind, request, text};

/// Three nodes on a network in memory, in one view, and a client's runtime.
struct Three {
    network: MemoryNetwork,
    nodes: Vec<Node>,
    runtime: Runtime,
}

fn config(name: &str, seeds: &[&str]) -> ServerConfig {
    let mut config = ServerConfig::new(name);
    config.listen = Endpoint::new(name, 1);
    config.insecure = true;
    config.seeds = seeds.iter().map(|seed| Endpoint::new(*seed, 1)).collect();
    config
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

impl Three {
    fn start() -> Self {
        Self::start_with(|_| {})
    }

    fn start_with(change: impl Fn(&mut ServerConfig)) -> Self {
        let network = MemoryNetwork::new(1);
        let start = |name: &str, seeds: &[&str]| {
            let mut config = config(name, seeds);
            change(&mut config);
            Node::start_on(network.host(name), config).unwrap()
        };
        let nodes = vec![start("n1", &[]), start("n2", &["n1"]), start("n3", &["n1"])];
        let three = Self { network, nodes, runtime: runtime() };
        eventually("all see all as live", || {
            three.nodes.iter().all(|node| {
                let view = node.view();
                view.members().len() == 3 && view.members().iter().all(|m| m.state == MemberState::Live)
            })
        });
        three
    }

    fn link(&self, node: usize) -> Link {
        let host = self.network.host("client");
        let hello = Hello::new(Role::Client { id: 1 }, None);
        let endpoint = self.nodes[node].endpoint();
        self.runtime.block_on(Link::open(&*host, &endpoint, hello, Limits::default(), LONG)).unwrap().0
    }

    fn ask(&self, link: &Link, operation: Operation, within: Duration) -> Reply {
        self.runtime.block_on(link.ask(request(Scope::Cluster, operation), within)).unwrap()
    }

    /// Looks a name up where nobody is silent. On a machine that is busy with other things somebody may be for a moment.
    fn lookup(&self, link: &Link, name: &str) -> Reply {
        let start = Instant::now();
        loop {
            let reply = self.lookup_once(link, name);
            match &reply {
                Reply::Failed(fault) if !fault.silent.is_empty() && start.elapsed() < LONG => {}
                _ => return reply,
            }
        }
    }

    fn lookup_once(&self, link: &Link, name: &str) -> Reply {
        self.ask(link, lookup(name), Duration::from_secs(2))
    }
}

#[track_caller]
fn found(reply: &Reply) -> (Source, String, Vec<String>) {
    match reply {
        Reply::Done(Answer::Found(found)) => {
            (found.source, found.node.to_string(), found.asked.iter().map(ToString::to_string).collect())
        }
        other => panic!("not found: {other:?}"),
    }
}

#[track_caller]
fn failed(reply: Reply) -> (ErrorKind, Fault) {
    match reply {
        Reply::Failed(fault) => (ErrorKind::from_code(fault.code), fault),
        other => panic!("no failure: {other:?}"),
    }
}

fn strings(nodes: &[std::sync::Arc<str>]) -> Vec<String> {
    nodes.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_bound_on_one_node_is_found_through_all() {
    let three = Three::start();
    bind(&three.nodes[2].local_tree(), "orders", text("x"));
    let links: Vec<Link> = (0..3).map(|node| three.link(node)).collect();
    assert_eq!(found(&three.lookup(&links[2], "orders")).0, Source::Local);
    for link in &links[..2] {
        let (source, node, asked) = found(&three.lookup(link, "orders"));
        assert_eq!((source, node.as_str(), asked.len()), (Source::Peer, "n3", 3));
        // The second time its node is asked alone.
        assert_eq!(found(&three.lookup(link, "orders")).2.len(), 2);
        let (kind, fault) = failed(three.lookup(link, "nowhere"));
        assert_eq!((kind, fault.completion), (ErrorKind::NameNotFound, CompletionStatus::Yes));
    }
}

#[test]
fn a_frozen_node_is_named_in_time_until_it_leaves_the_view() {
    let three = Three::start();
    bind(&three.nodes[1].local_tree(), "orders", text("x"));
    let link = three.link(0);
    three.network.freeze("n3");
    let start = Instant::now();
    let (kind, fault) = failed(three.lookup_once(&link, "nowhere"));
    assert!(start.elapsed() < Duration::from_millis(800), "{:?}", start.elapsed());
    assert_eq!((kind, fault.completion), (ErrorKind::ServiceUnavailable, CompletionStatus::No));
    assert_eq!((strings(&fault.answered), strings(&fault.silent)), (vec!["n1".into(), "n2".into()], vec!["n3".into()]));
    // What others have is found all the same.
    assert_eq!(found(&three.lookup(&link, "orders")).1, "n2");
    eventually("the frozen node leaves the view, and silence is over", || {
        failed(three.lookup_once(&link, "nowhere")).0 == ErrorKind::NameNotFound
    });
}

#[test]
fn a_killed_node_takes_its_names_along() {
    let three = Three::start();
    bind(&three.nodes[2].local_tree(), "orders", text("x"));
    let link = three.link(0);
    found(&three.lookup(&link, "orders"));
    three.network.kill("n3");
    eventually("its name is gone, and nobody is silent", || {
        failed(three.lookup_once(&link, "orders")).0 == ErrorKind::NameNotFound
    });
    assert_eq!(three.nodes[0].view().members().len(), 2);
}

/// Invariant 18.
#[test]
fn a_node_that_quiesces_finishes_what_is_in_flight_and_its_peers_go_on() {
    let three = Three::start();
    bind(&three.nodes[1].local_tree(), "on n2", text("x"));
    let (first, second) = (three.link(0), three.link(1));
    let views = first.views();
    // In flight on n2: it waits half a second for n3, which never gets the question.
    three.network.add(Rule::new(Mishap::Lose).from("n2").to("n3").operation(Operation::Survey { name: String::new() }.code()));
    let waiting = {
        let second = second.clone();
        let survey = request(Scope::Cluster, Operation::Survey { name: "on n2".to_owned() });
        three.runtime.spawn(async move { second.ask(survey, LONG).await })
    };
    eventually("it is on its way", || three.network.struck() > 0);
    let before = Instant::now();
    three.nodes[1].quiesce(LONG).unwrap();
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
    let reply = three.runtime.block_on(waiting).unwrap().expect("it was finished");
    let Reply::Done(Answer::Survey(items)) = reply else { panic!("{reply:?}") };
    assert_eq!(items.last().map(|item| (&*item.node, &item.answer)), Some(("n3", &SurveyAnswer::Silent)));
    // Clients of others were told.
    eventually("clients have a view without it", || {
        views.borrow().as_ref().is_some_and(|view: &View| view.members().iter().all(|m| m.name != "n2"))
    });
    assert!(three.nodes[0].view().members().iter().all(|m| m.name != "n2"), "it has left");
}

#[test]
fn a_request_of_this_process_is_answered_also_when_its_node_is_closed() {
    let three = Three::start();
    three.network.freeze("n3");
    let (sender, reply) = std::sync::mpsc::sync_channel(1);
    let survey = request(Scope::Cluster, Operation::Survey { name: "a".to_owned() });
    // It waits half a second for the frozen node.
    three.nodes[0].submit(survey, LONG, Box::new(move |reply| sender.send(reply).unwrap()));
    three.nodes[0].close();
    let (kind, fault) = failed(reply.recv_timeout(LONG).expect("a reply"));
    assert_eq!((kind, fault.completion), (ErrorKind::ContextClosed, CompletionStatus::No));
}

#[test]
fn peers_are_answered_while_quiescing() {
    let three = Three::start();
    bind(&three.nodes[1].local_tree(), "on n2", text("x"));
    let link = three.link(0);
    found(&three.lookup(&link, "on n2"));
    // A request in flight keeps n2 from leaving for a while.
    three.network.freeze("n3");
    let busy = three.link(1);
    let waiting = {
        let busy = busy.clone();
        three.runtime.spawn(async move { busy.ask(request(Scope::Cluster, lookup("nowhere")), LONG).await })
    };
    eventually("it is on its way", || three.nodes[1].asked_peers() > 0);
    three.runtime.block_on(busy.ask(request(Scope::Cluster, Operation::Quiesce), LONG)).unwrap();
    assert_eq!(found(&three.lookup(&link, "on n2")).1, "n2");
    three.runtime.block_on(waiting).unwrap().unwrap();
}

#[test]
fn too_many_requests_of_one_connection_that_wait_are_refused() {
    let three = Three::start_with(|config| config.limits.in_flight_per_connection = 4);
    three.network.freeze("n3");
    let link = three.link(0);
    let replies = three.runtime.block_on(async {
        let mut asking = tokio::task::JoinSet::new();
        for number in 0..10 {
            let link = link.clone();
            asking.spawn(async move { link.ask(request(Scope::Cluster, lookup(&format!("miss {number}"))), LONG).await });
        }
        asking.join_all().await
    });
    let refused = replies
        .into_iter()
        .map(|reply| failed(reply.unwrap()).1.refusal)
        .filter(|refusal| refusal.as_ref().is_some_and(|refusal| refusal.reason == RefusalReason::Overloaded));
    assert_eq!(refused.count(), 6);
}

#[test]
fn a_lone_survivor_takes_writes_into_the_cluster_tree() {
    let three = Three::start();
    let link = three.link(0);
    let write = || {
        Operation::Mutate(Mutation::Bind {
            name: "limits".to_owned(),
            content: text("x"),
            replace: false,
            create_parents: false,
            lease: None,
        })
    };
    three.network.kill("n2");
    three.nodes[2].quiesce(LONG).unwrap();
    eventually("n1 is alone", || three.nodes[0].view().members().len() == 1);
    assert!(matches!(three.ask(&link, write(), LONG), Reply::Done(Answer::Written(_))));
    assert_eq!(found(&three.lookup(&link, "limits")).0, Source::Cluster);
}

/// The same over real sockets.
#[test]
fn three_nodes_over_tcp() {
    let start = |name: &str, seeds: Vec<Endpoint>| Node::start(ServerConfig { seeds, ..ServerConfig::new(name) }).unwrap();
    let n1 = start("n1", Vec::new());
    let n2 = start("n2", vec![n1.endpoint()]);
    let n3 = start("n3", vec![n1.endpoint()]);
    let nodes = [&n1, &n2, &n3];
    eventually("all see all as live", || {
        nodes.iter().all(|n| {
            let view = n.view();
            view.members().len() == 3 && view.members().iter().all(|m| m.state == MemberState::Live)
        })
    });
    bind(&n1.local_tree(), "a/differs", text("1"));
    bind(&n3.local_tree(), "a/differs", text("3"));
    bind(&n3.local_tree(), "a/only3", text("3"));
    bind(&n3.local_tree(), "value", text("3"));

    let mut raw = Raw::greet(&n2);
    let (source, node, _) = found(&raw.ask(Scope::Cluster, lookup("a/only3")));
    assert_eq!((source, node.as_str()), (Source::Peer, "n3"));
    assert_eq!(failed(raw.ask(Scope::Cluster, lookup("nowhere"))).0, ErrorKind::NameNotFound);
    assert_eq!(failed(raw.ask(Scope::Cluster, lookup("value/x"))).0, ErrorKind::NotContext);
    assert_eq!(failed(raw.ask(Scope::Local, lookup("a/only3"))).0, ErrorKind::NameNotFound);

    let page = PageRequest { name: "a".to_owned(), tree: TreeChoice::All, after: None, limit: 100, values: false };
    let reply = raw.ask(Scope::Cluster, Operation::List(page));
    let Reply::Done(Answer::Page(page)) = reply else { panic!("{reply:?}") };
    assert_eq!(page.entries.iter().map(|row| row.component.as_str()).collect::<Vec<_>>(), ["differs", "only3"]);

    let reply = raw.ask(Scope::Cluster, Operation::Survey { name: "a/differs".to_owned() });
    let Reply::Done(Answer::Survey(items)) = reply else { panic!("{reply:?}") };
    let having: Vec<_> =
        items.iter().filter(|i| matches!(i.answer, SurveyAnswer::Found(_))).map(|i| i.node.to_string()).collect();
    assert_eq!(having, ["n1", "n3"]);

    let reply = raw.ask(Scope::Cluster, Operation::Check { name: String::new() });
    let Reply::Done(Answer::Report(report)) = reply else { panic!("{reply:?}") };
    assert_eq!(report.mismatches.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["a/differs"]);

    n3.close();
    eventually("its names went with it", || failed(raw.ask(Scope::Cluster, lookup("a/only3"))).0 == ErrorKind::NameNotFound);
}

/// 3,000 misses from many clients at once: the peers are asked a bounded number of times, and a client of names that
/// are there is served meanwhile.
#[test]
fn a_flood_of_misses_is_bounded() {
    let three = Three::start();
    bind(&three.nodes[0].local_tree(), "good", text("x"));
    let good = three.link(0);
    let flooding = {
        let links: Vec<Link> = (0..10).map(|_| three.link(0)).collect();
        three.runtime.spawn(async move {
            let mut asking = tokio::task::JoinSet::new();
            for (number, link) in links.into_iter().enumerate() {
                asking.spawn(async move {
                    for miss in 0..300 {
                        let reply = link.ask(request(Scope::Cluster, lookup(&format!("miss {number} {miss}"))), LONG).await;
                        let (kind, fault) = failed(reply.unwrap());
                        // On a machine that is busy with other things a peer may be silent for a moment.
                        assert!(kind == ErrorKind::NameNotFound || !fault.silent.is_empty(), "{kind:?}");
                    }
                });
            }
            asking.join_all().await;
        })
    };
    let start = Instant::now();
    while !flooding.is_finished() {
        found(&three.lookup(&good, "good"));
        assert!(start.elapsed() < 3 * LONG);
    }
    three.runtime.block_on(flooding).unwrap();
    let asked = three.nodes[0].asked_peers();
    // To each of two peers: a burst, and then one in a millisecond.
    let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap();
    let bound = 2 * (256 + milliseconds + 50);
    assert!(asked <= bound, "{asked} requests to peers, at most {bound} are allowed");
}
