//! Joining, leaving, and what became of an operation.

use std::collections::BTreeSet;

use hanaming::cluster::engine::{Input, OperationStatus, Output, Timing};
use hanaming::cluster::message::Message;
use hanaming::cluster::replica::Retention;
use hanaming::cluster::reply::{Refusal, Reply};
use hanaming::cluster::request::Intent;
use hanaming::cluster::rules::{Rule, Rules};
use hanaming::protocol::OperationId;

use crate::schedule::ms;

use super::matters;
use super::table::{Table, content, id, name, request};

fn bind(sequence: u64, text: &str) -> hanaming::cluster::request::Request {
    request(sequence, &name(text), Intent::bind(content("x")))
}

#[test]
fn a_node_serves_nobody_before_its_first_sync() {
    matters(Rule::ReadyFirst, |rules| {
        let mut table = Table::new(2, Timing::default(), Retention::default(), rules);
        table.ask(0, 1, bind(1, "a"));
        table.restart(1);
        table.see(1, [0, 1], 2);
        assert!(!table.engines[1].is_ready());
        table.step(1, Input::Request { asker: 2, request: bind(2, "b") });
        let refused = table.reply(2) == Some(&Reply::Refused(Refusal::Joining));
        table.carry();
        assert!(table.engines[1].is_ready() && table.said.contains(&(1, Output::Ready)));
        table.ask(1, 3, bind(3, "c"));
        assert!(matches!(table.reply(3), Some(Reply::Done { .. })));
        refused
    });
}

#[test]
fn who_joins_gets_every_write_and_is_not_counted() {
    let mut table = Table::of_three(Rules::ALL);
    for node in 0..3 {
        table.see_guests(node, [0, 1], [2], 2);
    }
    table.carry();
    table.ask(0, 1, bind(1, "a"));
    let Some(Reply::Done { receipt, .. }) = table.reply(1) else { panic!("{:?}", table.reply(1)) };
    let acked_by: BTreeSet<_> = receipt.acked_by.iter().copied().collect();
    assert_eq!((acked_by, receipt.live, receipt.members), ([id(0), id(1)].into(), 2, 2));
    assert_eq!(table.record(2, &name("a")).siblings.len(), 1);
    // Silent, it costs nothing.
    table.deaf.insert(2);
    table.ask(0, 2, bind(2, "b"));
    assert!(matches!(table.reply(2), Some(Reply::Done { .. })));
}

#[test]
fn nodes_that_start_together_serve_when_all_have_answered() {
    let mut table = Table::new(2, Timing::default(), Retention::default(), Rules::ALL);
    for node in 0..2 {
        table.restart(node);
        table.see_guests(node, [], [1 - node], 0);
    }
    assert!(!table.engines[0].is_ready() && !table.engines[1].is_ready());
    table.carry();
    assert!(table.engines[0].is_ready() && table.engines[1].is_ready());
}

#[test]
fn who_loses_the_one_that_has_the_tree_waits_for_it() {
    matters(Rule::LostOnesAwaited, |rules| {
        let mut table = Table::new(2, Timing::default(), Retention::default(), rules);
        table.ask(0, 1, bind(1, "a"));
        table.restart(1);
        // Busy with the copy, it is taken for dead.
        table.deaf.insert(0);
        table.see(1, [0, 1], 2);
        table.see(1, [1], 2);
        table.pass(ms(1000));
        let has_waited = !table.engines[1].is_ready();
        table.deaf.clear();
        table.see(1, [0, 1], 2);
        table.carry();
        assert!(table.engines[1].is_ready());
        assert_eq!(table.record(1, &name("a")).siblings.len(), 1);
        has_waited
    });
}

#[test]
fn who_has_the_tree_and_does_not_come_back_is_not_waited_for() {
    let mut table = Table::new(2, Timing::default(), Retention::default(), Rules::ALL);
    table.restart(1);
    table.deaf.insert(0);
    table.see(1, [0, 1], 2);
    table.see(1, [1], 2);
    table.pass(Timing::default().lost_ones);
    assert!(table.engines[1].is_ready());
}

#[test]
fn who_comes_back_below_the_floor_serves_nobody_until_it_synced() {
    let at_once = Retention { operations: ms(0), tombstones: ms(0), ..Retention::default() };
    let mut table = Table::new(2, Timing::default(), at_once, Rules::ALL);
    table.ask(0, 1, bind(1, "gone"));
    table.see(0, [0], 1);
    table.see(1, [1], 1);
    table.ask(0, 2, request(2, &name("gone"), Intent::Unbind));
    table.pass(ms(2500));
    assert!(!table.engines[0].replica().floor().is_empty(), "n1 was forgotten, and the tombstone went");
    table.see(0, [0, 1], 2);
    table.see(1, [0, 1], 2);
    // Of its own pull it knows nothing yet; that of n0 tells it.
    assert!(table.carry_until(|message| matches!(message, Message::Pull(_))));
    while table.engines[1].is_ready() && table.carry_one() {}
    assert!(table.said.contains(&(1, Output::NotReady)));
    table.step(1, Input::Request { asker: 3, request: bind(3, "b") });
    assert_eq!(table.reply(3), Some(&Reply::Refused(Refusal::Joining)));
    table.carry();
    assert!(table.engines[1].is_ready());
    assert!(table.record(1, &name("gone")).is_tombstone());
}

#[test]
fn who_leaves_waits_until_the_others_have_its_writes() {
    matters(Rule::HandsOver, |rules| {
        let mut table = Table::new(2, Timing::default(), Retention::default(), rules);
        table.deaf.insert(1);
        table.coordinate(0, request(1, &name("a"), Intent::rebind(content("x"))));
        table.carry();
        table.pass(ms(300));
        table.deaf.clear();
        table.step(0, Input::Quiesce);
        let waits = !table.said.contains(&(0, Output::HandedOver));
        table.step(0, Input::Request { asker: 2, request: bind(2, "b") });
        assert_eq!(table.reply(2), Some(&Reply::Refused(Refusal::Quiescing)));
        table.carry();
        assert!(table.said.contains(&(0, Output::HandedOver)));
        waits && table.record(1, &name("a")).siblings.len() == 1
    });
}

#[test]
fn a_lone_node_has_nothing_to_hand_over() {
    let mut table = Table::new(1, Timing::default(), Retention::default(), Rules::ALL);
    table.ask(0, 1, bind(1, "a"));
    table.step(0, Input::Quiesce);
    assert!(table.said.contains(&(0, Output::HandedOver)));
}

#[test]
fn who_is_refused_by_an_owner_that_leaves_is_served_where_he_asked() {
    let mut table = Table::of_three(Rules::ALL);
    let owner = table.owner(&name("a"));
    table.step(owner, Input::Quiesce);
    table.carry();
    table.ask((owner + 1) % 3, 1, bind(1, "a"));
    assert!(matches!(table.reply(1), Some(Reply::Done { .. })), "{:?}", table.reply(1));
}

#[test]
fn what_became_of_an_operation_is_known_to_all() {
    let mut table = Table::of_three(Rules::ALL);
    table.deaf = [1, 2].into();
    table.coordinate(0, request(1, &name("a"), Intent::rebind(content("x"))));
    table.carry();
    table.deaf.clear();
    let operation = |sequence| OperationId { client: 1, sequence };
    let mut asks = |asker, sequence| {
        table.step(1, Input::Status { asker, operation: operation(sequence) });
        table.carry();
        table.pass(ms(200));
        let status = table.said.iter().find_map(|(_, said)| match said {
            Output::Status { asker: known, status } if *known == asker => Some(status.clone()),
            _ => None,
        });
        (status.unwrap(), table.record(0, &name("a")).siblings[0].dot)
    };
    let (status, dot) = asks(1, 1);
    assert!(matches!(status, OperationStatus::Done(trace) if trace.version == dot && trace.name == name("a")));
    assert_eq!(asks(2, 2).0, OperationStatus::Unknown { silent: Vec::new() });
    table.deaf.insert(2);
    table.step(1, Input::Status { asker: 3, operation: operation(3) });
    table.carry();
    table.pass(ms(200));
    let unknown = OperationStatus::Unknown { silent: vec![id(2)] };
    assert!(table.said.contains(&(1, Output::Status { asker: 3, status: unknown })));
}

/// A copy whose parts take longer to come than the time after which one would be asked for again.
#[test]
fn a_copy_that_takes_long_arrives() {
    matters(Rule::PullsAwaited, |rules| {
        let mut table = Table::new(2, Timing::default(), Retention::default(), rules);
        table.see(1, [1], 2);
        table.see(0, [0], 1);
        for number in 0..6 {
            let large = content(&"x".repeat(300_000));
            table.ask(0, number, request(number + 1, &name(&format!("large{number}")), Intent::bind(large)));
        }
        table.restart(1);
        table.see_guests(1, [0, 1], [], 2);
        table.slow = Some(ms(700));
        table.pass(ms(5000));
        table.engines[1].is_ready()
    });
}
