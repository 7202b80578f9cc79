//! The rules of 3.6.

use std::sync::Arc;

use hanaming::cluster::engine::{Input, Timing};
use hanaming::cluster::history::Outcome;
use hanaming::cluster::message::Message;
use hanaming::cluster::obstacle::Obstacle;
use hanaming::cluster::record::Named;
use hanaming::cluster::replica::Retention;
use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::Intent;
use hanaming::cluster::rules::Rule;

use crate::schedule::ms;

use super::matters;
use super::table::{Table, content, id, name, request};

#[test]
fn a_bind_is_offered_to_lagging_members_too() {
    matters(Rule::CreateToLagging, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let node = table.owner(&orders);
        let peer = (node + 1) % 3;
        table.deaf.insert(peer);
        table.ask(node, 1, request(1, &orders, Intent::rebind(content("a"))));
        table.ask(node, 2, request(2, &orders, Intent::Unbind));
        table.pass(ms(300));
        table.deaf.clear();
        table.ask(node, 3, request(3, &orders, Intent::bind(content("b"))));
        matches!(table.reply(3), Some(Reply::Done { receipt, .. }) if receipt.acked_by.len() == 3)
    });
}

#[test]
fn who_knows_that_it_took_effect_says_so() {
    matters(Rule::KnownAnswered, |rules| {
        // Else who was away asks what it missed, and the case is rarer.
        let rules = rules.without(Rule::FrozenCatchesUp);
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let bind = || request(1, &orders, Intent::bind(content("a")));
        // n2 misses the bind and what came of it, and is asked to run it as if it were new.
        table.deaf.insert(2);
        table.coordinate(0, bind());
        table.carry();
        table.pass(ms(300));
        let first = table.record(0, &orders).siblings[0].dot;
        table.deaf.clear();
        table.coordinate(2, bind());
        table.carry();
        (0..3).all(|node| table.record(node, &orders).siblings.iter().map(|s| s.dot).eq([first]))
    });
}

#[test]
fn of_two_binds_under_way_the_first_created_wins_at_once() {
    matters(Rule::FirstCreatedWins, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        table.coordinate(0, request(1, &orders, Intent::bind(content("a"))));
        table.now += ms(1);
        table.coordinate(1, request(2, &orders, Intent::bind(content("b"))));
        table.carry();
        let shown = table.record(2, &orders).shown().map(|sibling| sibling.operation.sequence);
        let settled = table.carried.iter().any(|(_, _, message)| matches!(message, Message::Forwarded { .. }));
        shown == Some(1) && settled
    });
}

#[test]
fn after_a_freeze_a_bind_is_offered_again() {
    matters(Rule::FrozenDistrusts, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        table.deaf.insert(2);
        table.coordinate(0, request(1, &orders, Intent::bind(content("a"))));
        table.carry();
        // n0 stands still; what n1 acknowledged before may no longer hold.
        table.deaf.insert(0);
        table.pass(ms(500));
        table.deaf.clear();
        table.carried.clear();
        table.pass(ms(10));
        table.carried.iter().any(|(from, to, message)| (*from, *to) == (0, 1) && matches!(message, Message::Create(_)))
    });
}

#[test]
fn a_bind_is_not_settled_by_time_alone() {
    matters(Rule::MajorityCommits, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        table.deaf.extend([1, 2]);
        table.coordinate(0, request(1, &orders, Intent::bind(content("a"))));
        table.pass(ms(400));
        let of_one = table.record(0, &orders).history.iter().all(|event| event.outcome == Outcome::Pending);
        table.deaf.remove(&1);
        table.pass(ms(400));
        of_one && table.record(1, &orders).history.iter().any(|event| event.outcome == Outcome::Done)
    });
}

/// n0's offer does not arrive, and the way is open again before anybody is found dead.
#[test]
fn a_bind_whose_offer_was_lost_is_offered_again() {
    matters(Rule::OfferedAgain, |rules| {
        let (mut table, orders) = (Table::new(2, Timing::default(), Retention::default(), rules), name("orders"));
        table.deaf.insert(1);
        table.coordinate(0, request(1, &orders, Intent::bind(content("a"))));
        table.carry();
        table.deaf.clear();
        table.pass(ms(300));
        table.record(1, &orders).history.iter().any(|event| event.outcome == Outcome::Done)
    });
}

/// n1 is a member that could hold nothing for a moment, while n2 is silent; a majority is not there in time.
#[test]
fn a_bind_is_offered_again_to_who_stores_again() {
    matters(Rule::OfferedAgain, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        table.deaf.insert(2);
        table.full.insert(1);
        table.coordinate(0, request(1, &orders, Intent::bind(content("a"))));
        table.carry();
        table.resume(1);
        table.pass(ms(600));
        table.record(1, &orders).history.iter().any(|event| event.outcome == Outcome::Done)
    });
}

/// n0's disk is full for a moment, in which n1 holds its bind.
#[test]
fn who_could_store_nothing_offers_its_binds_again() {
    matters(Rule::FrozenDistrusts, |rules| {
        let (mut table, orders) = (Table::new(2, Timing::default(), Retention::default(), rules), name("orders"));
        table.coordinate(0, request(1, &orders, Intent::bind(content("a"))));
        table.full.insert(0);
        table.carry();
        table.resume(0);
        table.record(1, &orders).history.iter().any(|event| event.outcome == Outcome::Done)
    });
}

/// A bind settled by n0 is being sent again when n1 answers to its offer, late: it knows that the operation took effect.
#[test]
fn what_is_settled_stays_whatever_is_answered_late() {
    matters(Rule::SettledStays, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let bind = || request(1, &orders, Intent::bind(content("a")));
        table.coordinate(0, bind());
        table.carry();
        let dot = table.record(0, &orders).siblings[0].dot;
        table.deaf.insert(2);
        table.coordinate(0, bind());
        let records = vec![Named { name: orders.clone(), record: Arc::new(table.record(1, &orders)) }];
        table.step(0, Input::Message { from: id(1), message: Message::CreateKnown { dot, records } });
        table.carry();
        table.record(0, &orders).sibling(dot).is_some()
    });
}

/// The coordinator of a bind dies with it, and its client with it.
#[test]
fn a_bind_that_nobody_goes_on_with_is_settled_by_the_owner_of_its_name() {
    matters(Rule::OrphansAdopted, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let owner = table.owner(&orders);
        let (coordinator, other) = ((owner + 1) % 3, (owner + 2) % 3);
        table.coordinate(coordinator, request(1, &orders, Intent::bind(content("a"))));
        assert!(table.carry_until(|message| matches!(message, Message::CreateHeld(_))));
        table.deaf.insert(coordinator);
        table.carry();
        for node in [owner, other] {
            table.see(node, [owner, other], 3);
        }
        table.pass(ms(3500));
        table.ask(other, 2, request(2, &orders, Intent::bind(content("b"))));
        table.record(other, &orders).siblings.len() == 2
            && matches!(table.reply(2), Some(Reply::Obstructed(Obstacle::AlreadyBound { .. })))
    });
}

/// Both coordinators of two binds die with them, and come back with what they had.
#[test]
fn binds_of_coordinators_that_died_meet_when_they_are_back() {
    matters(Rule::OrphansAdopted, |rules| {
        let (mut table, orders) = (Table::new(2, Timing::default(), Retention::default(), rules), name("orders"));
        table.deaf.extend([0, 1]);
        for (node, text) in [(0, "a"), (1, "b")] {
            table.coordinate(node, request(1 + node as u64, &orders, Intent::bind(content(text))));
            table.carry();
            table.now += ms(1);
        }
        for node in 0..2 {
            table.start_again(node);
        }
        table.deaf.clear();
        for node in 0..2 {
            table.see(node, 0..2, 2);
        }
        table.pass(ms(1500));
        let first = |node| table.record(node, &orders).shown().map(|sibling| sibling.operation.sequence);
        let is_one = |node| table.record(node, &orders).siblings.len() == 1;
        (0..2).all(|node| first(node) == Some(1) && is_one(node))
    });
}

/// n0 coordinates a bind and freezes after n1 has it; the client repeats it at n1.
fn repeated_beside(rules: hanaming::cluster::rules::Rules) -> Table {
    let (mut table, orders) = (Table::of_three(rules), name("orders"));
    table.deaf.insert(2);
    table.coordinate(0, request(1, &orders, Intent::bind(content("a"))));
    table.carry();
    table.deaf = [0].into();
    table.now += ms(5);
    let mut repeated = request(1, &orders, Intent::bind(content("a")));
    repeated.is_retry = true;
    table.coordinate(1, repeated);
    table.pass(ms(200));
    table
}

#[test]
fn a_retry_makes_its_version_beside_and_leaves_the_other_to_its_coordinator() {
    matters(Rule::CoordinatorWithdraws, |rules| repeated_beside(rules).record(1, &name("orders")).siblings.len() == 2);
}

#[test]
fn a_version_beside_another_is_as_old_as_that_one() {
    matters(Rule::SameCreation, |rules| {
        let record = repeated_beside(rules).record(1, &name("orders"));
        record.siblings.len() == 2 && record.siblings[0].created == record.siblings[1].created
    });
}

#[test]
fn a_majority_settles_a_bind_in_the_end_and_less_does_not() {
    matters(Rule::MajorityCommits, |rules| {
        let is_answered = |silent: usize| {
            let (mut table, orders) = (Table::of_three(rules), name("orders"));
            let node = table.owner(&orders);
            table.deaf = (0..3).filter(|other| *other != node).take(silent).collect();
            table.ask(node, 1, request(1, &orders, Intent::bind(content("a"))));
            table.pass(ms(600));
            table.reply(1).is_some()
        };
        is_answered(1) && !is_answered(2)
    });
}
