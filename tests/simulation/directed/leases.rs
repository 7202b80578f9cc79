//! Leases: who lets go, when, and when not.

use std::time::Duration;

use hanaming::cluster::engine::{Output, Timing};
use hanaming::cluster::obstacle::Obstacle;
use hanaming::cluster::replica::Retention;
use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::{Binding, Intent};
use hanaming::cluster::rules::{Rule, Rules};
use hanaming::cluster::vector::Dot;

use crate::schedule::ms;

use super::matters;
use super::table::{Table, content, name, request};

const LEASE: Duration = ms(2000);

fn leased() -> Intent {
    Intent::Bind(Binding { content: content("x"), create_parents: false, lease: Some(LEASE) })
}

fn bind(table: &mut Table, node: usize, sequence: u64, text: &str) -> Dot {
    table.ask(node, sequence, request(sequence, &name(text), leased()));
    let Some(Reply::Done { version: Some(version), .. }) = table.reply(sequence) else { panic!("{:?}", table.reply(sequence)) };
    *version
}

fn stands(table: &Table, text: &str) -> bool {
    (0..table.engines.len()).any(|node| !table.record(node, &name(text)).is_tombstone())
}

#[test]
fn what_is_not_renewed_goes_everywhere_and_what_is_renewed_stays() {
    let mut table = Table::of_three(Rules::ALL);
    let kept = bind(&mut table, 0, 1, "kept");
    bind(&mut table, 1, 2, "lost");
    for round in 0..5 {
        table.pass(ms(1000));
        // The holder asks whichever node it likes.
        table.ask(round % 3, 10 + round as u64, request(10 + round as u64, &name("kept"), Intent::Renew { version: kept }));
        assert!(matches!(table.reply(10 + round as u64), Some(Reply::Done { .. })));
    }
    assert!(stands(&table, "kept") && !stands(&table, "lost"));
    table.pass(ms(2300));
    assert!(!stands(&table, "kept"));
    table.ask(0, 20, request(20, &name("kept"), Intent::Renew { version: kept }));
    assert!(matches!(table.reply(20), Some(Reply::Obstructed(Obstacle::Superseded { .. }))));
    // That it went is no repetition of the bind, and no reason to run it again.
    let mut again = request(1, &name("kept"), leased());
    again.is_retry = true;
    table.ask(2, 21, again);
    table.pass(ms(200));
    assert!(matches!(table.reply(21), Some(Reply::Done { version: Some(version), .. }) if *version == kept));
    assert!(!stands(&table, "kept"));
}

#[test]
fn a_renewal_of_what_was_bound_anew_is_told_so() {
    let mut table = Table::of_three(Rules::ALL);
    let version = bind(&mut table, 0, 1, "a");
    table.ask(0, 2, request(2, &name("a"), Intent::rebind(content("y"))));
    table.ask(0, 3, request(3, &name("a"), Intent::Renew { version }));
    assert!(matches!(table.reply(3), Some(Reply::Obstructed(Obstacle::Superseded { .. }))));
    table.pass(ms(3000));
    assert!(stands(&table, "a"), "what was bound for good stays");
}

#[test]
fn the_owner_alone_lets_go() {
    matters(Rule::OwnerExpires, |rules| {
        let mut table = Table::of_three(rules);
        bind(&mut table, 0, 1, "a");
        let owner = table.owner(&name("a"));
        table.deaf.insert(owner);
        table.pass(ms(4000));
        let others: Vec<usize> = (0..3).filter(|node| *node != owner).collect();
        let kept = others.iter().all(|node| !table.record(*node, &name("a")).is_tombstone());
        // It is found dead, and the new owner gives the holder the time of a lease.
        for &node in &others {
            table.see(node, others.iter().copied(), 3);
        }
        table.pass(ms(2500));
        assert!(others.iter().all(|node| table.record(*node, &name("a")).is_tombstone()));
        kept
    });
}

#[test]
fn many_at_once_are_held_and_that_is_said() {
    matters(Rule::ManyLeasesHeld, |rules| {
        let timing = Timing { held_from: 3, ..Timing::default() };
        let mut table = Table::new(1, timing, Retention::default(), rules);
        let names = ["a", "b", "c", "d"];
        let versions: Vec<Dot> = (1..).zip(names).map(|(sequence, text)| bind(&mut table, 0, sequence, text)).collect();
        table.pass(ms(3000));
        let held =
            names.iter().all(|text| stands(&table, text)) && table.said.contains(&(0, Output::LeasesHeld { overdue: 4, all: 4 }));
        // Holders come back; the two that don't are no longer many.
        for (number, (text, &version)) in (10..).zip(names.iter().zip(&versions).take(2)) {
            table.ask(0, number, request(number, &name(text), Intent::Renew { version }));
        }
        table.pass(ms(200));
        held && stands(&table, "a")
            && stands(&table, "b")
            && !stands(&table, "c")
            && !stands(&table, "d")
            && table.said.iter().any(|(_, said)| matches!(said, Output::LeasesHeld { overdue: 0, .. }))
    });
}

#[test]
fn leases_begin_anew_after_a_freeze() {
    matters(Rule::LeasesBeginAnew, |rules| {
        let mut table = Table::new(1, Timing::default(), Retention::default(), rules);
        bind(&mut table, 0, 1, "a");
        table.pass(ms(200));
        table.deaf.insert(0);
        table.pass(ms(4000));
        table.deaf.clear();
        table.pass(ms(500));
        stands(&table, "a")
    });
}

#[test]
fn what_is_given_back_goes_alone_and_what_took_its_place_stays() {
    let mut table = Table::of_three(Rules::ALL);
    let gone = bind(&mut table, 0, 1, "gone");
    let replaced = bind(&mut table, 0, 2, "replaced");
    table.ask(2, 3, request(3, &name("replaced"), Intent::rebind(content("y"))));
    let mut again = request(4, &name("gone"), Intent::Release { version: gone });
    table.ask(1, 4, again.clone());
    assert!(matches!(table.reply(4), Some(Reply::Done { version: Some(_), .. })));
    assert!(!stands(&table, "gone"));
    // A repetition hears of the same, also where the name was bound anew.
    let anew = bind(&mut table, 2, 5, "gone");
    again.is_retry = true;
    table.ask(0, 6, again);
    table.pass(ms(200));
    assert!(matches!(table.reply(6), Some(Reply::Done { version: Some(_), .. })));
    assert_eq!(table.record(0, &name("gone")).siblings[0].dot, anew);
    table.ask(1, 7, request(7, &name("replaced"), Intent::Release { version: replaced }));
    assert!(matches!(table.reply(7), Some(Reply::Done { version: None, .. })), "there is nothing to give back");
    assert!(stands(&table, "replaced"));
}

/// Neither of both is let go while the other is renewed: it would take that along, as the repetition of something that is over.
#[test]
fn a_lease_that_was_given_twice_stands_as_one() {
    let mut table = Table::of_three(Rules::ALL);
    let ask =
        || request(1, &name("a"), Intent::Rebind(Binding { content: content("x"), create_parents: false, lease: Some(LEASE) }));
    for node in 0..2 {
        table.coordinate(node, ask());
    }
    table.carry();
    assert_eq!(table.record(2, &name("a")).siblings.len(), 2);
    let version = table.record(2, &name("a")).siblings[0].dot;
    for round in 0..5 {
        table.pass(ms(1000));
        table.ask(0, 10 + round, request(10 + round, &name("a"), Intent::Renew { version }));
    }
    assert!((0..3).all(|node| !table.record(node, &name("a")).is_tombstone()));
    table.ask(1, 20, request(20, &name("a"), Intent::Release { version }));
    assert!(!stands(&table, "a"));
}
