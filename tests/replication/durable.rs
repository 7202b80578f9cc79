//! Nodes that die and come back with their data.

use std::collections::BTreeSet;
use std::fs;

use hanaming::naming::Version;
use hanaming::protocol::{Answer, Reply};

use crate::folders::copy;
use crate::nodes::{Cluster, bind, rebind, unbind, until};

#[test]
fn a_node_that_was_alone_has_what_it_acknowledged() {
    let mut cluster = Cluster::durable(1);
    let before = cluster.written(0, bind("a/b", "1")).version.unwrap();
    cluster.written(0, bind("gone", "1"));
    assert!(matches!(cluster.change(0, unbind("gone")), Reply::Done(Answer::Removed { existed: true, .. })));
    let (digest, len) = (cluster.nodes[0].cluster_digest(), cluster.nodes[0].cluster_tree().len());
    cluster.kill(0);
    cluster.restart(0);
    assert_eq!(cluster.nodes[0].cluster_digest(), digest);
    assert_eq!(cluster.nodes[0].cluster_tree().len(), len);
    assert_eq!([cluster.shows(0, "a/b"), cluster.shows(0, "gone")], [Some("1".to_owned()), None]);
    let after = cluster.written(0, rebind("a/b", "2")).version.unwrap();
    assert_eq!(after.actor, before.actor, "it goes on as the author that it was");
    assert!(after.sequence > before.sequence);
}

#[test]
fn all_nodes_stopped_and_started_have_equal_trees() {
    let mut cluster = Cluster::durable(3);
    let id = cluster.nodes[0].view().cluster_id();
    for number in 0..60 {
        cluster.written(number % 3, bind(&format!("many/{number}"), "x"));
    }
    cluster.equal(&[0, 1, 2]);
    let digest = cluster.nodes[0].cluster_digest();
    for round in 0..2 {
        (0..3).for_each(|number| cluster.kill(number));
        cluster.start_again();
        cluster.equal(&[0, 1, 2]);
        assert_eq!(cluster.nodes[0].cluster_digest(), digest, "round {round}");
        assert_eq!(cluster.nodes[1].cluster_tree().len(), 61);
        assert_eq!(cluster.nodes[0].view().cluster_id(), id, "it is the same cluster");
    }
    assert_eq!(cluster.written(2, bind("more", "x")).acked_by.len(), 3);
}

/// A deletion is as safe as the data of those who acknowledged it, and its receipt names them: not those who held what it
/// removed.
#[test]
fn an_unbind_is_lost_with_the_data_of_all_who_acknowledged_it_and_no_sooner() {
    let mut cluster = Cluster::durable(2);
    until("n1 is waited for", || cluster.written(0, rebind("first", "1")).acked_by.len() == 2);
    for name in ["held by both", "held by one"] {
        assert_eq!(cluster.written(0, bind(name, "1")).acked_by.len(), 2);
    }
    let acknowledged = |cluster: &Cluster, name: &str| match cluster.change(0, unbind(name)) {
        Reply::Done(Answer::Removed { existed: true, written }) => written.acked_by.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    };
    let by: Vec<String> = acknowledged(&cluster, "held by both");
    assert_eq!(by, ["n0", "n1"]);
    cluster.kill(1);
    until("n1 is gone", || cluster.nodes[0].view().members().len() == 1);
    let by: Vec<String> = acknowledged(&cluster, "held by one");
    assert_eq!(by, ["n0"]);
    cluster.kill(0);
    fs::remove_dir_all(cluster.folder(0)).unwrap();
    cluster.restart(1);
    cluster.restart(0);
    cluster.equal(&[0, 1]);
    for at in 0..2 {
        until("it is shown again", || cluster.shows(at, "held by one").as_deref() == Some("1"));
        assert_eq!(cluster.shows(at, "held by both"), None);
    }
}

#[test]
fn what_a_node_missed_while_it_was_down_it_has_before_it_serves() {
    let mut cluster = Cluster::durable(2);
    cluster.written(0, bind("kept", "1"));
    cluster.written(0, bind("removed", "1"));
    cluster.kill(1);
    cluster.written(0, rebind("kept", "2"));
    assert!(matches!(cluster.change(0, unbind("removed")), Reply::Done(_)));
    cluster.restart(1);
    assert_eq!([cluster.shows(1, "kept"), cluster.shows(1, "removed")], [Some("2".to_owned()), None]);
    cluster.equal(&[0, 1]);
}

/// A lone survivor's writes, on its disk alone, reach the others that come back with older data.
#[test]
fn the_survivor_dies_too_and_nothing_is_lost() {
    let mut cluster = Cluster::durable(3);
    cluster.written(0, bind("all", "1"));
    cluster.kill(0);
    cluster.kill(1);
    cluster.written(2, bind("survivor", "1"));
    cluster.kill(2);
    cluster.start_again();
    cluster.equal(&[0, 1, 2]);
    // Readers are shown what is on the disk, a moment after the engines are equal.
    let shown = |at| ["all", "survivor"].iter().all(|name| cluster.shows(at, name).as_deref() == Some("1"));
    until("all is there", || (0..3).all(shown));
}

/// Invariant 26. Who goes on from older data must not number its writes as before: its next ones would be taken for known.
#[test]
fn older_data_goes_on_as_a_new_author_and_nothing_is_lost() {
    for in_place in [false, true] {
        let mut cluster = Cluster::durable(2);
        // Of many names either node owns some.
        let write = |cluster: &Cluster, what: &str| -> Vec<Version> {
            let names = (0..16).map(|number| format!("{what}-{number}"));
            names.map(|name| cluster.written(0, bind(&name, "1")).version.unwrap()).collect()
        };
        let mut versions = write(&cluster, "first");
        cluster.equal(&[0, 1]);
        cluster.kill(0);
        let (folder, backup) = (cluster.folder(0), cluster.folder(9));
        copy(&folder, &backup);
        cluster.restart(0);
        cluster.settled();
        versions.extend(write(&cluster, "later"));
        cluster.equal(&[0, 1]);
        cluster.kill(0);
        if !in_place {
            fs::remove_dir_all(&folder).unwrap();
        }
        // In place the files stay the same ones: only the peer can tell that what is in them is older.
        copy(&backup, &folder);
        cluster.restart(0);
        cluster.settled();
        versions.extend(write(&cluster, "new"));
        let count = versions.len();
        let different: BTreeSet<Version> = versions.into_iter().collect();
        assert_eq!(different.len(), count, "no version was made twice; in place: {in_place}");
        cluster.equal(&[0, 1]);
        assert!((0..2).all(|at| cluster.nodes[at].cluster_tree().len() == 3 * 16));
    }
}

#[test]
fn a_copy_that_meets_nobody_is_a_new_author() {
    let mut cluster = Cluster::durable(1);
    let author = cluster.written(0, bind("first", "1")).version.unwrap().actor;
    cluster.kill(0);
    let (folder, copied) = (cluster.folder(0), cluster.folder(9));
    copy(&folder, &copied);
    let mut authors = vec![author];
    for shown in ["1", "2"] {
        cluster.try_restart(0, |config| config.data_dir = Some(copied.clone())).unwrap();
        assert_eq!(cluster.shows(0, "first").as_deref(), Some(shown));
        authors.push(cluster.written(0, rebind("first", "2")).version.unwrap().actor);
        cluster.kill(0);
    }
    assert_ne!(authors[0], authors[1]);
    assert_eq!(authors[1], authors[2], "from then on the copy is data like any other");
}
