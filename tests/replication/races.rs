//! Binds of one name at the same moment, through all nodes: one wins.

use std::sync::Barrier;
use std::time::Duration;

use hanaming::failure::CompletionStatus;
use hanaming::naming::{ErrorKind, Name};
use hanaming::protocol::{Answer, Reply};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::campaign::rounds;
use crate::nodes::{Cluster, bind};

const ALL: [usize; 5] = [0, 1, 2, 3, 4];

/// What became of the binds of a name, in the nodes' order.
fn race(cluster: &Cluster, name: &str) -> Vec<Reply> {
    let start = Barrier::new(ALL.len());
    std::thread::scope(|scope| {
        let bind = |number: usize| {
            start.wait();
            cluster.change(number, bind(name, &format!("n{number}")))
        };
        let racing: Vec<_> = ALL.map(|number| scope.spawn(move || bind(number))).into();
        racing.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn won(reply: &Reply) -> bool {
    matches!(reply, Reply::Done(Answer::Written(_)))
}

#[test]
fn of_binds_through_all_nodes_one_wins() {
    let cluster = Cluster::start(5);
    for round in 0..rounds(100, 1000) {
        let name = format!("name{round}");
        let replies = race(&cluster, &name);
        let winners: Vec<usize> = ALL.into_iter().filter(|number| won(&replies[*number])).collect();
        assert_eq!(winners.len(), 1, "round {round}: {replies:?}");
        for reply in replies.iter().filter(|reply| !won(reply)) {
            let Reply::Failed(fault) = reply else { panic!("{reply:?}") };
            assert_eq!(ErrorKind::from_code(fault.code), ErrorKind::NameAlreadyBound, "round {round}: {fault:?}");
        }
        cluster.equal(&ALL);
        assert_eq!(cluster.shows(round % 5, &name), Some(format!("n{}", winners[0])), "round {round}");
    }
    assert!(cluster.nodes.iter().all(|node| node.conflicts(&Name::empty()).is_empty()));
}

/// A node is silent for a while in each round, for less time than it takes to be held for dead.
#[test]
fn of_binds_through_all_nodes_one_wins_while_a_node_is_silent() {
    let cluster = Cluster::start(5);
    let mut chance = StdRng::seed_from_u64(7);
    for round in 0..rounds(8, 1000) {
        let (name, frozen) = (format!("name{round}"), format!("n{}", chance.random_range(0..5)));
        let silent = Duration::from_millis(chance.random_range(200..1000));
        cluster.network.freeze(&frozen);
        let replies = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::park_timeout(silent);
                cluster.network.thaw(&frozen);
            });
            race(&cluster, &name)
        });
        cluster.settled();
        cluster.equal(&ALL);
        let winners: Vec<usize> = ALL.into_iter().filter(|number| won(&replies[*number])).collect();
        let in_doubt = |reply: &Reply| matches!(reply, Reply::Failed(fault) if fault.completion == CompletionStatus::Maybe);
        // Whose time was up may have won without being told.
        assert!(winners.len() == 1 || winners.is_empty() && replies.iter().any(in_doubt), "round {round}: {replies:?}");
        let shown = cluster.shows(0, &name);
        assert!(shown.is_some(), "round {round}: {replies:?}");
        assert!(winners.iter().all(|winner| shown == Some(format!("n{winner}"))), "round {round}: {shown:?} {replies:?}");
        assert!(cluster.nodes[0].conflicts(&Name::empty()).is_empty(), "round {round}: {replies:?}");
    }
}
