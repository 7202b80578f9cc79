//! How long an attempt may take: a server that is slow, and one that is silent.

use std::time::Duration;

use hanaming::client::{Call, ClientConfig, Health, Input, Invocation, Output};
use hanaming::failure::Phase;
use hanaming::protocol::Scope;
use hanaming::transport::TransportErrorKind;

use crate::stage::{Stage, bind, broke, config, connection_refused, found, letter, lookup, ms, silent, subject};

impl Stage {
    fn patience(&mut self) -> Option<Duration> {
        self.call.patience(&mut self.fleet, self.now)
    }

    /// Begins so many calls of others, and gives them with the letters of those who are asked.
    fn others(&mut self, count: usize) -> Vec<(char, Call)> {
        let begin = |_| {
            let mut call = Call::new(lookup("other"), &self.config, self.now, self.config.timeout);
            let Output::Send(send) = call.step(&mut self.fleet, self.now, Input::Start) else { panic!("nobody was asked") };
            (letter(&self.fleet.target(send.target).unwrap().label), call)
        };
        (0..count).map(begin).collect()
    }
}

#[test]
fn where_nobody_else_can_be_asked_an_attempt_has_most_of_the_time() {
    let in_a_local_tree = ClientConfig { scope: Scope::Local, ..config("a") };
    for (config, invocation, most) in [
        (config("a"), lookup("orders"), 3750),
        (config("a"), bind("orders"), 3750),
        // It would not be sent again.
        (in_a_local_tree, bind("orders"), 5000),
    ] {
        let mut stage = Stage::with(config, invocation);
        let limit: u64 = stage.start().rsplit(' ').next().unwrap().parse().unwrap();
        stage.now = ms(limit);
        assert_eq!(stage.patience(), Some(ms(2 * limit)), "looked at again, as somebody may come");
        stage.now = ms(most - 100);
        assert_eq!(stage.patience(), Some(ms(most)));
        stage.now = ms(most);
        assert_eq!(stage.patience(), None, "the reply may be lost although others come");
    }
}

#[test]
fn where_all_are_busy_an_attempt_has_three_times_its_limit() {
    for (invocation, limit) in [(lookup("orders"), 250), (bind("orders"), 1000)] {
        let mut stage = Stage::new("ab", invocation);
        assert_eq!(stage.start(), format!("send a {limit}"));
        stage.others(40);
        stage.now = ms(2 * limit);
        assert_eq!(stage.patience(), Some(ms(3 * limit)));
        stage.now = ms(3 * limit);
        assert_eq!(stage.patience(), None, "the reply may be lost although others come");
    }
}

#[test]
fn where_another_is_free_it_is_asked() {
    let mut stage = Stage::new("ab", lookup("orders"));
    assert_eq!(stage.start(), "send a 250");
    stage.now = ms(250);
    assert_eq!(stage.patience(), None);
    assert_eq!(stage.step(silent()), "send b 250");
    stage.now = ms(500);
    assert_eq!(stage.patience(), Some(ms(750)), "both were asked");
}

#[test]
fn one_that_has_as_much_to_do_is_not_free() {
    let mut stage = Stage::new("ab", lookup("orders"));
    assert_eq!(stage.start(), "send a 250");
    let mut others = stage.others(40);
    stage.now = ms(250);
    assert_eq!(stage.patience(), Some(ms(500)), "twenty each");
    for (at, call) in &mut others {
        if *at == 'b' {
            call.step(&mut stage.fleet, stage.now, found());
        }
    }
    assert_eq!(stage.patience(), None, "none at all");
}

/// Invariant 13.
#[test]
fn one_that_no_retry_is_left_for_is_not_asked() {
    let mut stage = Stage::new("abc", lookup("orders"));
    let given_up = || broke(Phase::Wait, TransportErrorKind::Cancelled);
    // Each of these draws one and pays in a fifth; ten were there.
    for _ in 0..13 {
        stage.start();
        stage.step(given_up());
        stage.step(given_up());
        stage.again(lookup("orders"));
    }
    stage.start();
    assert_eq!(stage.patience(), None, "the first retry is free");
    stage.step(given_up());
    assert_eq!(stage.patience(), Some(ms(250)));
}

#[test]
fn a_request_that_leaves_late_has_its_time_from_then_on() {
    let mut stage = Stage::new("a", lookup("orders"));
    stage.start();
    assert_eq!(stage.call.leaves(ms(3000)), ms(3250));
    assert_eq!(stage.request().time_left, 250_000);
    stage.now = ms(3250);
    stage.step(silent());
    assert_eq!(stage.attempts(), ["a wait MAYBE no answer in 0.25 s | -"]);
    stage.again(lookup("orders"));
    stage.start();
    assert_eq!(stage.call.leaves(ms(8200)), ms(8250), "the call's end is its end");
}

#[test]
fn a_node_that_waits_for_a_name_answers_before_its_time_is_over() {
    let mut stage = Stage::new("a", Invocation::wait_for(subject("orders")).unwrap());
    assert_eq!(stage.start(), "send a 300");
    assert_eq!(stage.request().time_left, 225_000);
    assert_eq!(stage.call.leaves(ms(4960)), ms(5000));
    assert_eq!(stage.request().time_left, 30_000);
}

#[test]
fn a_server_that_answers_others_meanwhile_is_slow_and_not_silent() {
    for (answers, is_silent) in [('b', true), ('a', false)] {
        let mut stage = Stage::new("ab", lookup("orders"));
        stage.start();
        let others = stage.others(2);
        stage.now = ms(100);
        // Its welcome says little: it may be silent since.
        stage.introduce("ab");
        for (at, mut call) in others {
            if at == answers {
                call.step(&mut stage.fleet, stage.now, found());
            }
        }
        stage.now = ms(250);
        stage.step(silent());
        assert_eq!(matches!(stage.health('a'), Health::Failed { .. }), is_silent, "{answers} answered");
    }
}

/// A hundred calls of which most can't pay for a third request: they wait, since nobody refused them.
#[test]
fn after_a_silent_round_the_budget_is_waited_for() {
    let mut stage = Stage::new("a", lookup("orders"));
    let mut calls: Vec<Call> = stage.others(100).into_iter().map(|(_, call)| call).collect();
    let mut step_all = |at: u64, input: fn() -> Input| {
        let mut sent = 0;
        for call in &mut calls {
            match call.step(&mut stage.fleet, ms(at), input()) {
                Output::Send(_) => sent += 1,
                Output::Wait { .. } => {}
                Output::Done(result) => panic!("{result:?}"),
            }
        }
        sent
    };
    step_all(250, silent);
    assert_eq!(step_all(500, || Input::Woke), 100, "the first retry is free");
    step_all(750, silent);
    let third = step_all(1500, || Input::Woke);
    assert!((30..60).contains(&third), "{third}");
}

#[test]
fn who_took_a_connection_was_not_unreachable() {
    let no_welcome = || broke(Phase::Handshake, TransportErrorKind::TimedOut(ms(1000)));
    let no_connection = || broke(Phase::Connect, TransportErrorKind::TimedOut(ms(1000)));
    for (input, what) in [
        (no_welcome as fn() -> Input, "not answered. 10.0.0.1:1: no answer in 1.0 s"),
        (no_connection, "no server can be reached. 10.0.0.1:1: no connection in 1.0 s"),
        (connection_refused, "no server can be reached. 10.0.0.1:1: connection refused"),
    ] {
        let mut stage = Stage::new("a", Invocation::quiesce());
        stage.start();
        assert_eq!(stage.after(1000, input()), format!("ServiceUnavailable NO: {what}. Safe to retry."));
    }
}
