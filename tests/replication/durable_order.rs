//! What is told is durable: on a disk that takes its time, fills up, and fails.

use std::sync::Arc;

use hanaming::cluster::message::{Message, Write};
use hanaming::cluster::record::Named;
use hanaming::cluster::reply::{Refusal, Reply, Uncertainty};
use hanaming::cluster::store::StoreError;
use hanaming::cluster::vector::{Dot, Vector};
use hanaming::naming::Name;
use hanaming::protocol::OperationId;
use tokio::sync::oneshot::error::TryRecvError;

use crate::disk::Disk;
use crate::nodes::until;
use crate::rig::{FOLDER, PEER, Rig};

fn is_write(message: &Message) -> bool {
    matches!(message, Message::Write(_) | Message::Create(_))
}

fn is_part(message: &Message) -> bool {
    matches!(message, Message::Part(_))
}

/// Invariant 25.
#[test]
fn nobody_hears_of_a_write_before_it_is_durable() {
    let disk = Disk::default();
    let rig = Rig::start(&disk);
    assert!(matches!(rig.write("before"), Reply::Done { .. }));
    rig.meet_peer();
    until("the peer is met", || rig.told(|message| matches!(message, Message::Pull(_))));
    let copy = || rig.replication.copy(|_| None);
    let (begun, before) = (disk.platter().begun, copy());
    disk.set(|platter| platter.is_shut = true);
    let mut reply = rig.begin("a");
    disk.await_begun(begun + 1);
    assert!(matches!(reply.try_recv(), Err(TryRecvError::Empty)));
    assert!(!rig.shows("a"), "readers are not shown it");
    assert_eq!((copy(), rig.replication.digest()), (before.clone(), before.digest), "nobody is told that it is there");
    // The peer asks for what it lacks, as this node asked it: the answer would have the write in it.
    let pull = |(_, message): &(_, Message)| matches!(message, Message::Pull(_)).then(|| message.clone());
    let pull = rig.peers.told.lock().unwrap().iter().find_map(pull).unwrap();
    rig.replication.receive(PEER, pull);
    assert!(!rig.told(is_write) && !rig.told(is_part), "peers are not told");
    assert!(!disk.platter().held.as_ref().unwrap().records.keys().any(|name| name.as_str() == "a"));
    disk.set(|platter| platter.is_shut = false);
    until("the peer is told", || rig.told(is_write) && rig.told(is_part));
    assert!(disk.platter().held.as_ref().unwrap().records.keys().any(|name| name.as_str() == "a"));
    assert!(matches!(reply.blocking_recv().unwrap().reply, Reply::Done { .. }));
    assert!(rig.shows("a"));
    assert!(copy().writes > before.writes && copy().digest != before.digest);
}

#[test]
fn what_gathers_while_the_disk_is_busy_is_one_group_in_order() {
    let disk = Disk::default();
    let rig = Rig::start(&disk);
    let begun = disk.platter().begun;
    disk.set(|platter| platter.is_shut = true);
    let first = rig.begin("first");
    disk.await_begun(begun + 1);
    let rest: Vec<_> = (0..100).map(|number| rig.begin(&format!("rest/{number}"))).collect();
    let again = rig.begin_with("rest/0", "later");
    disk.set(|platter| {
        platter.groups.clear();
        platter.is_shut = false;
    });
    assert!(matches!(again.blocking_recv().unwrap().reply, Reply::Done { .. }));
    let mut all: Vec<_> = std::iter::once(first).chain(rest).collect();
    let versions: Vec<u64> = all
        .iter_mut()
        .map(|reply| match reply.try_recv().expect("the earlier ones were answered before").reply {
            Reply::Done { version: Some(version), .. } => version.sequence,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(versions.is_sorted(), "{versions:?}");
    assert_eq!(disk.platter().groups[..2], [1, 101]);
    let held = disk.platter().held.clone().unwrap();
    let (_, record) = held.records.iter().find(|(name, _)| name.as_str() == "rest/0").unwrap();
    assert_eq!(record.siblings[0].content.value, "later", "the last of two writes in one group stays");
}

/// The group that failed is stored once the disk takes it, or found stored.
#[test]
fn a_node_whose_disk_fails_takes_nothing_and_goes_on_by_itself() {
    for (error, keeps_failed) in [(StoreError::Full, false), (StoreError::Io, false), (StoreError::Io, true)] {
        let disk = Disk::default();
        let rig = Rig::start(&disk);
        assert!(matches!(rig.write("before"), Reply::Done { .. }));
        rig.meet_peer();
        until("the peer is met", || rig.told(|message| matches!(message, Message::Pull(_))));
        disk.set(|platter| {
            platter.ailment = Some(error);
            platter.keeps_failed = keeps_failed;
        });
        let failed = rig.write("failed");
        assert!(matches!(failed, Reply::Unknown { reason: Uncertainty::DiskFailed, .. }), "{failed:?}");
        let refused = rig.write("refused");
        assert!(matches!(refused, Reply::Refused(Refusal::ReadOnly)), "{refused:?}");
        assert!(rig.shows("before") && !rig.shows("failed"));
        let trouble = rig.replication.trouble().unwrap();
        let reason = if error == StoreError::Full { "is full" } else { "can't be written" };
        assert!(trouble.contains(FOLDER) && trouble.contains(reason), "{trouble}");
        let suspended = || rig.peers.told.lock().unwrap().iter().filter(|(_, m)| *m == Message::Suspended).count();
        let before = suspended();
        assert!(before > 0, "the peers are told");
        rig.replication.receive(PEER, Message::CaughtUp(Vector::default()));
        assert_eq!(suspended(), before + 1, "whoever sends something is told again");
        rig.replication.receive(PEER, Message::Suspended);
        assert_eq!(suspended(), before + 1, "but not whoever is in the same trouble");
        assert!(!rig.told(is_write));
        // What the node misses meanwhile it makes up for.
        rig.lose_peer();
        disk.set(|platter| {
            platter.ailment = None;
            platter.groups.clear();
        });
        until("it takes changes", || matches!(rig.write("after"), Reply::Done { .. }));
        until("it knows who is there", || matches!(rig.write("after"), Reply::Done { receipt, .. } if receipt.live == 1));
        assert_eq!(rig.replication.trouble(), None);
        assert!(["before", "failed", "after"].iter().all(|name| rig.shows(name)));
        assert!(rig.told(is_write), "what was held back is told");
        let groups = disk.platter().groups.clone();
        assert_eq!(groups[0], 1, "{groups:?}");
        assert!(!rig.shows("refused"));
        let restarted = {
            drop(rig);
            Rig::start(&disk)
        };
        assert!(["before", "failed", "after"].iter().all(|name| restarted.shows(name)));
    }
}

#[test]
fn a_store_that_comes_back_as_something_else_is_damaged() {
    let disk = Disk::default();
    let rig = Rig::start(&disk);
    assert!(matches!(rig.write("a"), Reply::Done { .. }));
    let older = disk.platter().held.clone();
    assert!(matches!(rig.write("b"), Reply::Done { .. }));
    disk.set(|platter| platter.ailment = Some(StoreError::Full));
    assert!(matches!(rig.write("c"), Reply::Unknown { .. }));
    disk.set(|platter| {
        platter.ailment = None;
        platter.held = older;
    });
    until("it is noticed", || rig.replication.trouble().is_some_and(|why| why.contains("--resync-from-peers")));
    assert!(matches!(rig.write("d"), Reply::Refused(Refusal::ReadOnly)));
}

#[test]
fn more_than_fits_in_memory_is_refused_until_the_disk_has_caught_up() {
    let disk = Disk::default();
    let rig = Rig::start(&disk);
    let begun = disk.platter().begun;
    disk.set(|platter| platter.is_shut = true);
    let value = "v".repeat(1 << 20);
    let mut begun_changes = Vec::new();
    let refused = (0..200).find_map(|number| {
        let mut reply = rig.begin_with(&format!("n{number}"), &value);
        match reply.try_recv().map(|told| told.reply) {
            Ok(Reply::Refused(refusal)) => Some((number, refusal)),
            Ok(other) => panic!("{other:?}"),
            Err(_) => {
                begun_changes.push(reply);
                None
            }
        }
    });
    assert_eq!(refused, Some((64, Refusal::Overloaded)));
    disk.await_begun(begun + 1);
    let name = Name::parse("theirs").unwrap();
    let theirs = Named { name, record: Arc::default() };
    let dot = Dot { actor: 9, sequence: 1 };
    let operation = Some(OperationId { client: 9, sequence: 1 });
    rig.replication.receive(PEER, Message::Write(Write { dot, operation, records: vec![theirs] }));
    disk.set(|platter| platter.is_shut = false);
    assert!(begun_changes.into_iter().all(|reply| matches!(reply.blocking_recv().unwrap().reply, Reply::Done { .. })));
    until("it takes changes", || matches!(rig.write("after"), Reply::Done { .. }));
    assert!(!rig.told(|message| matches!(message, Message::Held(_))), "what a peer sent meanwhile is lost, not held");
}

#[test]
fn the_end_stores_what_waits() {
    let disk = Disk::default();
    let mut rig = Rig::start(&disk);
    let begun = disk.platter().begun;
    disk.set(|platter| platter.is_shut = true);
    let replies: Vec<_> = (0..10).map(|number| rig.begin(&format!("a{number}"))).collect();
    disk.await_begun(begun + 1);
    let keeper = rig.keeper.take();
    let ending = std::thread::spawn(move || drop(keeper));
    disk.set(|platter| platter.is_shut = false);
    ending.join().unwrap();
    assert_eq!(disk.platter().held.as_ref().unwrap().records.len(), 10);
    assert!(replies.into_iter().all(|reply| matches!(reply.blocking_recv().unwrap().reply, Reply::Done { .. })));
}
