//! The lookup rule's third and fourth step: tables of events, exact outputs.

use std::time::Duration;

use hanaming::server::peers::delegation::{Delegation, Heard, Next, Reach, Verdict};
use hanaming::topology::NodeId;

type Rule = Delegation<&'static str>;

const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);
const C: NodeId = NodeId(3);

const ABSENT: Heard<&str> = Heard::Absent(Reach { not_context: false, resolved: 0 });
const NOT_CONTEXT: Heard<&str> = Heard::Absent(Reach { not_context: true, resolved: 1 });

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A rule for a request that came at 1000 ms and whose sender waits for `left` more.
fn rule(peers: &[NodeId], remembered: Option<NodeId>, left: u64) -> Rule {
    Rule::new(peers.iter().copied(), remembered, ms(1000), ms(1000 + left))
}

fn ask(peers: &[NodeId], until: u64) -> Next<&'static str> {
    Next::Ask { peers: peers.to_vec(), until: ms(until) }
}

fn unknown(answered: &[NodeId], silent: &[NodeId], said: &Heard<&'static str>) -> Next<&'static str> {
    let Heard::Absent(reach) = *said else { panic!("{said:?}") };
    let furthest = answered.first().map(|first| (*first, reach));
    Next::Done(Verdict::Unknown { answered: answered.to_vec(), silent: silent.to_vec(), furthest })
}

/// Nobody has it; this peer's word says the most of it.
fn absent(from: NodeId, heard: &Heard<&'static str>) -> Next<&'static str> {
    let Heard::Absent(reach) = *heard else { panic!("{heard:?}") };
    Next::Done(Verdict::Absent(Some((from, reach))))
}

fn positive(from: NodeId, answer: &'static str) -> Next<&'static str> {
    Next::Done(Verdict::Positive { from, answer })
}

#[test]
fn without_peers_the_name_is_absent_at_once() {
    assert_eq!(rule(&[], None, 250).next(ms(1000)), Next::Done(Verdict::Absent(None)));
    assert_eq!(rule(&[], Some(A), 250).next(ms(1000)), Next::Done(Verdict::Absent(None)));
}

#[test]
fn all_are_asked_at_once_and_the_first_positive_answer_wins() {
    let mut rule = rule(&[A, B, C], None, 250);
    assert_eq!(rule.next(ms(1000)), ask(&[A, B, C], 1120));
    assert_eq!(rule.next(ms(1000)), Next::Wait(ms(1120)));
    rule.heard(B, ABSENT, ms(1001));
    assert_eq!(rule.next(ms(1001)), Next::Wait(ms(1120)));
    rule.heard(C, Heard::Positive("c"), ms(1002));
    rule.heard(A, Heard::Positive("a"), ms(1002));
    assert_eq!(rule.next(ms(1002)), positive(C, "c"));
    assert_eq!(rule.asked(), [A, B, C]);
}

#[test]
fn absent_only_when_everybody_said_so() {
    let mut rule = rule(&[A, B], None, 250);
    rule.next(ms(1000));
    rule.heard(A, ABSENT, ms(1001));
    assert_eq!(rule.next(ms(1119)), Next::Wait(ms(1120)));
    rule.heard(B, ABSENT, ms(1119));
    assert_eq!(rule.next(ms(1119)), absent(A, &ABSENT));
}

#[test]
fn not_a_context_falls_through_and_is_told_in_the_end() {
    let mut found = rule(&[A, B], None, 250);
    found.next(ms(1000));
    found.heard(A, NOT_CONTEXT, ms(1001));
    found.heard(B, Heard::Positive("b"), ms(1002));
    assert_eq!(found.next(ms(1002)), positive(B, "b"));

    let mut nowhere = rule(&[A, B, C], None, 250);
    nowhere.next(ms(1000));
    nowhere.heard(A, ABSENT, ms(1001));
    nowhere.heard(C, NOT_CONTEXT, ms(1001));
    nowhere.heard(B, NOT_CONTEXT, ms(1002));
    assert_eq!(nowhere.next(ms(1002)), absent(C, &NOT_CONTEXT));
}

#[test]
fn the_longest_way_is_told_and_not_a_context_before_it() {
    let absent_at = |not_context, resolved| Heard::Absent(Reach { not_context, resolved });
    let mut longest = rule(&[A, B, C], None, 250);
    longest.next(ms(1000));
    longest.heard(A, ABSENT, ms(1001));
    longest.heard(B, absent_at(false, 2), ms(1001));
    longest.heard(C, absent_at(false, 2), ms(1001));
    assert_eq!(longest.next(ms(1001)), absent(B, &absent_at(false, 2)));

    let mut not_context = rule(&[A, B, C], None, 250);
    not_context.next(ms(1000));
    not_context.heard(A, NOT_CONTEXT, ms(1001));
    not_context.heard(B, absent_at(true, 2), ms(1001));
    not_context.heard(C, absent_at(false, 3), ms(1001));
    assert_eq!(not_context.next(ms(1001)), absent(B, &absent_at(true, 2)));
}

#[test]
fn any_other_error_ends_it() {
    let mut rule = rule(&[A, B], None, 250);
    rule.next(ms(1000));
    rule.heard(A, Heard::Error("bad"), ms(1001));
    assert_eq!(rule.next(ms(1001)), Next::Done(Verdict::Error { from: A, answer: "bad" }));
}

/// Invariant 7.
#[test]
fn silence_is_never_absence() {
    let mut one = rule(&[A, B, C], None, 250);
    one.next(ms(1000));
    one.heard(B, ABSENT, ms(1001));
    assert_eq!(one.next(ms(1119)), Next::Wait(ms(1120)));
    assert_eq!(one.next(ms(1120)), unknown(&[B], &[A, C], &ABSENT));

    let mut with_not_context = rule(&[A, B], None, 250);
    with_not_context.next(ms(1000));
    with_not_context.heard(B, NOT_CONTEXT, ms(1001));
    assert_eq!(with_not_context.next(ms(1120)), unknown(&[B], &[A], &NOT_CONTEXT));
}

#[test]
fn an_answer_that_comes_together_with_the_end_counts() {
    let mut rule = rule(&[A], None, 250);
    rule.next(ms(1000));
    rule.heard(A, Heard::Positive("late"), ms(5000));
    assert_eq!(rule.next(ms(5000)), positive(A, "late"));
}

/// Invariant 9.
#[test]
fn limits_nest() {
    // 120 ms, or 60 % of what remains where that is less.
    for (left, until) in [(5000, 1120), (250, 1120), (200, 1120), (150, 1090), (100, 1060), (10, 1006)] {
        assert_eq!(rule(&[A, B], None, left).next(ms(1000)), ask(&[A, B], until), "{left} ms left");
    }
    // Alone 20 ms, or a quarter where that is less.
    for (left, until) in [(5000, 1020), (250, 1020), (80, 1020), (40, 1010)] {
        assert_eq!(rule(&[A, B], Some(B), left).next(ms(1000)), ask(&[B], until), "{left} ms left");
    }
    assert_eq!(rule(&[A], None, 0).next(ms(1000)), unknown(&[], &[A], &ABSENT));
}

#[test]
fn the_time_for_all_starts_when_all_are_asked() {
    let mut rule = rule(&[A, B], Some(A), 150);
    assert_eq!(rule.next(ms(1000)), ask(&[A], 1020));
    // 130 ms remain at 1020, of which 60 %.
    assert_eq!(rule.next(ms(1020)), ask(&[B], 1098));
    assert_eq!(rule.next(ms(1098)), unknown(&[], &[A, B], &ABSENT));
}

#[test]
fn the_remembered_peer_is_asked_alone_first() {
    let mut rule = rule(&[A, B, C], Some(B), 250);
    assert_eq!(rule.next(ms(1000)), ask(&[B], 1020));
    assert_eq!(rule.next(ms(1000)), Next::Wait(ms(1020)));
    rule.heard(B, Heard::Positive("b"), ms(1001));
    assert_eq!(rule.next(ms(1001)), positive(B, "b"));
    assert_eq!(rule.asked(), [B]);
}

#[test]
fn when_the_remembered_peer_no_longer_has_it_the_others_are_asked() {
    let mut rule = rule(&[A, B, C], Some(B), 250);
    rule.next(ms(1000));
    rule.heard(B, ABSENT, ms(1002));
    assert_eq!(rule.next(ms(1002)), ask(&[A, C], 1122));
    rule.heard(A, ABSENT, ms(1003));
    rule.heard(C, ABSENT, ms(1003));
    assert_eq!(rule.next(ms(1003)), absent(B, &ABSENT));
    assert_eq!(rule.asked(), [B, A, C]);
}

#[test]
fn a_silent_remembered_peer_may_still_answer_while_all_are_asked() {
    let mut rule = rule(&[A, B], Some(B), 250);
    rule.next(ms(1000));
    assert_eq!(rule.next(ms(1020)), ask(&[A], 1140));
    rule.heard(A, ABSENT, ms(1021));
    rule.heard(B, Heard::Positive("b"), ms(1130));
    assert_eq!(rule.next(ms(1130)), positive(B, "b"));
}

#[test]
fn a_remembered_node_that_left_is_not_asked() {
    let mut gone = rule(&[A, B], Some(C), 250);
    assert_eq!(gone.next(ms(1000)), ask(&[A, B], 1120));

    let mut leaving = rule(&[A, B, C], Some(C), 250);
    leaving.next(ms(1000));
    leaving.view(&[A, B]);
    assert_eq!(leaving.next(ms(1005)), ask(&[A, B], 1125));
}

#[test]
fn a_peer_that_left_the_view_is_not_waited_for() {
    let mut rule = rule(&[A, B], None, 250);
    rule.next(ms(1000));
    rule.heard(A, ABSENT, ms(1001));
    rule.view(&[A]);
    assert_eq!(rule.next(ms(1050)), absent(A, &ABSENT));
}

#[test]
fn a_word_of_one_who_left_is_not_heard() {
    let mut rule = rule(&[A, B], None, 250);
    rule.next(ms(1000));
    rule.view(&[A]);
    rule.heard(B, Heard::Positive("b"), ms(1001));
    assert_eq!(rule.next(ms(1001)), Next::Wait(ms(1120)));
}

#[test]
fn a_node_that_joined_since_is_not_asked() {
    let mut rule = rule(&[A], None, 250);
    rule.next(ms(1000));
    rule.view(&[A, B]);
    rule.heard(A, ABSENT, ms(1001));
    assert_eq!(rule.next(ms(1001)), absent(A, &ABSENT));
}

#[test]
fn a_peer_whose_connection_broke_is_asked_again() {
    let mut rule = rule(&[A, B], None, 250);
    rule.next(ms(1000));
    rule.heard(A, Heard::Broke, ms(1001));
    assert_eq!(rule.next(ms(1001)), Next::Wait(ms(1011)));
    assert_eq!(rule.next(ms(1011)), ask(&[A], 1120));
    rule.heard(A, Heard::Broke, ms(1115));
    rule.heard(B, ABSENT, ms(1116));
    assert_eq!(rule.next(ms(1116)), Next::Wait(ms(1120)));
    assert_eq!(rule.next(ms(1120)), unknown(&[B], &[A], &ABSENT));
    assert_eq!(rule.asked(), [A, B]);
}

#[test]
fn a_remembered_peer_whose_connection_broke_is_asked_with_all() {
    let mut rule = rule(&[A, B], Some(A), 250);
    rule.next(ms(1000));
    rule.heard(A, Heard::Broke, ms(1001));
    assert_eq!(rule.next(ms(1001)), ask(&[B], 1121));
    assert_eq!(rule.next(ms(1011)), ask(&[A], 1121));
}
