//! A rename is one event: both names, everywhere, or neither.

use std::time::Duration;

use hanaming::cluster::engine::Timing;
use hanaming::cluster::message::Message;
use hanaming::cluster::replica::Retention;
use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::Intent;
use hanaming::cluster::rules::{Rule, Rules};
use hanaming::cluster::shown::Shown;

use crate::schedule::ms;

use super::matters;
use super::table::{Table, content, name, request};

fn rename() -> Intent {
    Intent::Rename { to: name("new") }
}

/// Three nodes that have `old`.
fn with_old(rules: Rules) -> Table {
    let mut table = Table::of_three(rules);
    table.ask(0, 1, request(1, &name("old"), Intent::bind(content("x"))));
    assert!((0..3).all(|node| shows(&table, node, "old")));
    table
}

fn shows(table: &Table, node: usize, text: &str) -> bool {
    matches!(table.readers[node].shown(&name(text)), Shown::Value(_))
}

#[test]
fn both_names_change_in_one_step_on_every_node() {
    matters(Rule::WholeEvents, |rules| {
        let mut table = with_old(rules);
        table.coordinate(0, request(2, &name("old"), rename()));
        let mut whole = true;
        while table.carry_one() {
            whole &= (0..3).all(|node| shows(&table, node, "old") != shows(&table, node, "new"));
        }
        assert!((0..3).all(|node| shows(&table, node, "new")));
        whole
    });
}

#[test]
fn a_sync_brings_both_names_in_one_step() {
    let mut table = with_old(Rules::ALL);
    table.deaf.insert(2);
    table.coordinate(0, request(2, &name("old"), rename()));
    table.carry();
    table.pass(ms(300));
    assert!(shows(&table, 2, "old") && shows(&table, 0, "new"));
    table.deaf.clear();
    // It hears first of a later write at the old name, then of everything.
    table.ask(0, 3, request(3, &name("other"), Intent::bind(content("y"))));
    table.pass(ms(1500));
    assert!(!shows(&table, 2, "old") && shows(&table, 2, "new"));
}

#[test]
fn an_objection_puts_back_what_was_moved() {
    matters(Rule::MovedPutBack, |rules| {
        let mut table = with_old(rules);
        // n2 alone knows of a binding of the new name.
        table.deaf = [0, 1].into();
        table.coordinate(2, request(2, &name("new"), Intent::rebind(content("y"))));
        table.carry();
        table.deaf.clear();
        let old = table.record(0, &name("old")).siblings[0].created;
        table.coordinate(0, request(3, &name("old"), rename()));
        table.carry();
        table.pass(ms(300));
        let back = |node: usize| {
            let record = table.record(node, &name("old"));
            record.siblings.len() == 1 && record.siblings[0].created == old && shows(&table, node, "old")
        };
        let taken = table.carried.iter().any(|(_, _, message)| {
            matches!(message, Message::Forwarded { reply: Reply::Obstructed(obstacle), .. }
                if obstacle.error().fields().name.as_deref() == Some("new"))
        });
        assert!((0..3).all(|node| shows(&table, node, "new")));
        taken && (0..3).all(back)
    });
}

#[test]
fn what_was_bound_meanwhile_stays_beside_what_is_put_back() {
    let mut table = with_old(Rules::ALL);
    table.deaf = [0, 1].into();
    table.coordinate(2, request(2, &name("new"), Intent::rebind(content("y"))));
    table.carry();
    table.deaf.clear();
    // The offers are on their way when n0 itself lets somebody bind the old name.
    table.coordinate(0, request(3, &name("old"), rename()));
    table.coordinate(0, request(4, &name("old"), Intent::rebind(content("z"))));
    table.carry();
    table.pass(ms(300));
    for node in 0..3 {
        let conflicts: Vec<_> = table.engines[node].replica().conflicts().collect();
        assert_eq!(conflicts.len(), 1);
        let kept: Vec<_> = conflicts[0].versions.iter().map(|version| version.content.clone()).collect();
        assert!(kept.contains(&content("x")) && kept.contains(&content("z")));
    }
}

#[test]
fn a_rename_repeated_elsewhere_is_done_once() {
    let mut table = with_old(Rules::ALL);
    // n0 coordinates, n1 has it; then n0 stands still, and the client asks n1.
    table.deaf.insert(2);
    table.coordinate(0, request(2, &name("old"), rename()));
    table.carry();
    table.deaf = [0].into();
    table.now += Duration::from_millis(5);
    let mut repeated = request(2, &name("old"), rename());
    repeated.is_retry = true;
    table.coordinate(1, repeated);
    table.pass(ms(600));
    table.deaf.clear();
    table.pass(ms(1500));
    for node in 0..3 {
        assert!(shows(&table, node, "new") && !shows(&table, node, "old"), "n{node}");
        assert_eq!(table.engines[node].replica().conflicts().count(), 0);
    }
    // Asked once more it is known to be done, and a third time too when the value has gone on.
    let mut table_asks = |handle: u64, sequence: u64, text: &str, intent: Intent| {
        let mut again = request(sequence, &name(text), intent);
        again.is_retry = true;
        table.ask(2, handle, again);
        table.pass(ms(200));
        assert!(matches!(table.reply(handle), Some(Reply::Done { version: Some(_), .. })), "{:?}", table.reply(handle));
    };
    table_asks(10, 2, "old", rename());
    table_asks(11, 5, "new", Intent::Rename { to: name("newest") });
    table_asks(12, 2, "old", rename());
    assert!(shows(&table, 0, "newest") && !shows(&table, 0, "new") && !shows(&table, 0, "old"));
}

#[test]
fn of_a_conflict_the_version_shown_is_moved_and_the_others_stay() {
    let mut table = Table::new(2, Timing::default(), Retention::default(), Rules::ALL);
    for (node, text) in [(0, "x"), (1, "y")] {
        table.see(node, [node], 1);
        table.now += ms(1);
        table.ask(node, 1 + node as u64, request(1 + node as u64, &name("old"), Intent::bind(content(text))));
    }
    for node in 0..2 {
        table.see(node, [0, 1], 2);
    }
    table.carry();
    table.ask(0, 3, request(3, &name("old"), rename()));
    let told = |text| match table.readers[1].shown(&name(text)) {
        Shown::Value(sibling) => Some(sibling.content.clone()),
        _ => None,
    };
    assert_eq!((told("new"), told("old")), (Some(content("x")), Some(content("y"))));
}

#[test]
fn two_sides_of_a_split_can_leave_both() {
    let mut table = Table::new(2, Timing::default(), Retention::default(), Rules::ALL);
    table.ask(0, 1, request(1, &name("old"), Intent::bind(content("x"))));
    for node in 0..2 {
        table.see(node, [node], 1);
        let to = name(["left", "right"][node]);
        table.ask(node, 2 + node as u64, request(2 + node as u64, &name("old"), Intent::Rename { to }));
    }
    for node in 0..2 {
        table.see(node, [0, 1], 2);
    }
    table.carry();
    assert!((0..2).all(|node| shows(&table, node, "left") && shows(&table, node, "right") && !shows(&table, node, "old")));
}

/// n0 dies with a rename that nobody has heard of; the new name is bound meanwhile.
#[test]
fn a_rename_that_its_node_died_with_puts_back_what_it_moved() {
    matters(Rule::MovedPutBack, |rules| {
        let mut table = with_old(rules);
        table.deaf.insert(0);
        table.coordinate(0, request(2, &name("old"), rename()));
        table.carry();
        for node in 1..3 {
            table.see(node, 1..3, 3);
        }
        table.coordinate(1, request(3, &name("new"), Intent::bind(content("y"))));
        table.carry();
        table.start_again(0);
        table.deaf.clear();
        for node in 0..3 {
            table.see(node, 0..3, 3);
        }
        table.pass(ms(1500));
        (0..3).all(|node| shows(&table, node, "old") && shows(&table, node, "new"))
    });
}
