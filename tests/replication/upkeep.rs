//! Conflicts are ended, operations asked for, dead members forgotten, leases end.

use std::sync::Arc;
use std::time::Duration;

use hanaming::client::{BindOptions, Direct, Driver, Invocation, Product, Subject};
use hanaming::naming::{ErrorKind, Name};
use hanaming::protocol::{Answer, Became, Mutation, Operation, OperationId, Reply, Scope};

use crate::nodes::{Cluster, LONG, ask, bind, rebind, text, until};

fn resolve(name: &str, keep: Option<String>) -> Mutation {
    Mutation::ResolveConflict { name: name.to_owned(), keep }
}

fn became(cluster: &Cluster, through: usize, id: OperationId) -> Became {
    match ask(&cluster.nodes[through], None, Operation::Became { id }) {
        Reply::Done(Answer::Became(became)) => became,
        other => panic!("{other:?}"),
    }
}

fn subject(name: &str) -> Subject {
    Name::parse(name).unwrap().into()
}

#[test]
fn a_conflict_is_ended_by_keeping_either_version() {
    let cluster = Cluster::start(3);
    cluster.network.partition(&[&["n0"], &["n1", "n2"]]);
    until("two sides", || cluster.nodes[0].view().members().len() == 1 && cluster.nodes[1].view().members().len() == 2);
    for name in ["first", "second"] {
        cluster.written(0, bind(name, "minority's"));
        cluster.written(1, bind(name, "majority's"));
    }
    cluster.network.heal();
    cluster.settled();
    cluster.equal(&[0, 1, 2]);
    // Whoever missed a write is not waited for until it is known to have caught up.
    until("nobody lags", || cluster.nodes.iter().all(|node| node.status().copy.lagging.is_empty()));
    for (through, name, kept) in [(1, "first", 0), (2, "second", 1)] {
        let conflicts = cluster.nodes[through].conflicts(&Name::parse(name).unwrap());
        let version = conflicts[0].versions[kept].dot;
        let value = conflicts[0].versions[kept].content.value.clone();
        let operation = OperationId { client: 5, sequence: u64::try_from(kept).unwrap() + 1 };
        let resolve = resolve(name, Some(version.to_string()));
        let once = cluster.change_as(through, resolve.clone(), operation);
        assert!(matches!(&once, Reply::Done(Answer::Written(written)) if written.acked_by.len() == 3), "{once:?}");
        // Whoever repeats it hears of the same.
        let again = cluster.change_as(0, resolve, operation);
        let version = |reply: &Reply| match reply {
            Reply::Done(Answer::Written(written)) => written.version,
            other => panic!("{other:?}"),
        };
        assert_eq!(version(&once), version(&again));
        for at in 0..3 {
            assert_eq!(cluster.shows(at, name).unwrap().as_bytes(), &value[..]);
            assert!(cluster.nodes[at].conflicts(&Name::parse(name).unwrap()).is_empty());
        }
    }
    cluster.equal(&[0, 1, 2]);
    let (kind, fault) = cluster.refused(0, resolve("first", Some("00000000.9".to_owned())));
    assert_eq!((kind, fault.message.contains("00000000.9")), (ErrorKind::NameNotFound, true));
    assert_eq!(cluster.written(0, resolve("first", None)).version, None, "there is nothing to resolve");
}

#[test]
fn every_node_knows_what_became_of_a_change() {
    let cluster = Cluster::start(3);
    let id = |sequence| OperationId { client: 7, sequence };
    let Reply::Done(Answer::Written(written)) = cluster.change_as(0, rebind("a/b", "x"), id(1)) else { panic!("not written") };
    for through in 0..3 {
        let done = Became::Done { name: "a/b".to_owned(), version: written.version.unwrap() };
        assert_eq!(became(&cluster, through, id(1)), done);
        assert_eq!(became(&cluster, through, id(2)), Became::Unknown { silent: Vec::new() });
    }
    cluster.network.freeze("n2");
    assert_eq!(became(&cluster, 0, id(3)), Became::Unknown { silent: vec![Arc::from("n2")] });
    assert_eq!("00000000000000000000000000000007.1".parse(), Ok(id(1)));
    assert_eq!(id(300).to_string().parse(), Ok(id(300)));
    for wrong in ["", "7", "7.1", "0000000000000000000000000000000x.1", "00000000000000000000000000000007.", "."] {
        assert_eq!(wrong.parse::<OperationId>(), Err(()), "{wrong}");
    }
}

#[test]
fn a_dead_member_is_counted_until_it_is_forgotten() {
    let mut cluster = Cluster::start(3);
    let forget = |cluster: &Cluster, node: &str| ask(&cluster.nodes[0], None, Operation::Forget { node: node.to_owned() });
    let Reply::Failed(fault) = forget(&cluster, "n2") else { panic!("who is there was forgotten") };
    assert!(fault.message.contains("is a member that is there"), "{}", fault.message);
    cluster.kill(2);
    until("n2 is gone", || (0..2).all(|at| cluster.nodes[at].view().members().len() == 2));
    assert_eq!(cluster.written(0, rebind("a", "1")).members, 3);
    assert!(matches!(forget(&cluster, "n2"), Reply::Done(Answer::Accepted)));
    for through in 0..2 {
        until("nobody counts it", || cluster.written(through, rebind("a", "2")).members == 2);
    }
    assert!(matches!(forget(&cluster, "nobody"), Reply::Done(Answer::Accepted)), "who is not counted stays so");
    cluster.restart(2);
    cluster.settled();
    until("it is counted again", || cluster.written(1, rebind("a", "3")).members == 3);
}

#[test]
fn what_has_a_lease_goes_when_its_holder_is_gone_and_stays_while_it_is_there() {
    let cluster = Cluster::start(3);
    let holder = |number: usize| Direct::new(Arc::new(cluster.nodes[number].clone()), Scope::Cluster, LONG);
    let lease = |direct: &Direct, name: &str| {
        let options = BindOptions { replace: true, create_parents: true, lease: Some(1000) };
        let invocation = Invocation::bind(subject(name), text("x"), options).unwrap();
        let (product, _) = direct.perform(invocation, None, &mut || false).unwrap();
        assert!(matches!(product, Product::Written(_)));
    };
    let (stays, goes) = (holder(0), holder(1));
    lease(&stays, "stays");
    lease(&stays, "moves");
    lease(&goes, "goes");
    let moved = Invocation::rename(subject("moves"), subject("moved")).unwrap();
    stays.perform(moved, None, &mut || false).unwrap();
    // A name whose lease was taken from it stays for good.
    lease(&goes, "kept");
    let kept = Invocation::bind(subject("kept"), text("y"), BindOptions { replace: true, ..BindOptions::default() }).unwrap();
    goes.perform(kept, None, &mut || false).unwrap();
    goes.close();
    until("it went", || (0..3).all(|at| cluster.shows(at, "goes").is_none()));
    until("long enough for all", {
        let start = crate::nodes::clock();
        move || start.elapsed() > Duration::from_millis(2500)
    });
    for at in 0..3 {
        let shown = ["stays", "moved", "kept", "goes"].map(|name| cluster.shows(at, name));
        let is = |value: &str| Some(value.to_owned());
        assert_eq!(shown, [is("x"), is("x"), is("y"), None]);
    }
    // The owner's death takes nothing along: leases begin anew with another.
    cluster.kill(0);
    until("it went with its holder's node", || (1..3).all(|at| cluster.shows(at, "stays").is_none()));
    assert_eq!(cluster.shows(1, "kept").as_deref(), Some("y"));
    let (kind, fault) = cluster.refused(
        1,
        Mutation::Bind { name: "short".to_owned(), content: text("x"), replace: false, create_parents: false, lease: Some(999) },
    );
    assert_eq!((kind, fault.message.as_str()), (ErrorKind::InvalidValue, "a lease lasts 1 s at least"));
}

#[test]
fn who_closes_gives_all_its_leases_back_at_once_and_nothing_else() {
    let cluster = Cluster::start(3);
    let holder = Direct::new(Arc::new(cluster.nodes[0].clone()), Scope::Cluster, LONG);
    // Far more than would ever go at once for their silence, and none of them for hours.
    let names: Vec<String> = (0..40).map(|number| format!("held{number}")).collect();
    for name in &names {
        let options = BindOptions { replace: false, create_parents: true, lease: Some(3_600_000) };
        holder.perform(Invocation::bind(subject(name), text("x"), options).unwrap(), None, &mut || false).unwrap();
    }
    cluster.written(1, rebind("held0", "another's"));
    holder.give_back(&Name::parse("held1").unwrap()).wait();
    until("one went alone", || (0..3).all(|at| cluster.shows(at, "held1").is_none()));
    assert!(cluster.shows(0, "held2").is_some());
    holder.close();
    for at in 0..3 {
        until("they went", || names[1..].iter().all(|name| cluster.shows(at, name).is_none()));
        assert_eq!(cluster.shows(at, "held0").as_deref(), Some("another's"));
    }
}
