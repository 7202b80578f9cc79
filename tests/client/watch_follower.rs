//! What a watch asks and tells, with exact outputs: answers go in, events come out.

use std::sync::Arc;

use hanaming::client::EventKind;
use hanaming::client::watch::Follower;
use hanaming::naming::{Content, Name, Version};
use hanaming::protocol::{Position, WatchFrom, WatchNext, WatchRow, WatchScope, Watched};

/// A watch of the whole tree that has heard nothing yet.
pub fn follower(initial: bool) -> Follower {
    Follower::new(Name::empty(), WatchScope::Subtree, initial)
}

/// A value's version tells which write made it.
pub fn row(name: &str, write: Option<u64>) -> WatchRow {
    let bound = write.map(|write| (Content::link(&write.to_string()), Version { actor: 1, sequence: write }));
    WatchRow { name: name.to_owned(), bound, is_conflict: false, moved_from: None, ends_write: true }
}

/// Not the last row of its write.
fn with_next(row: WatchRow) -> WatchRow {
    WatchRow { ends_write: false, ..row }
}

fn moved(from: &str, to: &str, value: u64, write: u64) -> WatchRow {
    let bound = Some((Content::link(&value.to_string()), Version { actor: 1, sequence: write }));
    WatchRow { bound, moved_from: Some(from.to_owned()), ..row(to, None) }
}

fn disagreeing(name: &str, write: u64) -> WatchRow {
    WatchRow { is_conflict: true, ..row(name, Some(write)) }
}

fn answer(rows: Vec<WatchRow>, next: WatchNext) -> Watched {
    Watched { node: Arc::from("n1"), rows, next }
}

fn at(log: u128, sequence: u64) -> WatchNext {
    WatchNext::Position(Position { log, sequence })
}

fn behind(log: u128, sequence: u64) -> WatchNext {
    WatchNext::Behind(Position { log, sequence })
}

/// The state, and that nothing has changed since.
fn hears_state(follower: &mut Follower, rows: Vec<WatchRow>) {
    follower.hear(answer(rows, behind(7, 1)));
    follower.hear(answer(Vec::new(), at(7, 1)));
}

fn hears(follower: &mut Follower, rows: Vec<WatchRow>) {
    follower.hear(answer(rows, at(7, 2)));
}

/// All that is told: `kind name old→new`.
fn told(follower: &mut Follower) -> Vec<String> {
    let mut events = Vec::new();
    for event in follower.by_ref() {
        let value = |told: Option<hanaming::client::watch::Told>| {
            told.map_or_else(|| "-".to_owned(), |told| format!("{}={}", told.name, String::from_utf8_lossy(&told.content.value)))
        };
        events.push(format!("{} {} {}→{}", event.kind.as_str(), event.name, value(event.old), value(event.new)));
    }
    events
}

#[test]
fn first_the_state_is_told_and_then_what_changes() {
    let mut follower = follower(true);
    assert_eq!(follower.request().from, WatchFrom::Start);
    assert_eq!(follower.request().hold, 0, "a state is not waited for");
    hears_state(&mut follower, vec![row("a", Some(1)), row("b", Some(2))]);
    assert_eq!(told(&mut follower), ["added a -→a=1", "added b -→b=2"]);
    assert_eq!(follower.request().from, WatchFrom::Position(Position { log: 7, sequence: 1 }));
    assert!(follower.request().hold > 0);
    hears(&mut follower, vec![row("a", Some(3)), row("b", None), row("c", Some(4))]);
    assert_eq!(told(&mut follower), ["changed a a=1→a=3", "removed b b=2→-", "added c -→c=4"]);
}

#[test]
fn a_state_that_is_not_wanted_is_known_all_the_same() {
    let mut follower = follower(false);
    hears_state(&mut follower, vec![row("a", Some(1)), row("b", Some(2))]);
    assert_eq!(told(&mut follower), Vec::<String>::new());
    hears(&mut follower, vec![row("a", Some(3)), row("b", None)]);
    assert_eq!(told(&mut follower), ["changed a a=1→a=3", "removed b b=2→-"]);
}

#[test]
fn a_state_in_pages_is_asked_for_page_by_page() {
    let mut follower = follower(true);
    let position = Position { log: 7, sequence: 5 };
    follower.hear(answer(vec![row("a", Some(1))], WatchNext::Rest { position, after: "a".to_owned() }));
    assert_eq!(follower.request().from, WatchFrom::Rest { position, after: "a".to_owned() });
    assert_eq!(told(&mut follower), ["added a -→a=1"], "no page waits for the next");
    follower.hear(answer(vec![row("b", Some(2))], behind(7, 5)));
    assert_eq!(told(&mut follower), ["added b -→b=2"]);
    // What changed meanwhile: `a` went, and `c` came where the first page had been.
    assert_eq!(follower.request().from, WatchFrom::Behind(position));
    assert_eq!(follower.request().hold, 0);
    follower.hear(answer(vec![row("a", None), row("aa", Some(3))], at(7, 7)));
    assert_eq!(told(&mut follower), ["removed a a=1→-", "added aa -→aa=3"]);
}

#[test]
fn changes_are_told_one_by_one() {
    let mut follower = follower(true);
    hears_state(&mut follower, vec![row("a", Some(1))]);
    hears(&mut follower, vec![row("a", Some(2)), row("b", Some(3))]);
    hears(&mut follower, vec![row("a", Some(5)), row("b", None), row("a", None)]);
    let all = ["added a -→a=1", "changed a a=1→a=2", "added b -→b=3", "changed a a=2→a=5", "removed b b=3→-", "removed a a=5→-"];
    assert_eq!(told(&mut follower), all);
}

#[test]
fn where_too_much_waits_a_name_is_told_once_as_it_is() {
    let mut follower = follower(true);
    hears_state(&mut follower, Vec::new());
    hears(&mut follower, (0..1500).map(|number| row("a", Some(number))).collect());
    hears(&mut follower, vec![row("b", Some(1)), row("c", Some(2)), row("b", Some(3)), row("c", None), row("a", Some(9999))]);
    let told = told(&mut follower);
    assert_eq!(told.len(), 1025, "the thousand that wait, and b; c came and went");
    assert_eq!(told[1022..], ["changed a a=1021→a=1022", "changed a a=1022→a=9999", "added b -→b=3"]);
}

#[test]
fn a_rename_is_one_event() {
    let mut follower = follower(true);
    hears_state(&mut follower, vec![row("a", Some(1)), row("z", Some(2))]);
    assert_eq!(told(&mut follower).len(), 2);
    hears(&mut follower, vec![with_next(row("a", None)), moved("a", "b", 1, 3)]);
    assert_eq!(told(&mut follower), ["renamed b a=1→b=1"]);
    // The new name may come before the old one, and others between them.
    let write = vec![with_next(moved("z", "m/y", 2, 4)), with_next(row("m", Some(5))), row("z", None)];
    hears(&mut follower, write);
    assert_eq!(told(&mut follower), ["renamed m/y z=2→m/y=2", "added m -→m=5"]);
    // There and back, before anybody listened.
    hears(&mut follower, vec![with_next(row("b", None)), moved("b", "c", 1, 6)]);
    hears(&mut follower, vec![with_next(row("c", None)), moved("c", "b", 1, 7)]);
    assert_eq!(told(&mut follower), ["renamed c b=1→c=1", "renamed b c=1→b=1"]);
}

#[test]
fn a_rename_from_or_to_what_is_not_watched_is_no_rename() {
    let mut follower = follower(true);
    hears_state(&mut follower, vec![row("a", Some(1))]);
    assert_eq!(told(&mut follower).len(), 1);
    hears(&mut follower, vec![moved("elsewhere", "d", 5, 10)]);
    assert_eq!(told(&mut follower), ["added d -→d=5"]);
    // Two writes, which only look like one.
    hears(&mut follower, vec![row("a", None), moved("a", "b", 1, 11)]);
    assert_eq!(told(&mut follower), ["removed a a=1→-", "added b -→b=1"]);
    // What was told of the old name is something else than what was moved.
    hears(&mut follower, vec![with_next(row("b", None)), moved("b", "c", 8, 12)]);
    assert_eq!(told(&mut follower), ["removed b b=1→-", "added c -→c=8"]);
}

#[test]
fn a_conflict_is_told_once_and_that_it_is_over_is_not() {
    let mut follower = follower(true);
    hears_state(&mut follower, vec![row("a", Some(1)), disagreeing("b", 2)]);
    assert_eq!(told(&mut follower), ["added a -→a=1", "added b -→b=2", "conflict b b=2→b=2"]);
    hears(&mut follower, vec![disagreeing("a", 1)]);
    assert_eq!(told(&mut follower), ["conflict a a=1→a=1"]);
    hears(&mut follower, vec![disagreeing("a", 3)]);
    assert_eq!(told(&mut follower), ["changed a a=1→a=3"], "it went on");
    hears(&mut follower, vec![row("a", Some(3))]);
    assert_eq!(told(&mut follower), Vec::<String>::new());
    hears(&mut follower, vec![row("a", Some(3)), disagreeing("a", 4)]);
    assert_eq!(told(&mut follower), ["conflict a a=3→a=4"], "a new one");
}

#[test]
fn another_node_is_asked_for_its_state_and_only_the_difference_is_told() {
    let mut follower = follower(true);
    hears_state(&mut follower, vec![row("a", Some(1)), row("b", Some(2)), row("c", Some(3))]);
    assert_eq!(told(&mut follower).len(), 3);
    follower.hear(answer(Vec::new(), WatchNext::Lost { log: 8 }));
    assert_eq!(follower.request().from, WatchFrom::Start);
    follower.hear(answer(vec![row("a", Some(1)), row("b", Some(4))], behind(8, 1)));
    assert_eq!(told(&mut follower), ["changed b b=2→b=4"], "what is gone is certain only when what came behind is known");
    follower.hear(answer(vec![row("d", Some(5))], at(8, 2)));
    assert_eq!(told(&mut follower), ["added d -→d=5", "removed c c=3→-"]);
}

#[test]
fn that_something_was_missed_is_said_before_the_difference() {
    let mut follower = follower(true);
    hears_state(&mut follower, vec![row("a", Some(1))]);
    assert_eq!(told(&mut follower).len(), 1);
    follower.hear(answer(Vec::new(), WatchNext::Lost { log: 7 }));
    hears_state(&mut follower, vec![row("a", Some(2))]);
    assert_eq!(told(&mut follower), ["resynchronised  -→-", "changed a a=1→a=2"]);
}

#[test]
fn a_first_state_that_has_to_start_over_misses_nothing() {
    let mut follower = follower(true);
    let position = Position { log: 7, sequence: 5 };
    follower.hear(answer(vec![row("a", Some(1))], WatchNext::Rest { position, after: "a".to_owned() }));
    follower.hear(answer(Vec::new(), WatchNext::Lost { log: 7 }));
    hears_state(&mut follower, vec![row("b", Some(2))]);
    assert_eq!(told(&mut follower), ["added a -→a=1", "added b -→b=2", "removed a a=1→-"]);
}

#[test]
fn nothing_more_is_asked_while_too_much_waits() {
    let mut follower = follower(true);
    let rows = (0..3000).map(|number| row(&format!("n{number}"), Some(number))).collect();
    hears_state(&mut follower, rows);
    assert!(follower.is_full());
    while follower.is_full() {
        assert_eq!(follower.next().unwrap().kind, EventKind::Added);
    }
    assert!(follower.has_news());
}
