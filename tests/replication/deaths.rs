//! Nodes that die and come back without their data.

use hanaming::protocol::{Answer, Reply};

use hanaming::server::{Node, ServerConfig};

use crate::nodes::{Cluster, bind, config, rebind, unbind};

#[test]
fn a_newcomer_has_the_whole_tree_before_it_serves() {
    let mut cluster = Cluster::start(2);
    let long = "v".repeat(60_000);
    for number in 0..100 {
        cluster.written(number % 2, bind(&format!("long/{number}"), &long));
    }
    for number in 0..2000 {
        cluster.written(number % 2, bind(&format!("many/{number}"), "x"));
    }
    cluster.kill(0);
    cluster.restart(0);
    assert_eq!(cluster.nodes[0].cluster_tree().len(), 2102, "it is started when it has all");
    assert_eq!(cluster.nodes[0].cluster_digest(), cluster.nodes[1].cluster_digest());
    cluster.settled();
    assert_eq!(cluster.written(0, bind("many/more", "x")).acked_by.len(), 2);
}

/// Promises: a lone survivor takes everything, and what was acknowledged stays.
#[test]
fn a_lone_survivor_goes_on_and_the_others_catch_up() {
    let mut cluster = Cluster::start(3);
    cluster.written(0, bind("kept", "1"));
    cluster.written(1, bind("changed", "1"));
    cluster.written(2, bind("removed", "1"));
    cluster.kill(0);
    cluster.kill(2);
    // At first the dead ones are still waited for; then they lag, or are out of the view.
    let written = cluster.written(1, rebind("changed", "2"));
    assert_eq!(written.acked_by.iter().map(|node| &**node).collect::<Vec<_>>(), ["n1"]);
    cluster.written(1, bind("new", "1"));
    assert!(matches!(cluster.change(1, unbind("removed")), Reply::Done(Answer::Removed { existed: true, .. })));
    cluster.restart(0);
    cluster.restart(2);
    cluster.settled();
    cluster.equal(&[0, 1, 2]);
    for at in 0..3 {
        let shown = ["kept", "changed", "new", "removed"].map(|name| cluster.shows(at, name));
        assert_eq!(shown, [Some("1".to_owned()), Some("2".to_owned()), Some("1".to_owned()), None]);
    }
}

#[test]
fn who_leaves_hands_over_first() {
    let cluster = Cluster::start(3);
    for number in 0..50 {
        cluster.written(2, bind(&format!("a/{number}"), "x"));
    }
    cluster.nodes[2].quiesce(crate::nodes::LONG).unwrap();
    cluster.equal(&[0, 1]);
    assert_eq!(cluster.nodes[0].cluster_tree().len(), 51);
}

/// The first node of a cluster often has no seeds. When it is started anew the others know it, and it has the tree before
/// it serves.
#[test]
fn a_node_without_seeds_waits_for_those_who_know_it() {
    let mut cluster = Cluster::start(3);
    cluster.written(1, bind("kept", "1"));
    cluster.kill(0);
    cluster.network.revive("n0");
    let alone = ServerConfig { seeds: Vec::new(), ..config(0, 3, None) };
    cluster.nodes[0] = Node::start_on(cluster.network.host("n0"), alone).unwrap();
    assert_eq!(cluster.shows(0, "kept").as_deref(), Some("1"));
    cluster.settled();
}
