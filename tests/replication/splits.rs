//! Splits, and what becomes of both sides' writes.

use hanaming::naming::Name;
use hanaming::protocol::{Answer, Operation, Reply};

use crate::nodes::{Cluster, ask, bind, rebind, unbind, until};

#[test]
fn both_sides_of_a_split_write_and_nothing_is_lost() {
    let cluster = Cluster::start(3);
    cluster.written(0, bind("before", "1"));
    cluster.written(0, bind("deleted", "1"));
    cluster.network.partition(&[&["n0"], &["n1", "n2"]]);
    until("two sides", || cluster.nodes[0].view().members().len() == 1 && cluster.nodes[1].view().members().len() == 2);
    cluster.written(0, bind("both", "minority's"));
    cluster.written(1, bind("both", "majority's"));
    cluster.written(0, bind("left", "x"));
    cluster.written(2, bind("right", "x"));
    cluster.written(1, rebind("before", "2"));
    assert!(matches!(cluster.change(2, unbind("deleted")), Reply::Done(Answer::Removed { existed: true, .. })));
    cluster.network.heal();
    cluster.settled();
    cluster.equal(&[0, 1, 2]);
    for at in 0..3 {
        let shown = ["left", "right", "before", "deleted"].map(|name| cluster.shows(at, name));
        assert_eq!(shown, [Some("x".to_owned()), Some("x".to_owned()), Some("2".to_owned()), None]);
        assert_eq!(cluster.shows(at, "both").as_deref(), Some("minority's"), "the one created first is shown");
        let Reply::Done(Answer::Report(report)) = ask(&cluster.nodes[at], None, Operation::Check { name: String::new() }) else {
            panic!("no report")
        };
        let names: Vec<&str> = report.conflicts.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(names, ["both"]);
        let values: Vec<_> = report.conflicts[0].answers.iter().map(|found| found.content.value.clone()).collect();
        assert_eq!(values, ["minority's", "majority's"], "the one that is shown stands first");
    }
    // A write that saw both ends it.
    cluster.written(2, rebind("both", "settled"));
    cluster.equal(&[0, 1, 2]);
    assert!(cluster.nodes.iter().all(|node| node.conflicts(&Name::empty()).is_empty()));
}
