//! The tokio driver over the network in memory: lost replies, frozen and killed nodes.

use std::time::Duration;

use hanaming::client::{AsyncClient, ClientConfig, Elections, Invocation, Names, Policy, Product};
use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::ErrorKind;
use hanaming::protocol::{FrameKind, Scope};
use hanaming::server::Node;
use hanaming::topology::Endpoint;
use hanaming::transport::memory::{MemoryNetwork, Mishap, Rule};

use crate::cluster::{are_live, bind_local, clock, in_memory, is_bound, until};
use crate::stage::{bind, lookup, ms, subject};

struct World {
    network: MemoryNetwork,
    nodes: Vec<Node>,
    runtime: tokio::runtime::Runtime,
}

impl World {
    fn start(count: usize) -> Self {
        let network = MemoryNetwork::new(1);
        let mut nodes = Vec::new();
        for nth in 1..=count {
            let seeds: &[&str] = if nth == 1 { &[] } else { &["n1"] };
            nodes.push(in_memory(&network, &format!("n{nth}"), seeds));
        }
        until("one view", || nodes.iter().all(|node| are_live(node, count)));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let world = Self { network, nodes, runtime };
        for node in &world.nodes {
            bind_local(node, "orders", 7);
        }
        world
    }

    fn client(&self, scope: Scope, names: &[&str]) -> AsyncClient {
        let endpoints = names.iter().map(|name| Endpoint::new(*name, 1)).collect();
        let follow_views = scope == Scope::Cluster;
        let config = ClientConfig { scope, follow_views, ..ClientConfig::new(endpoints) };
        AsyncClient::over(self.network.host("client"), Names::Dialled, Elections::new(), config).unwrap()
    }

    fn perform(
        &self,
        client: &AsyncClient,
        invocation: Invocation,
    ) -> Result<(Product, hanaming::client::Trail), hanaming::naming::NamingError> {
        self.runtime.block_on(client.perform(invocation, None))
    }
}

fn mutations() -> Vec<(&'static str, Invocation)> {
    vec![
        ("bind", bind("fresh")),
        ("unbind", Invocation::unbind(subject("orders")).unwrap()),
        ("rename", Invocation::rename(subject("orders"), subject("moved")).unwrap()),
        ("create", Invocation::create_subcontext(subject("context"), false).unwrap()),
        ("destroy", Invocation::destroy_subcontext(subject("empty")).unwrap()),
    ]
}

/// Invariant 12.
#[test]
fn a_mutation_whose_reply_is_lost_is_raised_and_never_sent_twice() {
    for mishap in [Mishap::Lose, Mishap::Reset] {
        for (what, mutation) in mutations() {
            let world = World::start(1);
            world.nodes[0].local_tree().create_subcontext(&crate::stage::name("empty"), false).unwrap();
            let client = world.client(Scope::Local, &["n1"]);
            world.perform(&client, lookup("orders")).unwrap();
            let before = (world.nodes[0].local_tree().generation(), world.nodes[0].status().requests);
            world.network.add(Rule::new(mishap.clone()).from("n1").to("client").kind(FrameKind::Reply));
            let start = clock();
            let error = world.perform(&client, mutation).unwrap_err();
            assert!(start.elapsed() < Duration::from_secs(4), "{what}");
            assert_eq!(error.fields().completion, CompletionStatus::Maybe, "{what}: {error}");
            assert_eq!(error.kind(), ErrorKind::Communication, "{what}: {error}");
            assert!(!error.safe_to_retry());
            assert_eq!(error.fields().attempts.len(), 1, "{what}: {error}");
            assert_eq!(error.fields().attempts[0].phase, Phase::Wait);
            let after = (world.nodes[0].local_tree().generation(), world.nodes[0].status().requests);
            assert_ne!(after.0, before.0, "{what} was done");
            assert_eq!(after.1 - before.1, 1, "{what} was sent once");
        }
    }
}

#[test]
fn a_mutation_whose_request_is_lost_may_have_run_for_all_we_know() {
    let world = World::start(1);
    let client = world.client(Scope::Local, &["n1"]);
    world.perform(&client, lookup("orders")).unwrap();
    world.network.add(Rule::new(Mishap::Lose).from("client").operation(5));
    let error = world.perform(&client, bind("fresh")).unwrap_err();
    assert_eq!(error.fields().completion, CompletionStatus::Maybe);
    assert!(!is_bound(&world.nodes[0], "fresh"));
    assert_eq!(world.network.struck(), 1);
}

#[test]
fn a_lookup_whose_reply_is_lost_is_asked_again_elsewhere() {
    let world = World::start(2);
    let client = world.client(Scope::Cluster, &["n1", "n2"]);
    world.network.add(Rule::new(Mishap::Lose).from("n1").to("client").kind(FrameKind::Reply));
    for _ in 0..4 {
        let (product, _) = world.perform(&client, lookup("orders")).unwrap();
        assert!(matches!(product, Product::Found(_)));
    }
    assert_eq!(world.network.struck(), 1, "the silent one is left out after one missing answer");
    let silent = client.targets().into_iter().find(|(target, _)| &*target.label == "n1:1").unwrap().0;
    assert_eq!(silent.outstanding, 0);
}

#[test]
fn a_frozen_node_costs_one_gap_and_returns_when_it_wakes() {
    let world = World::start(3);
    let client = world.client(Scope::Cluster, &["n1", "n2", "n3"]);
    for _ in 0..6 {
        world.perform(&client, lookup("orders")).unwrap();
    }
    world.network.freeze("n2");
    let mut missed = 0;
    for _ in 0..60 {
        let outcome = world.runtime.block_on(client.perform(lookup("orders"), Some(Duration::from_secs(1))));
        missed += usize::from(outcome.unwrap().1.len() > 1);
    }
    assert!((1..=3).contains(&missed), "it's left out after one missing answer, and was asked {missed} times");
    world.network.thaw("n2");
    until("it's taken back", || {
        world.perform(&client, lookup("orders")).unwrap();
        client.targets().iter().filter(|(target, _)| target.is_eligible()).count() == 3
    });
}

#[test]
fn a_killed_node_costs_nothing_and_its_successor_is_taken_back() {
    let mut world = World::start(3);
    let client = world.client(Scope::Cluster, &["n1", "n2", "n3"]);
    for _ in 0..6 {
        world.perform(&client, lookup("orders")).unwrap();
    }
    world.network.kill("n2");
    for _ in 0..60 {
        world.perform(&client, lookup("orders")).unwrap();
    }
    world.nodes[1].close();
    world.network.revive("n2");
    world.nodes[1] = in_memory(&world.network, "n2", &["n1"]);
    bind_local(&world.nodes[1], "orders", 7);
    until("it's taken back", || {
        world.perform(&client, lookup("orders")).unwrap();
        client.targets().iter().filter(|(target, _)| target.is_eligible()).count() == 3
    });
    let sent = || client.targets().iter().find(|(target, _)| &*target.label == "n2:1").map_or(0, |(target, _)| target.sent);
    let before = sent();
    for _ in 0..30 {
        world.perform(&client, lookup("orders")).unwrap();
    }
    assert_eq!(sent() - before, 10);
}

/// Twelve that elect each for itself, or six programs that elect for two contexts each.
#[test]
fn clients_that_stay_with_one_node_go_over_to_one_that_comes_back() {
    for policy in [Policy::FirstAvailable, Policy::FirstAvailableIdenticalAllProxies] {
        let mut world = World::start(3);
        let programs: Vec<_> = (0..6).map(|_| Elections::new()).collect();
        let client = |nth: usize| {
            let endpoints = ["n1", "n2", "n3"].map(|name| Endpoint::new(name, 1)).to_vec();
            let config = ClientConfig { policy, ..ClientConfig::new(endpoints) };
            let network = world.network.host(&format!("client{nth}"));
            AsyncClient::over(network, Names::Dialled, programs[nth % 6].clone(), config).unwrap()
        };
        let clients: Vec<AsyncClient> = (0..12).map(client).collect();
        let answering = |world: &World| {
            let who = |client: &AsyncClient| match world.perform(client, lookup("who")).unwrap().0 {
                Product::Found(located) => located.found.node.to_string(),
                other => panic!("{other:?}"),
            };
            clients.iter().map(who).collect::<Vec<String>>()
        };
        let on_n3 = |world: &World| answering(world).iter().filter(|node| *node == "n3").count();
        for (node, who) in world.nodes.iter().zip(1..) {
            bind_local(node, "who", who);
        }
        on_n3(&world);
        world.nodes[2].close();
        assert_eq!(on_n3(&world), 0);
        world.nodes[2] = in_memory(&world.network, "n3", &["n1"]);
        bind_local(&world.nodes[2], "who", 3);
        until("the one that came back has some", || on_n3(&world) >= 2);
        // Once, and once more where too many went.
        assert!(clients.iter().all(|client| client.metrics().moves <= 2));
        if policy == Policy::FirstAvailableIdenticalAllProxies {
            until("they go together", || {
                let all = answering(&world);
                all[..6] == all[6..]
            });
        }
    }
}

#[test]
fn many_at_once_share_one_connection_for_each_node() {
    let world = World::start(2);
    let client = world.client(Scope::Cluster, &["n1", "n2"]);
    world.runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let client = client.clone();
            tasks.spawn(async move { client.perform(lookup("orders"), None).await.map(|_| ()) });
        }
        while let Some(outcome) = tasks.join_next().await {
            outcome.unwrap().unwrap();
        }
    });
    let connections: Vec<u64> = world.nodes.iter().map(|node| node.status().connections).collect();
    // Beside them stand the nodes' own connections to each other.
    assert!(connections.iter().all(|count| *count <= 4), "{connections:?}");
}

#[test]
fn an_operation_that_is_dropped_settles_its_attempt() {
    let world = World::start(1);
    let client = world.client(Scope::Cluster, &["n1"]);
    world.perform(&client, lookup("orders")).unwrap();
    world.network.freeze("n1");
    world.runtime.block_on(async {
        let dropped = tokio::time::timeout(ms(50), client.perform(lookup("orders"), None)).await;
        assert!(dropped.is_err());
    });
    assert_eq!(client.targets()[0].0.outstanding, 0);
}

#[test]
fn close_ends_whoever_waits() {
    let world = World::start(1);
    let client = world.client(Scope::Cluster, &["n1"]);
    world.perform(&client, lookup("orders")).unwrap();
    world.network.freeze("n1");
    let error = world.runtime.block_on(async {
        let waiter = client.clone();
        let waiting = tokio::spawn(async move { waiter.perform(lookup("orders"), None).await.unwrap_err() });
        while client.targets()[0].0.outstanding == 0 {
            tokio::task::yield_now().await;
        }
        client.close();
        waiting.await.unwrap()
    });
    assert_eq!(error.kind(), ErrorKind::ContextClosed);
    let again = world.perform(&client, lookup("orders")).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::ContextClosed);
}

#[test]
fn silence_is_told_and_never_taken_for_absence() {
    let world = World::start(3);
    let client = world.client(Scope::Cluster, &["n1"]);
    world.perform(&client, lookup("orders")).unwrap();
    world.network.freeze("n3");
    let start = clock();
    let error = world.perform(&client, lookup("nowhere")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ServiceUnavailable, "{error}");
    let hanaming::naming::Detail::Silence { answered, silent, .. } = &error.fields().detail else { panic!("{error:?}") };
    assert_eq!(silent.iter().map(AsRef::as_ref).collect::<Vec<_>>(), ["n3"], "{error}");
    assert!(answered.iter().any(|node| &**node == "n1"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    until(
        "n3 has left the view, and absence is certain",
        || matches!(world.perform(&client, lookup("nowhere")), Err(error) if error.kind() == ErrorKind::NameNotFound),
    );
}
