//! Many names in one request are answered from one moment of each tree.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use hanaming::naming::{Name, Tree};
use hanaming::protocol::{Answer, ManyItem, Operation, Reply, Scope};

use crate::world::{World, bind, text};

/// How often it's looked.
const LOOKS: usize = 200;

/// Renames a value there and back until it is told to stop.
fn rename_to_and_fro(tree: &Tree, stop: &AtomicBool) {
    let (one, other) = (Name::parse("one").unwrap(), Name::parse("other").unwrap());
    while !stop.load(Ordering::Relaxed) {
        tree.rename(&one, &other).unwrap();
        tree.rename(&other, &one).unwrap();
    }
}

/// How many of the two names are found, at most and at least, in requests in which others stand between them.
async fn seen(world: &World, scope: Scope, tree: &Arc<Tree>, also: &str) -> (usize, usize) {
    let stop = Arc::new(AtomicBool::new(false));
    let (theirs, until) = (Arc::clone(tree), Arc::clone(&stop));
    bind(tree, "one", text("x"));
    let writer = thread::spawn(move || rename_to_and_fro(&theirs, &until));
    let between = std::iter::repeat_n("between", 200);
    let names: Vec<&str> = std::iter::once("one").chain(between).chain(["other", also]).collect();
    let (mut least, mut most) = (2, 0);
    for _ in 0..LOOKS {
        let names = names.iter().copied().collect();
        let (reply, _) = world.ask(0, scope, Operation::LookupMany { names }, 10_000).await;
        let Reply::Done(Answer::Many(items)) = reply else { panic!("{reply:?}") };
        let found = items.to_vec().unwrap().iter().filter(|item| matches!(item, ManyItem::Found { .. })).count() - 200;
        (least, most) = (least.min(found), most.max(found));
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    (least, most)
}

fn world(nodes: u128) -> World {
    let world = World::new(nodes);
    bind(&world.cores[0].local, "between", text("x"));
    bind(&world.cores[0].cluster, "between", text("x"));
    world
}

/// Invariant 4.
#[tokio::test(start_paused = true)]
async fn of_a_rename_both_names_are_seen_as_they_were_or_as_they_are() {
    let alone = world(1);
    let local = Arc::clone(&alone.cores[0].local);
    assert_eq!(seen(&alone, Scope::Local, &local, "between").await, (2, 2));
    let alone = world(1);
    let cluster = Arc::clone(&alone.cores[0].cluster);
    assert_eq!(seen(&alone, Scope::Cluster, &cluster, "between").await, (2, 2));
}

/// Invariant 4.
#[tokio::test(start_paused = true)]
async fn also_where_some_other_name_has_to_be_asked_for_elsewhere() {
    let world = world(2);
    let cluster = Arc::clone(&world.cores[0].cluster);
    assert_eq!(seen(&world, Scope::Cluster, &cluster, "nowhere").await, (1, 1));
}
