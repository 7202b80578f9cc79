//! Clients who have seen more than a node, and nodes that stood still.

use hanaming::cluster::engine::{Input, Output, Timing};
use hanaming::cluster::message::Message;
use hanaming::cluster::replica::Retention;
use hanaming::cluster::reply::{Refusal, Reply};
use hanaming::cluster::request::{Intent, Request};
use hanaming::cluster::rules::{Rule, Rules};
use hanaming::cluster::vector::{Dot, Seen, Vector};

use crate::schedule::ms;

use super::matters;
use super::table::{Table, content, name, request};

fn read(asker: u64, token: &Seen) -> Input {
    Input::Read { asker, token: token.clone() }
}

fn readable(table: &Table, node: usize, asker: u64) -> Option<bool> {
    table.said.iter().find_map(|said| match said {
        (by, Output::Readable { asker: known, is_current }) if (*by, *known) == (node, asker) => Some(*is_current),
        _ => None,
    })
}

#[test]
fn a_reader_sees_what_it_saw_before_or_hears_that_it_would_not() {
    let mut table = Table::new(2, Timing::default(), Retention::default(), Rules::ALL);
    table.deaf.insert(1);
    table.coordinate(0, request(1, &name("a"), Intent::rebind(content("x"))));
    table.carry();
    let token = table.engines[0].replica().seen().clone();
    let read = |asker, token: &Seen| Input::Read { asker, token: token.clone() };
    table.step(1, read(1, &Seen::default()));
    assert!(table.said.contains(&(1, Output::Readable { asker: 1, is_current: true })));
    table.step(1, read(2, &token));
    table.deaf.clear();
    table.pass(ms(20));
    assert!(table.said.contains(&(1, Output::Readable { asker: 2, is_current: true })), "it caught up");
    let future = Seen::from(Vector::from_iter([Dot { actor: 7, sequence: 1 }]));
    table.step(1, read(3, &future));
    table.pass(ms(60));
    assert!(table.said.contains(&(1, Output::Readable { asker: 3, is_current: false })));
    assert!(!table.engines[1].is_current(&future) && table.engines[1].is_current(&token));
}

/// A write is most likely on its way: nobody is asked as long as it may arrive.
#[test]
fn what_is_on_its_way_is_waited_for_and_not_asked_for() {
    let mut table = Table::new(2, Timing::default(), Retention::default(), Rules::ALL);
    table.coordinate(0, request(1, &name("a"), Intent::rebind(content("x"))));
    let token = table.engines[0].replica().seen().clone();
    let carried = table.carried.len();
    table.step(1, read(1, &token));
    assert_eq!(readable(&table, 1, 1), None);
    table.carry();
    assert_eq!(readable(&table, 1, 1), Some(true));
    table.pass(ms(20));
    assert!(!table.carried[carried..].iter().any(|(_, _, message)| matches!(message, Message::Pull(_))));
}

/// A request that waits is run as soon as the node has what its client has seen, and refused where it does not get it.
#[test]
fn a_request_waits_for_its_token_or_is_refused() {
    matters(Rule::TokenChecked, |rules| {
        let mut table = Table::new(2, Timing::default(), Retention::default(), rules);
        table.deaf.insert(1);
        table.coordinate(0, request(1, &name("a"), Intent::rebind(content("x"))));
        table.carry();
        let token = table.engines[0].replica().seen().clone();
        let unbind = |sequence| Request { token: token.clone(), ..request(sequence, &name("a"), Intent::Unbind) };
        let forwarded = Message::Forward(unbind(2));
        table.step(1, Input::Message { from: super::table::id(0), message: forwarded });
        table.deaf.clear();
        table.pass(ms(20));
        let removed = table.record(0, &name("a")).siblings.is_empty();
        let future = Seen::from(Vector::from_iter([Dot { actor: 7, sequence: 1 }]));
        table.step(1, Input::Request { asker: 9, request: Request { token: future, ..unbind(3) } });
        table.pass(ms(60));
        removed && table.reply(9) == Some(&Reply::Refused(Refusal::Behind))
    });
}

/// While a node stands still the others go on without it. It may not deny what they bound meanwhile, nor find that there
/// is nothing to remove.
#[test]
fn who_was_frozen_serves_when_it_knows_what_it_missed() {
    matters(Rule::FrozenCatchesUp, |rules| {
        let mut table = Table::new(2, Timing::default(), Retention::default(), rules);
        table.deaf.insert(1);
        table.coordinate(0, request(1, &name("a"), Intent::rebind(content("x"))));
        table.carry();
        table.pass(ms(1000));
        table.deaf.clear();
        // The first thing that it hears is not its clock.
        table.step(1, read(1, &Seen::default()));
        let is_held = readable(&table, 1, 1).is_none();
        table.step(1, Input::Request { asker: 2, request: request(2, &name("a"), Intent::Unbind) });
        table.pass(ms(100));
        assert_eq!(readable(&table, 1, 1), Some(true));
        let removed = matches!(table.reply(2), Some(Reply::Done { version: Some(_), .. }));
        assert!(!table.engines[1].is_waking());
        is_held && removed
    });
}

#[test]
fn who_wakes_and_hears_from_nobody_refuses_until_it_is_alone() {
    let mut table = Table::new(2, Timing::default(), Retention::default(), Rules::ALL);
    table.deaf = [0, 1].into();
    table.pass(ms(1000));
    table.deaf.remove(&1);
    table.step(1, read(1, &Seen::default()));
    table.pass(ms(60));
    assert_eq!((readable(&table, 1, 1), table.engines[1].is_waking()), (Some(false), true));
    table.step(1, Input::Request { asker: 2, request: request(1, &name("a"), Intent::Unbind) });
    table.pass(ms(60));
    assert_eq!(table.reply(2), Some(&Reply::Refused(Refusal::Behind)));
    table.see(1, [1], 2);
    table.step(1, read(3, &Seen::default()));
    assert_eq!(readable(&table, 1, 3), Some(true));
}
