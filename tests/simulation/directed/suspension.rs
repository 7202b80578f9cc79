//! A node that can store nothing for now: the others go on without it, and it comes back.

use std::time::Duration;

use hanaming::cluster::engine::Timing;
use hanaming::cluster::message::Message;
use hanaming::cluster::replica::Retention;
use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::Intent;
use hanaming::cluster::rules::Rules;
use hanaming::naming::Name;

use crate::schedule::ms;

use super::table::{Table, content, name, request};

fn of_two() -> Table {
    Table::new(2, Timing::default(), Retention::default(), Rules::ALL)
}

/// A name that the node owns.
fn owned_by(table: &Table, node: usize) -> Name {
    (0..1000).map(|number| name(&format!("name{number}"))).find(|name| table.owner(name) == node).unwrap()
}

/// Who holds what was asked for under that handle, and how long that took.
fn done(table: &Table, handle: u64, asked: Duration) -> (usize, Duration) {
    match table.answers.iter().find(|(known, _, _)| *known == handle) {
        Some((_, Reply::Done { receipt, .. }, when)) => (receipt.acked_by.len(), when.saturating_sub(asked)),
        other => panic!("not done: {other:?}"),
    }
}

/// Neither the owner of the name nor one who must hold a bind, a majority of two though it be.
#[test]
fn a_suspended_peer_is_neither_asked_nor_waited_for() {
    let mut table = of_two();
    table.full.insert(1);
    let theirs = owned_by(&table, 1);
    let asked = table.now;
    table.ask(0, 1, request(1, &theirs, Intent::bind(content("a"))));
    assert_eq!(done(&table, 1, asked), (1, Duration::ZERO), "what it says when it is asked is enough");
    assert_eq!(table.engines[0].suspended().count(), 1);
    table.carried.clear();
    let other = owned_by(&table, 0);
    table.ask(0, 2, request(2, &other, Intent::bind(content("a"))));
    table.ask(0, 3, request(3, &theirs, Intent::rebind(content("b"))));
    assert_eq!([done(&table, 2, asked), done(&table, 3, asked)], [(1, Duration::ZERO); 2]);
    assert!(table.carried.iter().all(|(_, _, message)| !matches!(message, Message::Forward(_))));
}

#[test]
fn who_stores_again_catches_up_and_counts() {
    let mut table = of_two();
    table.full.insert(1);
    let (theirs, ours) = (owned_by(&table, 1), owned_by(&table, 0));
    table.ask(0, 1, request(1, &theirs, Intent::bind(content("a"))));
    table.see(0, 0..2, 2);
    assert_eq!(table.engines[0].suspended().count(), 1, "another view says nothing of its disk");
    table.pass(ms(700));
    table.resume(1);
    assert_eq!(table.engines[0].suspended().count(), 0);
    assert_eq!(table.record(1, &theirs), table.record(0, &theirs));
    table.pass(ms(300));
    let asked = table.now;
    table.ask(0, 2, request(2, &ours, Intent::bind(content("a"))));
    table.ask(0, 3, request(3, &theirs, Intent::rebind(content("b"))));
    assert_eq!([done(&table, 2, asked), done(&table, 3, asked)], [(2, Duration::ZERO); 2]);
    assert_eq!(table.engines[0].lagging().count(), 0);
}

#[test]
fn who_leaves_the_view_is_not_suspended_when_it_comes_back() {
    let mut table = of_two();
    table.full.insert(1);
    table.ask(0, 1, request(1, &owned_by(&table, 1), Intent::bind(content("a"))));
    table.see(0, [0], 2);
    table.see(0, 0..2, 2);
    assert_eq!(table.engines[0].suspended().count(), 0);
}
