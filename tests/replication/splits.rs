//! Splits, and what becomes of all sides' writes.

use std::collections::BTreeSet;
use std::time::Duration;

use hanaming::client::Watch;
use hanaming::naming::{ErrorKind, Name};
use hanaming::protocol::{Answer, Operation, Reply, Report};

use crate::nodes::{Cluster, ask, bind, clock, rebind, unbind, until};
use crate::watches::{hear, watch};

/// How long the trees may take to become equal when a split has healed.
const HEALED: Duration = Duration::from_secs(5);

/// What may not get through.
enum Split {
    /// Nothing between the sides.
    BothWays,
    /// Nothing from the first side to the others.
    OneWay,
}

/// Splits a cluster into sides, writes on each, heals it, and looks at all that a split promises.
fn split_write_heal(split: &Split, sides: &[&[usize]]) {
    let mut all = sides.concat();
    all.sort_unstable();
    let cluster = Cluster::start(all.len());
    for (name, value) in [("kept", "1"), ("changed", "1"), ("deleted", "1"), ("doomed/below", "1")] {
        cluster.written(0, bind(name, value));
    }
    cluster.equal(&all);
    let watches: Vec<Watch> = all.iter().map(|number| watch(&cluster, *number)).collect();
    for (index, side) in sides.iter().enumerate() {
        for (from, to) in side.iter().flat_map(|from| sides[index + 1..].concat().into_iter().map(move |to| (*from, to))) {
            cluster.network.cut(&format!("n{from}"), &format!("n{to}"));
            if matches!(split, Split::BothWays) {
                cluster.network.cut(&format!("n{to}"), &format!("n{from}"));
            }
        }
    }
    until("each side is alone", || {
        sides.iter().all(|side| side.iter().all(|number| cluster.nodes[*number].view().members().len() == side.len()))
    });
    let value = |index: usize| format!("side {index}'s");
    for (index, side) in sides.iter().enumerate() {
        cluster.written(side[0], bind("both", &value(index)));
        cluster.written(side[side.len() - 1], bind(&format!("only/{index}"), "x"));
    }
    let last = sides.len() - 1;
    cluster.written(sides[last][0], rebind("changed", "2"));
    assert!(matches!(cluster.change(sides[0][0], unbind("deleted")), Reply::Done(Answer::Removed { existed: true, .. })));
    assert!(matches!(cluster.change(sides[last][0], unbind("doomed/below")), Reply::Done(Answer::Removed { existed: true, .. })));
    cluster.network.heal();
    let healed = clock();
    cluster.settled();
    cluster.equal(&all);
    let took = healed.elapsed();
    assert!(took < HEALED, "equal {took:?} after healing");
    check_trees(&cluster, &all, sides.len());
    let expected: BTreeSet<String> = (0..sides.len()).map(value).collect();
    for number in &all {
        let (names, values) = conflicts(&cluster, *number);
        assert_eq!(names, ["both"], "n{number}");
        assert_eq!(values, expected, "n{number}");
    }
    for (number, watch) in all.iter().zip(&watches) {
        let mut heard = Vec::new();
        while !heard.last().is_some_and(|event: &String| event.starts_with("conflict both")) {
            heard.push(hear(watch));
            // What was deleted is never told to have come back.
            let came_back = |name: &str| {
                let removed = heard.iter().position(|event| event.starts_with(&format!("removed {name} ")));
                removed.is_some_and(|at| heard[at..].iter().any(|event| event.starts_with(&format!("added {name} "))))
            };
            assert!(!came_back("deleted") && !came_back("doomed/below"), "n{number}: {heard:?}");
        }
    }
    // A write that saw all of them ends the conflict, and asking around brings nothing back.
    cluster.written(all[all.len() - 1], rebind("both", "settled"));
    cluster.equal(&all);
    check_trees(&cluster, &all, sides.len());
    assert!(cluster.nodes.iter().all(|node| node.conflicts(&Name::empty()).is_empty()));
}

fn check_trees(cluster: &Cluster, all: &[usize], sides: usize) {
    for number in all {
        let shown = ["kept", "changed", "deleted", "doomed/below"].map(|name| cluster.shows(*number, name));
        assert_eq!(shown, [Some("1".to_owned()), Some("2".to_owned()), None, None], "n{number}");
        assert!((0..sides).all(|index| cluster.shows(*number, &format!("only/{index}")).is_some()), "n{number}");
    }
}

/// A node's report. It names who was silent instead where a peer takes longer than a node waits: on a busy machine.
fn report(cluster: &Cluster, number: usize) -> Report {
    let mut report = None;
    until("a report", || match ask(&cluster.nodes[number], None, Operation::Check { name: String::new() }) {
        Reply::Done(Answer::Report(told)) => {
            report = Some(told);
            true
        }
        Reply::Failed(fault) if ErrorKind::from_code(fault.code) == ErrorKind::ServiceUnavailable => false,
        other => panic!("no report: {other:?}"),
    });
    report.unwrap()
}

/// The names in conflict as a node lists them, and all their values.
fn conflicts(cluster: &Cluster, number: usize) -> (Vec<String>, BTreeSet<String>) {
    let report = report(cluster, number);
    let values = report.conflicts.iter().flat_map(|item| &item.answers);
    let values = values.map(|found| String::from_utf8_lossy(&found.content.value).into_owned()).collect();
    (report.conflicts.into_iter().map(|item| item.name).collect(), values)
}

#[test]
fn a_minority_and_a_majority() {
    split_write_heal(&Split::BothWays, &[&[0, 1], &[2, 3, 4]]);
}

#[test]
fn two_halves() {
    split_write_heal(&Split::BothWays, &[&[0, 2], &[1, 3]]);
}

#[test]
fn everybody_alone() {
    split_write_heal(&Split::BothWays, &[&[0], &[1], &[2]]);
}

#[test]
fn one_that_is_not_heard() {
    split_write_heal(&Split::OneWay, &[&[0], &[1, 2]]);
}

#[test]
fn a_majority_that_a_minority_does_not_hear() {
    split_write_heal(&Split::OneWay, &[&[0, 1, 2], &[3, 4]]);
}

#[test]
fn the_one_created_first_is_shown() {
    let cluster = Cluster::start(3);
    cluster.network.partition(&[&["n0"], &["n1", "n2"]]);
    until("two sides", || cluster.nodes[0].view().members().len() == 1 && cluster.nodes[1].view().members().len() == 2);
    cluster.written(0, bind("both", "minority's"));
    cluster.written(1, bind("both", "majority's"));
    cluster.network.heal();
    cluster.settled();
    cluster.equal(&[0, 1, 2]);
    for at in 0..3 {
        assert_eq!(cluster.shows(at, "both").as_deref(), Some("minority's"));
        let values: Vec<_> = report(&cluster, at).conflicts[0].answers.iter().map(|found| found.content.value.clone()).collect();
        assert_eq!(values, ["minority's", "majority's"], "the one that is shown stands first");
    }
}
