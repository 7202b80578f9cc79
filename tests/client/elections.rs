//! The registry of elections.

use std::sync::{Arc, Barrier};

use hanaming::client::election::{Elected, Elections, Electorate};
use hanaming::topology::ClusterId;

use crate::stage::endpoint;

fn elected(letter: char) -> Elected {
    Elected { endpoint: endpoint(letter), node: None }
}

#[test]
fn the_first_holds_until_somebody_replaces_it_knowingly() {
    let elections = Elections::new();
    let cluster = Electorate::Id(ClusterId(1));
    assert_eq!(elections.elected(&cluster), None);
    assert_eq!(elections.elect(&cluster, None, &elected('a')), elected('a'));
    assert_eq!(elections.elect(&cluster, None, &elected('b')), elected('a'), "who did not know of a follows a");
    assert_eq!(elections.elect(&cluster, Some(&elected('a')), &elected('b')), elected('b'));
    assert_eq!(elections.elected(&Electorate::Name("default".into())), None, "another electorate");
    assert_eq!(elections.any(|elected| elected.endpoint == endpoint('b')), Some(elected('b')));
    assert_eq!(elections.any(|elected| elected.endpoint == endpoint('a')), None);
}

#[test]
fn a_choice_made_before_the_cluster_was_known_becomes_the_clusters() {
    let elections = Elections::new();
    let (list, cluster) = (Electorate::Providers(vec![endpoint('a').into()]), Electorate::Id(ClusterId(1)));
    elections.elect(&list, None, &elected('a'));
    elections.merge(&list, &cluster);
    assert_eq!((elections.elected(&list), elections.elected(&cluster)), (None, Some(elected('a'))));
    elections.elect(&list, None, &elected('b'));
    elections.merge(&list, &cluster);
    assert_eq!((elections.elected(&list), elections.elected(&cluster)), (None, Some(elected('a'))), "the cluster's holds");
}

#[test]
fn of_many_at_once_one_is_elected() {
    let elections = Elections::new();
    let barrier = Arc::new(Barrier::new(8));
    let threads: Vec<_> = ('a'..='h')
        .map(|letter| {
            let (elections, barrier) = (Arc::clone(&elections), Arc::clone(&barrier));
            std::thread::spawn(move || {
                barrier.wait();
                elections.elect(&Electorate::Name("x".into()), None, &elected(letter))
            })
        })
        .collect();
    let held: Vec<Elected> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(held.windows(2).all(|pair| pair[0] == pair[1]), "{held:?}");
}
