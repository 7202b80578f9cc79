//! A target's health: what leaves it out, for how long, and what takes it back.

use std::time::Duration;

use hanaming::client::{Health, Input};
use hanaming::failure::Phase;
use hanaming::protocol::RefusalReason;
use hanaming::topology::MemberState;
use hanaming::transport::TransportErrorKind;

use crate::stage::{Stage, broke, connection_refused, error, found, lookup, member, ms, refused, silent, view, view_of, welcome};

fn probe_at(health: Health) -> Duration {
    match health {
        Health::Failed { probe_at, .. } | Health::Refusing { probe_at, .. } => probe_at,
        other => panic!("{other:?} is due for no probe"),
    }
}

/// Invariant 14.
#[test]
fn a_failed_target_is_probed_with_a_backoff_that_doubles_up_to_ten_seconds() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.start();
    stage.step(connection_refused());
    let id = stage.id('a');
    let refused = error(Phase::Connect, TransportErrorKind::Refused);
    for nominal in [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000] {
        let at = probe_at(stage.health('a'));
        let pause = at.saturating_sub(stage.now).as_millis();
        assert!((nominal * 4 / 5..=nominal).contains(&pause), "{pause} for {nominal}");
        assert_eq!(stage.fleet.next_due(), Some(at));
        assert_eq!(stage.fleet.probes_due(at.saturating_sub(Duration::from_micros(1))), []);
        stage.now = at;
        assert_eq!(stage.fleet.probes_due(at).len(), 1);
        assert_eq!(stage.fleet.probes_due(at), [], "one probe at a time");
        assert_eq!(stage.fleet.next_due(), None);
        stage.fleet.probed(id, Err(&refused), at, at);
    }
    let live = member('a', 1, MemberState::Live);
    stage.fleet.probed(id, Ok(&welcome(live, view("ab"))), stage.now, stage.now);
    assert_eq!(stage.health('a'), Health::Good);
    assert_eq!(stage.fleet.next_due(), None);
}

#[test]
fn many_calls_that_lose_one_server_at_once_are_one_failure() {
    let mut stage = Stage::new("ab", lookup("orders"));
    let mut calls = Vec::new();
    while calls.len() < 64 {
        stage.again(lookup("orders"));
        if stage.start().starts_with("send a") {
            calls.push(std::mem::replace(
                &mut stage.call,
                hanaming::client::Call::new(lookup("orders"), &stage.config, ms(0), ms(5000)),
            ));
        }
    }
    for call in &mut calls {
        let output = call.step(&mut stage.fleet, ms(1), crate::stage::lost());
        assert!(matches!(output, hanaming::client::Output::Send(_)));
    }
    assert!(matches!(stage.health('a'), Health::Failed { failures: 1, .. }), "{:?}", stage.health('a'));
}

#[test]
fn a_failed_target_is_taken_back_by_a_call_too() {
    let mut stage = Stage::new("a", lookup("orders"));
    stage.start();
    let pause = stage.step(connection_refused());
    assert!(pause.starts_with("wait"));
    // If only failed targets are left they are tried anyway.
    stage.again(lookup("orders"));
    assert_eq!(stage.start(), "send a 250");
    assert_eq!(stage.after(1, found()), "done found");
    assert_eq!(stage.health('a'), Health::Good);
}

#[test]
fn a_silent_target_is_left_out_after_one_missing_answer() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.start();
    assert_eq!(stage.after(250, silent()), "send b 250");
    stage.step(found());
    for _ in 0..10 {
        stage.again(lookup("orders"));
        assert_eq!(stage.start(), "send b 250");
        stage.step(found());
    }
}

#[test]
fn an_answer_missed_by_a_caller_without_time_is_no_silence_but_three_are() {
    let mut stage = Stage::new("a", lookup("orders"));
    for expected in [false, false, true] {
        stage.call = hanaming::client::Call::new(lookup("orders"), &stage.config, stage.now, ms(10));
        assert_eq!(stage.start(), "send a 10");
        stage.after(10, broke(Phase::Wait, TransportErrorKind::TimedOut(ms(10))));
        assert_eq!(matches!(stage.health('a'), Health::Failed { .. }), expected);
    }
}

#[test]
fn who_is_leaving_finishes_what_it_began_and_is_not_taken_back_for_that() {
    let mut stage = Stage::new("a", lookup("orders"));
    stage.start();
    let mut earlier =
        std::mem::replace(&mut stage.call, hanaming::client::Call::new(lookup("orders"), &stage.config, ms(1), ms(5000)));
    stage.now = ms(1);
    stage.start();
    stage.step(refused(RefusalReason::Quiescing, 1000));
    let done = earlier.step(&mut stage.fleet, ms(2), found());
    assert!(matches!(done, hanaming::client::Output::Done(Ok(_))));
    assert!(matches!(stage.health('a'), Health::Refusing { reason: RefusalReason::Quiescing, .. }));
    assert_eq!(stage.fleet.target(stage.id('a')).unwrap().state(), "quiescing");
}

#[test]
fn a_refusal_is_left_alone_as_long_as_it_asked_within_reason() {
    for (asked, expected) in [(0, 100), (40, 40), (500, 500), (3_600_000, 10_000)] {
        let mut stage = Stage::new("ab", lookup("orders"));
        stage.start();
        stage.step(refused(RefusalReason::Joining, asked));
        let pause = probe_at(stage.health('a')).saturating_sub(stage.now).as_millis();
        assert!((expected * 4 / 5..=expected).contains(&pause), "{pause} for {asked}");
    }
}

#[test]
fn a_probe_that_finds_a_node_still_joining_leaves_it_out() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.start();
    stage.step(refused(RefusalReason::Joining, 50));
    let id = stage.id('a');
    let at = probe_at(stage.health('a'));
    assert_eq!(stage.fleet.probes_due(at).len(), 1);
    let joining = member('a', 1, MemberState::Joining);
    stage.fleet.probed(id, Ok(&welcome(joining, view("b"))), at, at);
    assert!(matches!(stage.health('a'), Health::Refusing { reason: RefusalReason::Joining, .. }));
    assert!(probe_at(stage.health('a')) > at);
}

#[test]
fn a_failure_is_told_to_the_background_once() {
    let mut stage = Stage::new("ab", lookup("orders"));
    assert!(!stage.fleet.take_alarm(), "addresses that are well need no background");
    stage.start();
    assert!(!stage.fleet.take_alarm());
    let before = stage.fleet.revision();
    stage.step(connection_refused());
    assert_ne!(stage.fleet.revision(), before);
    assert!(stage.fleet.take_alarm());
    assert!(!stage.fleet.take_alarm());
}

#[test]
fn a_caller_that_gives_up_says_nothing_of_the_target() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.start();
    stage.step(Input::Broke { error: error(Phase::Wait, TransportErrorKind::Cancelled), reused: false });
    assert_eq!(stage.health('a'), Health::Untried);
}

#[test]
fn a_member_that_leaves_the_view_is_probed_and_not_called() {
    let mut stage = Stage::new("abc", lookup("orders"));
    stage.introduce("abc");
    for letter in "abc".chars() {
        while !stage.start().starts_with(&format!("send {letter}")) {
            stage.step(found());
            stage.again(lookup("orders"));
        }
        stage.step(found());
        stage.again(lookup("orders"));
    }
    let (a, b, c) = (stage.id('a'), stage.id('b'), stage.id('c'));
    for teller in [a, b] {
        stage.fleet.saw_view(teller, &view("ab"), ms(10));
    }
    // c's own word still counts as long as c is not known to have failed.
    assert_eq!(stage.health('c'), Health::Good);
    stage.fleet.saw_view(c, &view_of(vec![member('c', 1, MemberState::Live)]), ms(11));
    assert_eq!(stage.health('c'), Health::Good);
}
