//! The rules of 3.5.

use std::time::Duration;

use hanaming::cluster::engine::{Input, Timing};
use hanaming::cluster::message::Message;
use hanaming::cluster::obstacle::Obstacle;
use hanaming::cluster::replica::Retention;
use hanaming::cluster::reply::{Refusal, Reply, Uncertainty};
use hanaming::cluster::request::{Intent, Request};
use hanaming::cluster::rules::{Rule, Rules};

use crate::schedule::ms;

use super::matters;
use super::table::{Table, content, id, name, request};

#[test]
fn a_lagging_peer_costs_one_write_a_quarter_second_and_the_next_nothing() {
    matters(Rule::LaggingNotWaitedFor, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let (node, start) = (table.owner(&orders), table.now);
        table.deaf.insert((node + 1) % 3);
        table.ask(node, 1, request(1, &orders, Intent::rebind(content("a"))));
        table.pass(ms(300));
        let second = table.now;
        table.ask(node, 2, request(2, &orders, Intent::rebind(content("b"))));
        table.pass(ms(20));
        let waits: Vec<Duration> =
            table.answers.iter().zip([start, second]).map(|(answer, asked)| answer.2.saturating_sub(asked)).collect();
        waits.len() == 2 && waits[0] <= ms(260) && waits[1].is_zero()
    });
}

#[test]
fn a_lagging_peer_is_still_sent_every_write() {
    matters(Rule::LaggingSentTo, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let node = table.owner(&orders);
        let peer = (node + 1) % 3;
        table.deaf.insert(peer);
        table.ask(node, 1, request(1, &orders, Intent::rebind(content("a"))));
        table.pass(ms(300));
        table.deaf.clear();
        table.ask(node, 2, request(2, &orders, Intent::rebind(content("b"))));
        table.record(peer, &orders).siblings.len() == 1
    });
}

#[test]
fn too_few_live_members_take_no_write() {
    matters(Rule::MinReplicas, |rules| {
        let timing = Timing { min_replicas: 2, ..Timing::default() };
        let (mut table, orders) = (Table::new(2, timing, Retention::default(), rules), name("orders"));
        table.see(0, [0], 2);
        table.ask(0, 1, request(1, &orders, Intent::rebind(content("a"))));
        table.reply(1) == Some(&Reply::Refused(Refusal::TooFew)) && table.record(0, &orders).is_tombstone()
    });
}

#[test]
fn what_too_few_hold_is_not_called_done() {
    matters(Rule::MinReplicas, |rules| {
        let timing = Timing { min_replicas: 2, ..Timing::default() };
        let (mut table, orders) = (Table::new(2, timing, Retention::default(), rules), name("orders"));
        let node = table.owner(&orders);
        table.deaf.insert(1 - node);
        table.ask(node, 1, request(1, &orders, Intent::rebind(content("a"))));
        table.pass(ms(300));
        matches!(table.reply(1), Some(Reply::Unknown { reason: Uncertainty::TooFewHold, receipt }) if receipt.acked_by.len() == 1)
    });
}

#[test]
fn an_id_with_other_arguments_is_an_error() {
    matters(Rule::DigestChecked, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        table.ask(0, 1, request(1, &orders, Intent::rebind(content("a"))));
        table.ask(0, 2, request(1, &orders, Intent::rebind(content("b"))));
        table.reply(2) == Some(&Reply::Misused)
    });
}

#[test]
fn a_retry_elsewhere_finds_what_only_one_peer_has() {
    matters(Rule::RetryAsksPeers, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let rebind = || request(1, &orders, Intent::rebind(content("a")));
        // The write is stored at n0; neither the other nodes nor the client hear of it.
        table.deaf = [1, 2].into();
        table.coordinate(0, rebind());
        table.carry();
        let first = table.record(0, &orders).siblings[0].dot;
        table.deaf.clear();
        let mut repeated = rebind();
        repeated.is_retry = true;
        table.coordinate(1, repeated);
        table.carry();
        (0..3).all(|node| table.record(node, &orders).siblings.iter().map(|s| s.dot).eq([first]))
    });
}

#[test]
fn what_may_be_forgotten_is_not_run_again() {
    matters(Rule::ForgottenRefused, |rules| {
        let retention = Retention { operations: ms(2000), ..Retention::default() };
        let (mut table, orders) = (Table::new(3, Timing::default(), retention, rules), name("orders"));
        table.ask(0, 1, request(1, &orders, Intent::rebind(content("a"))));
        table.ask(0, 2, request(2, &orders, Intent::Unbind));
        table.pass(ms(4500));
        table.ask(0, 3, request(1, &orders, Intent::rebind(content("a"))));
        table.pass(ms(300));
        let refused = matches!(table.reply(3), Some(Reply::Unknown { reason: Uncertainty::Forgotten, .. }));
        refused && table.record(0, &orders).is_tombstone()
    });
}

#[test]
fn a_retry_at_a_busy_name_is_known_for_some_time_and_then_refused() {
    matters(Rule::ForgottenRefused, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        for sequence in 1..=100 {
            table.ask(0, sequence, request(sequence, &orders, Intent::rebind(content("a"))));
        }
        let mut again = |handle: u64, sequence: u64| {
            let mut repeated = request(sequence, &orders, Intent::rebind(content("a")));
            repeated.is_retry = true;
            table.ask(1, handle, repeated);
            table.pass(ms(200));
            table.reply(handle).cloned().unwrap()
        };
        assert!(matches!(again(200, 90), Reply::Done { version: Some(_), .. }));
        matches!(again(201, 10), Reply::Unknown { reason: Uncertainty::Forgotten, .. })
    });
}

#[test]
fn a_node_that_is_behind_the_client_refuses() {
    matters(Rule::TokenChecked, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let node = table.owner(&orders);
        let behind = (node + 1) % 3;
        table.deaf.insert(behind);
        table.ask(node, 1, request(1, &orders, Intent::rebind(content("a"))));
        table.pass(ms(300));
        let token = table.engines[node].replica().seen().clone();
        // It hears nobody: it can't catch up.
        table.deaf = (0..3).filter(|other| *other != behind).collect();
        table.see(behind, [behind], 3);
        let mut later = request(2, &orders, Intent::rebind(content("b")));
        later.token = token;
        table.ask(behind, 2, later);
        table.pass(ms(60));
        table.reply(2) == Some(&Reply::Refused(Refusal::Behind))
    });
}

#[test]
fn a_node_that_is_behind_the_client_catches_up_where_it_can() {
    let (mut table, orders) = (Table::of_three(hanaming::cluster::rules::Rules::ALL), name("orders"));
    let node = table.owner(&orders);
    let behind = (node + 1) % 3;
    table.deaf.insert(behind);
    table.ask(node, 1, request(1, &orders, Intent::rebind(content("a"))));
    table.deaf.clear();
    let mut later = request(2, &orders, Intent::rebind(content("b")));
    later.token = table.engines[node].replica().seen().clone();
    table.ask(behind, 2, later);
    table.pass(ms(20));
    assert!(matches!(table.reply(2), Some(Reply::Done { .. })), "{:?}", table.reply(2));
    assert_eq!(table.record(behind, &orders).siblings.len(), 1, "it superseded what the client had seen");
}

/// An operation ran on both sides of a split, and what it did on one was superseded there: the other is taken back, whichever
/// part of a copy brings it.
#[test]
fn a_repetition_in_any_part_of_a_copy_is_voided() {
    let (mut table, orders) = (Table::new(2, Timing::default(), Retention::default(), Rules::ALL), name("a"));
    for node in 0..2 {
        table.see(node, [node], 2);
        table.ask(node, 10 * node as u64, request(1, &orders, Intent::bind(content("x"))));
        for number in 0..4_u64 {
            let large = Intent::bind(content(&"x".repeat(300_000)));
            let sequence = 10 * (node as u64 + 1) + number;
            table.ask(node, 100 + sequence, request(sequence, &name(&format!("b{sequence}")), large));
        }
    }
    table.ask(0, 1, request(2, &orders, Intent::rebind(content("y"))));
    table.carried.clear();
    table.see(0, 0..2, 2);
    table.see(1, 0..2, 2);
    table.carry();
    let parts = table.carried.iter().filter(|(_, _, message)| matches!(message, Message::Part(part) if part.total > 1));
    assert!(parts.count() >= 4, "both copies have several parts");
    for node in 0..2 {
        let siblings = table.record(node, &orders).siblings;
        assert_eq!(siblings.iter().map(|sibling| &sibling.content).collect::<Vec<_>>(), [&content("y")], "n{node}");
    }
}

/// Whoever asks another node pays for a frozen owner once: a quarter of a second in all, and the next write nothing.
#[test]
fn an_owner_that_stands_still_costs_a_quarter_second_once() {
    matters(Rule::SilentOwnerLags, |rules| {
        let took = |intents: [Intent; 2]| {
            let (mut table, orders) = (Table::of_three(rules), name("orders"));
            let owner = table.owner(&orders);
            table.deaf.insert(owner);
            let [first, second] = intents.map(|intent| {
                let (asked, handle) = (table.now, u64::try_from(table.answers.len()).unwrap() + 1);
                table.ask((owner + 1) % 3, handle, request(handle, &orders, intent));
                table.pass(ms(600));
                table.answers.iter().find(|answer| answer.0 == handle).map_or(ms(9999), |answer| answer.2.saturating_sub(asked))
            });
            (first, second)
        };
        let (rebind, again) = took([Intent::rebind(content("a")), Intent::rebind(content("b"))]);
        let (unbind, bind) = took([Intent::Unbind, Intent::bind(content("a"))]);
        rebind <= ms(160) && again.is_zero() && unbind <= ms(160) && bind <= ms(260)
    });
}

#[test]
fn a_bind_through_another_node_than_a_frozen_owner_takes_a_quarter_second() {
    matters(Rule::SilentOwnerLags, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let (owner, asked) = (table.owner(&orders), table.now);
        table.deaf.insert(owner);
        table.ask((owner + 1) % 3, 1, request(1, &orders, Intent::bind(content("a"))));
        table.pass(ms(600));
        matches!(table.answers[..], [(1, Reply::Done { .. }, at)] if at.saturating_sub(asked) <= ms(260))
    });
}

/// Its client has waited for the owner: whoever it asks next does so for a moment, and not once more for each.
#[test]
fn who_comes_again_does_not_pay_for_a_frozen_owner_twice() {
    matters(Rule::RetryStays, |rules| {
        let took = |intent: Intent| {
            let (mut table, orders) = (Table::of_three(rules), name("orders"));
            let (owner, asked) = (table.owner(&orders), table.now);
            table.deaf.insert(owner);
            let again = Request { is_retry: true, ..request(1, &orders, intent) };
            table.ask((owner + 1) % 3, 1, again);
            table.pass(ms(600));
            table.answers.first().map_or(ms(9999), |answer| answer.2.saturating_sub(asked))
        };
        took(Intent::rebind(content("a"))) <= ms(30) && took(Intent::bind(content("a"))) <= ms(130)
    });
}

/// The owner stands still with a request in its hands that comes to nothing elsewhere. It wakes, hears what was done meanwhile,
/// and runs the copy.
#[test]
fn what_came_to_nothing_is_not_done_by_a_copy_that_was_held_up() {
    matters(Rule::NothingRemembered, |rules| {
        let orders = name("orders");
        // What is asked first, what the retry is to find, and what is done before the owner wakes.
        let left = |first: &[Intent], late: &Intent, then: Intent| {
            let mut table = Table::of_three(rules);
            let owner = table.owner(&orders);
            let other = (owner + 1) % 3;
            for (number, intent) in (10..).zip(first) {
                table.ask(owner, number, request(number, &orders, intent.clone()));
            }
            table.deaf.insert(owner);
            table.ask(other, 1, Request { is_retry: true, ..request(1, &orders, late.clone()) });
            table.pass(ms(400));
            table.ask(other, 2, request(2, &orders, then));
            table.pass(ms(600));
            table.deaf.clear();
            table.pass(ms(1500));
            table.ask(owner, 3, request(1, &orders, late.clone()));
            table.pass(ms(400));
            let told = [1, 3].map(|handle| table.reply(handle).cloned().unwrap());
            (told, table.record(owner, &orders).siblings.len())
        };
        let nothing = |reply: &Reply| matches!(reply, Reply::Done { version: None, .. });
        let taken = |reply: &Reply| matches!(reply, Reply::Obstructed(Obstacle::AlreadyBound { .. }));
        let [a, b] = ["a", "b"].map(|value| Intent::bind(content(value)));
        let (unbound, there) = left(&[], &Intent::Unbind, a.clone());
        let (bound, here) = left(&[a], &b, Intent::Unbind);
        assert!(nothing(&unbound[0]) && taken(&bound[0]), "{unbound:?} {bound:?}");
        let is_refused = matches!(bound[1], Reply::Obstructed(Obstacle::CameToNothing { .. }));
        there == 1 && nothing(&unbound[1]) && here == 0 && is_refused
    });
}

/// A client comes again while the owner, which stands still, has its request; a third node has a copy in its hands. The owner
/// wakes and answers the first request, which to the owner is no repetition.
#[test]
fn what_came_to_nothing_at_the_owner_is_remembered_where_the_client_has_come_again() {
    matters(Rule::NothingRemembered, |rules| {
        let orders = name("orders");
        let mut table = Table::of_three(rules);
        let owner = table.owner(&orders);
        let [other, third] = [1, 2].map(|further| (owner + further) % 3);
        let unbind = |is_retry| Request { is_retry, ..request(1, &orders, Intent::Unbind) };
        for (asker, is_retry) in [(1, false), (2, true)] {
            table.step(other, Input::Request { asker, request: unbind(is_retry) });
        }
        table.pass(ms(400));
        table.ask(other, 3, request(2, &orders, Intent::bind(content("x"))));
        table.ask(third, 4, unbind(true));
        table.pass(ms(400));
        let is_nothing = |asker| matches!(table.reply(asker), Some(Reply::Done { version: None, .. }));
        assert!(is_nothing(1) && is_nothing(2));
        is_nothing(4) && table.record(third, &orders).siblings.len() == 1
    });
}

/// A bind meets one that is not settled, as far as its node knows, and waits. Meanwhile it comes to nothing elsewhere.
#[test]
fn what_came_to_nothing_is_not_done_by_who_waited_to_look_again() {
    matters(Rule::NothingRemembered, |rules| {
        let orders = name("orders");
        let mut table = Table::of_three(rules);
        let owner = table.owner(&orders);
        let [other, third] = [1, 2].map(|further| (owner + further) % 3);
        let bind = |sequence| request(sequence, &orders, Intent::bind(content("x")));
        table.step(owner, Input::Request { asker: 1, request: bind(1) });
        assert!(table.carry_until(|message| matches!(message, Message::Write(_))));
        table.deaf.insert(other);
        table.carry();
        table.deaf.clear();
        let again = || Request { is_retry: true, ..bind(2) };
        table.ask(other, 2, again());
        assert_eq!(table.reply(2), None, "it waits");
        table.ask(third, 3, again());
        let is_taken = matches!(table.reply(3), Some(Reply::Obstructed(Obstacle::AlreadyBound { .. })));
        table.ask(owner, 4, request(3, &orders, Intent::Unbind));
        assert!(is_taken && matches!(table.reply(4), Some(Reply::Done { version: Some(_), .. })));
        table.pass(ms(400));
        matches!(table.reply(2), Some(Reply::Obstructed(_))) && table.record(other, &orders).is_tombstone()
    });
}

/// The connections of a process that dies break at once, those of one that stands still don't.
#[test]
fn a_peer_whose_connection_broke_is_not_waited_for() {
    matters(Rule::BrokenLags, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        let owner = table.owner(&orders);
        let [next, last] = [(owner + 1) % 3, (owner + 2) % 3];
        let answered = |table: &mut Table, node: usize, handle: u64| {
            table.ask(node, handle, request(handle, &orders, Intent::rebind(content("a"))));
            table.reply(handle).is_some()
        };
        let gone = |table: &mut Table, peer: usize, told: &[usize]| {
            for &node in told {
                table.step(node, Input::Disconnected { peer: id(peer) });
            }
            table.carry();
        };
        table.deaf.insert(last);
        assert!(!answered(&mut table, owner, 1));
        gone(&mut table, last, &[owner]);
        let goes_on = table.reply(1).is_some() && answered(&mut table, owner, 2);
        // The same of an owner, for which another node waits.
        let mut table = Table::of_three(rules);
        table.deaf.insert(owner);
        assert!(!answered(&mut table, next, 3));
        gone(&mut table, owner, &[next, last]);
        goes_on && table.reply(3).is_some() && answered(&mut table, next, 4)
    });
}

/// What took effect is told with all who hold it, its coordinator among them, whoever is asked again.
#[test]
fn a_receipt_of_what_ran_before_names_all_who_hold_it() {
    for intent in [Intent::bind(content("a")), Intent::rebind(content("a"))] {
        let (mut table, orders) = (Table::of_three(hanaming::cluster::rules::Rules::ALL), name("orders"));
        table.ask(0, 1, request(1, &orders, intent.clone()));
        for (node, handle) in [(0, 2), (1, 3), (2, 4)] {
            table.coordinate(node, request(1, &orders, intent.clone()));
            table.ask(node, handle, request(1, &orders, intent.clone()));
            let Some(Reply::Done { version: Some(_), receipt }) = table.reply(handle) else {
                panic!("{:?}", table.reply(handle))
            };
            let mut acked_by = receipt.acked_by.clone();
            acked_by.sort_unstable();
            assert_eq!(acked_by, [id(0), id(1), id(2)]);
        }
        // Superseded, it is held by those who have seen it.
        table.ask(0, 5, request(2, &orders, Intent::rebind(content("b"))));
        table.pass(ms(1500));
        table.coordinate(1, request(1, &orders, intent.clone()));
        table.ask(1, 6, request(1, &orders, intent));
        let Some(Reply::Done { receipt, .. }) = table.reply(6) else { panic!("{:?}", table.reply(6)) };
        assert!(receipt.acked_by.len() > 1, "{receipt:?}");
    }
}

/// n1's write is lost on its way, and n1 asks n0 for what it lacks.
#[test]
fn who_is_asked_by_one_that_has_seen_more_asks_back() {
    matters(Rule::AheadAsked, |rules| {
        let (mut table, orders) = (Table::of_three(rules), name("orders"));
        table.deaf.insert(1);
        table.coordinate(1, request(1, &orders, Intent::rebind(content("a"))));
        table.carry();
        table.deaf.clear();
        table.step(1, Input::Reconnected { peer: id(0) });
        table.carry();
        // Before anybody lags, and before anybody asks around.
        table.pass(ms(150));
        table.record(0, &orders).siblings.len() == 1
    });
}
