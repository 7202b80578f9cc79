//! Nodes that are started at the same moment.

use crate::campaign::rounds;
use crate::nodes::Cluster;

/// Each has the others as seeds and nobody is there yet: it becomes one cluster each time.
#[test]
fn nodes_started_at_once_are_one_cluster() {
    for round in 0..rounds(25, 50) {
        let cluster = Cluster::start(5);
        let ids: Vec<_> = cluster.nodes.iter().map(|node| node.view().cluster_id()).collect();
        assert!(ids[0].is_some() && ids.iter().all(|id| *id == ids[0]), "round {round}: {ids:?}");
        cluster.close();
    }
}

/// The same with what they had on disk.
#[test]
fn nodes_started_at_once_from_their_disks_are_the_cluster_that_they_were() {
    let mut cluster = Cluster::durable(5);
    let id = cluster.nodes[0].view().cluster_id();
    for round in 0..rounds(3, 20) {
        for number in 0..5 {
            cluster.written(number, crate::nodes::bind(&format!("round{round}/n{number}"), "x"));
        }
        cluster.equal(&[0, 1, 2, 3, 4]);
        let before = cluster.nodes[0].cluster_digest();
        for number in 0..5 {
            cluster.kill(number);
        }
        cluster.start_again();
        cluster.equal(&[0, 1, 2, 3, 4]);
        assert_eq!(cluster.nodes[0].cluster_digest(), before, "round {round}");
        assert!(cluster.nodes.iter().all(|node| node.view().cluster_id() == id), "round {round}");
    }
}
