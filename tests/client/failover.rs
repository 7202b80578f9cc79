//! Nodes that are lost while clients use them: no lookup fails, and who comes back gets its share again.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use hanaming::client::{Client, ClientConfig, Policy};
use hanaming::naming::ErrorKind;
use hanaming::server::Node;

use crate::cluster::{Cluster, client, clock, look, served, until};
use crate::stage::ms;

/// So many callers look a name up again and again while `meanwhile` happens; gives how often they did, and the longest
/// time that one lookup took.
fn under(callers: usize, client: &Client, meanwhile: impl FnOnce(&dyn Fn(usize))) -> (usize, Duration) {
    let (stop, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let longest = std::sync::Mutex::new(Duration::ZERO);
    thread::scope(|scope| {
        for _ in 0..callers {
            scope.spawn(|| {
                let mut own = Duration::ZERO;
                while !stop.load(Ordering::Relaxed) {
                    let start = clock();
                    let outcome = look(client, "orders");
                    if !matches!(outcome, Ok(7)) {
                        stop.store(true, Ordering::Relaxed);
                        panic!("a lookup failed: {outcome:?}");
                    }
                    own = own.max(start.elapsed());
                    done.fetch_add(1, Ordering::Relaxed);
                }
                let mut longest = longest.lock().unwrap();
                *longest = own.max(*longest);
            });
        }
        let wait_for = |more: usize| {
            let goal = done.load(Ordering::Relaxed) + more;
            until("lookups go on", || stop.load(Ordering::Relaxed) || done.load(Ordering::Relaxed) >= goal);
        };
        meanwhile(&wait_for);
        stop.store(true, Ordering::Relaxed);
    });
    (done.into_inner(), longest.into_inner().unwrap())
}

const CALLERS: [usize; 3] = [1, 8, 64];

#[test]
fn a_node_that_is_closed_costs_no_lookup() {
    for callers in CALLERS {
        let cluster = Cluster::start(3);
        cluster.bind_everywhere("orders", 7);
        let client = client(cluster.endpoints());
        let (done, _) = under(callers, &client, |wait_for| {
            wait_for(300);
            cluster.nodes[1].close();
            wait_for(300);
            cluster.nodes[0].close();
            wait_for(300);
        });
        assert!(done >= 900);
    }
}

#[test]
fn a_node_that_is_quiesced_costs_no_lookup() {
    for callers in CALLERS {
        let cluster = Cluster::start(3);
        cluster.bind_everywhere("orders", 7);
        let client = client(cluster.endpoints());
        under(callers, &client, |wait_for| {
            wait_for(300);
            cluster.nodes[1].quiesce(Duration::from_secs(5)).unwrap();
            wait_for(300);
            cluster.nodes[1].close();
            wait_for(300);
        });
        let before = served(&cluster.nodes)[1];
        for _ in 0..30 {
            look(&client, "orders").unwrap();
        }
        assert_eq!(served(&cluster.nodes)[1], before, "it's asked no longer");
    }
}

#[test]
fn the_node_in_use_under_first_available_is_replaced() {
    for policy in [Policy::FirstAvailable, Policy::FirstAvailableIdenticalAllProxies, Policy::LeastLoaded, Policy::RandomRobin] {
        let cluster = Cluster::start(3);
        cluster.bind_everywhere("orders", 7);
        let client = Client::new(ClientConfig { policy, ..ClientConfig::new(cluster.endpoints()) }).unwrap();
        under(4, &client, |wait_for| {
            wait_for(200);
            let served = served(&cluster.nodes);
            let busiest = served.iter().enumerate().max_by_key(|(_, served)| **served).unwrap().0;
            cluster.nodes[busiest].close();
            wait_for(200);
        });
    }
}

#[test]
fn a_node_that_comes_back_gets_its_share_again() {
    let mut cluster = Cluster::start(3);
    cluster.bind_everywhere("orders", 7);
    let client = client(cluster.endpoints());
    let sent = |nodes: &[Node]| {
        let targets = client.targets();
        let of = |node: &Node| {
            let label = node.endpoint().to_string();
            targets.iter().find(|(target, _)| *target.label == *label).map_or(0, |(target, _)| target.sent)
        };
        nodes.iter().map(of).collect::<Vec<u64>>()
    };
    let share = |nodes: &[Node]| {
        let before = sent(nodes);
        for _ in 0..300 {
            look(&client, "orders").unwrap();
        }
        sent(nodes).iter().zip(before).map(|(after, before)| after - before).collect::<Vec<_>>()
    };
    assert_eq!(share(&cluster.nodes), [100, 100, 100]);
    cluster.nodes[2].close();
    let alone = share(&cluster.nodes);
    assert!((149..=151).contains(&alone[0]) && alone[2] <= 2, "{alone:?}");
    cluster.restart(2);
    crate::cluster::bind_local(&cluster.nodes[2], "orders", 7);
    until("it's taken back", || {
        look(&client, "orders").unwrap();
        client.targets().iter().filter(|(target, _)| target.is_eligible()).count() == 3
    });
    assert_eq!(share(&cluster.nodes), [100, 100, 100]);
}

#[test]
fn one_address_is_enough_to_find_the_whole_cluster_and_to_keep_it() {
    let cluster = Cluster::start(3);
    cluster.bind_everywhere("orders", 7);
    let client = client(vec![cluster.nodes[0].endpoint()]);
    look(&client, "orders").unwrap();
    assert_eq!(client.targets().len(), 3);
    assert_eq!(client.view().unwrap().members().len(), 3);
    cluster.nodes[0].close();
    for _ in 0..30 {
        assert_eq!(look(&client, "orders").unwrap(), 7);
    }
}

#[test]
fn a_single_node_that_has_left_is_told_within_half_a_second() {
    let cluster = Cluster::start(1);
    cluster.bind_everywhere("orders", 7);
    let client = client(cluster.endpoints());
    look(&client, "orders").unwrap();
    cluster.nodes[0].quiesce(Duration::from_secs(1)).unwrap();
    cluster.nodes[0].close();
    let start = clock();
    let error = look(&client, "orders").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ServiceUnavailable, "{error}");
    assert!(error.safe_to_retry());
    assert!(start.elapsed() < ms(2000), "{:?}", start.elapsed());
}
