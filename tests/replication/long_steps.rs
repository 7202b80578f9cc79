//! Steps that take long hold nobody up who has nothing to do with them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hanaming::cluster::message::Message;
use hanaming::cluster::replica::{Bound, Draft, Replica};
use hanaming::cluster::rules::Rules;
use hanaming::naming::Name;
use hanaming::protocol::OperationId;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::runtime::Builder;

use crate::disk::Disk;
use crate::nodes::{text, until};
use crate::rig::{PEER, Rig};

/// A peer whose tree takes a while to be taken up.
fn large_peer() -> Replica {
    let mut peer = Replica::new(Arc::from("n2"), Duration::from_secs(1000), StdRng::seed_from_u64(1), Rules::ALL);
    for sequence in 1..=10_000 {
        let operation = OperationId { client: 9, sequence };
        let bound = Bound { content: text("x"), operation, created: None, lease: None };
        let draft = Draft { binds: Some(bound), keep: Vec::new(), event: None };
        peer.write(Duration::ZERO, &Name::parse(&format!("name{sequence}")).unwrap(), draft);
    }
    peer
}

/// The answer to what the node has asked its peer for.
fn copy_for(rig: &Rig, peer: &mut Replica) -> Vec<Message> {
    let request = rig.peers.told.lock().unwrap().iter().rev().find_map(|(_, message)| match message {
        Message::Pull(request) => Some(request.clone()),
        _ => None,
    });
    peer.answer_pull(&request.unwrap()).into_iter().map(Message::Part).collect()
}

/// How many turns another task had while the node's only worker took these messages, and somebody waited for its engine.
fn turns_while(rig: &Rig, messages: Vec<Message>) -> u64 {
    let (turns, taking) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let counted = Arc::clone(&turns);
    let other = rig.runtime.spawn(async move {
        loop {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    });
    let (replication, is_taking, seen) = (Arc::clone(&rig.replication), Arc::clone(&taking), Arc::clone(&turns));
    let taken = rig.runtime.spawn(async move {
        is_taking.store(true, Ordering::Relaxed);
        let before = seen.load(Ordering::Relaxed);
        for message in messages {
            replication.receive(PEER, message);
        }
        seen.load(Ordering::Relaxed) - before
    });
    // One that waits for the same lock meanwhile.
    let replication = Arc::clone(&rig.replication);
    let waiter = rig.runtime.spawn(async move {
        while !taking.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
        replication.digest()
    });
    let turns = rig.runtime.block_on(taken).unwrap();
    rig.runtime.block_on(waiter).unwrap();
    other.abort();
    turns
}

#[test]
fn a_large_copy_is_taken_up_and_given_while_other_tasks_go_on() {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let rig = Rig::start_on(&Disk::default(), runtime);
    let mut peer = large_peer();
    rig.meet_peer();
    until("it asks its peer", || rig.told(|message| matches!(message, Message::Pull(_))));
    let parts = copy_for(&rig, &mut peer);
    assert!(parts.len() > 1);
    assert!(turns_while(&rig, parts) > 100, "nobody else had a turn while the copy was taken up");
    until("it has the copy", || rig.shows("name10000"));
    let mut newcomer = Replica::new(Arc::from("n3"), Duration::from_secs(1000), StdRng::seed_from_u64(2), Rules::ALL);
    let pulls = (0..20).map(|_| Message::Pull(newcomer.begin_pull().0)).collect();
    assert!(turns_while(&rig, pulls) > 0, "nobody else had a turn while the copy was given");
}
