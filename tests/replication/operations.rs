//! What is done through one node, and seen through all.

use std::collections::BTreeSet;

use hanaming::failure::CompletionStatus;
use hanaming::naming::ErrorKind;
use hanaming::protocol::{Answer, Mutation, OperationId, Reply};

use crate::nodes::{Cluster, bind, rebind, text, unbind};

fn create(name: &str) -> Mutation {
    Mutation::CreateSubcontext { name: name.to_owned(), create_parents: false }
}

fn rename(from: &str, to: &str) -> Mutation {
    Mutation::Rename { from: from.to_owned(), to: to.to_owned() }
}

#[test]
fn a_change_is_on_all_nodes_when_it_is_acknowledged() {
    let cluster = Cluster::start(3);
    for through in 0..3 {
        let name = format!("a/b/{through}");
        let written = cluster.written(through, bind(&name, "x"));
        assert_eq!(written.acked_by.iter().map(|node| &**node).collect::<Vec<_>>(), ["n0", "n1", "n2"]);
        assert_eq!((written.live, written.members), (3, 3));
        assert!(written.version.is_some());
        for at in 0..3 {
            assert_eq!(cluster.shows(at, &name).as_deref(), Some("x"), "{name} on n{at}");
        }
    }
    assert!((0..3).all(|at| cluster.nodes[at].local_tree().is_empty()));
    cluster.equal(&[0, 1, 2]);
}

/// The table of operations: the words are those of every tree.
#[test]
fn each_operation_has_its_outcome() {
    let cluster = Cluster::start(3);
    let bare = |name: &str| Mutation::Bind {
        name: name.to_owned(),
        content: text("x"),
        replace: false,
        create_parents: false,
        lease: None,
    };
    assert_eq!(cluster.refused(0, bare("p/q")).0, ErrorKind::NameNotFound);
    cluster.written(0, create("p"));
    let first = cluster.written(1, bare("p/q"));
    let (kind, fault) = cluster.refused(2, bare("p/q"));
    assert_eq!((kind, fault.completion), (ErrorKind::NameAlreadyBound, CompletionStatus::Yes));
    assert_eq!(fault.existing.as_ref().unwrap().version, first.version);
    assert!(fault.message.contains("already bound"), "{}", fault.message);
    assert_eq!(cluster.refused(0, create("p")).0, ErrorKind::NameAlreadyBound);
    assert_eq!(cluster.refused(0, bare("p/q/r")).0, ErrorKind::NotContext);
    assert_eq!(cluster.refused(1, unbind("p")).0, ErrorKind::ContextNotEmpty);
    assert_eq!(cluster.refused(1, rebind("p", "x")).0, ErrorKind::ContextNotEmpty);
    assert_eq!(cluster.refused(2, Mutation::DestroySubcontext { name: "p/q".to_owned() }).0, ErrorKind::NotContext);
    assert_eq!(cluster.refused(2, rename("p", "o")).0, ErrorKind::OperationNotSupported);
    assert_eq!(cluster.written(2, rename("p", "p")).version, None, "onto itself nothing happens");
    assert_eq!(cluster.refused(2, bind("", "x")).0, ErrorKind::InvalidName);
    assert_eq!(cluster.refused(2, bind("a//b", "x")).0, ErrorKind::InvalidName);
    cluster.written(0, rename("p/q", "p/moved"));
    for at in 0..3 {
        assert_eq!((cluster.shows(at, "p/q"), cluster.shows(at, "p/moved")), (None, Some("x".to_owned())));
    }
    let gone = |reply: Reply| matches!(reply, Reply::Done(Answer::Removed { existed: true, .. }));
    assert!(gone(cluster.change(1, unbind("p/moved"))));
    assert!(!gone(cluster.change(1, unbind("p/moved"))));
    assert_eq!(cluster.shows(2, "p").as_deref(), Some("context"), "a context that was made stays when it is empty");
    assert!(gone(cluster.change(1, Mutation::DestroySubcontext { name: "p".to_owned() })));
    assert_eq!(cluster.shows(2, "p"), None);
    cluster.equal(&[0, 1, 2]);
}

#[test]
fn one_of_several_binds_at_once_wins() {
    let cluster = Cluster::start(3);
    for round in 0..50 {
        let name = format!("one/{round}");
        let outcomes: Vec<Reply> = std::thread::scope(|scope| {
            let bind = |through: usize| {
                let (cluster, name) = (&cluster, &name);
                scope.spawn(move || cluster.change(through, bind(name, &through.to_string())))
            };
            let binding: Vec<_> = (0..3).map(bind).collect();
            binding.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let winners: Vec<usize> = (0..3).filter(|through| matches!(outcomes[*through], Reply::Done(_))).collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        let shown: BTreeSet<Option<String>> = (0..3).map(|at| cluster.shows(at, &name)).collect();
        assert_eq!(shown, BTreeSet::from([Some(winners[0].to_string())]));
    }
}

#[test]
fn an_operation_that_is_sent_twice_runs_once() {
    let cluster = Cluster::start(3);
    let operation = OperationId { client: 9, sequence: 1 };
    let versions: BTreeSet<_> = (0..3)
        .map(|through| match cluster.change_as(through, bind("once", "x"), operation) {
            Reply::Done(Answer::Written(written)) => written.version.unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(versions.len(), 1, "the same write is told each time");
    let misused = cluster.change_as(1, bind("once", "y"), operation);
    assert!(matches!(&misused, Reply::Failed(fault) if fault.message.contains("for something else")), "{misused:?}");
}

/// A client has many operations under way at once, and they run in any order: that later ones ran says nothing of it.
#[test]
fn operations_that_come_in_any_order_run_once_each() {
    let cluster = Cluster::start(2);
    for sequence in (1..=300).rev() {
        let operation = OperationId { client: 9, sequence };
        let reply = cluster.change_as(usize::from(sequence % 2 == 0), rebind("hot", &sequence.to_string()), operation);
        assert!(matches!(reply, Reply::Done(_)), "{sequence}: {reply:?}");
    }
    assert_eq!(cluster.shows(0, "hot").as_deref(), Some("1"));
    for sequence in [300, 150, 2] {
        // It ran long ago, or just now: it does not run again.
        cluster.change_as(0, rebind("hot", &sequence.to_string()), OperationId { client: 9, sequence });
        assert_eq!(cluster.shows(0, "hot").as_deref(), Some("1"));
    }
}
