//! How far an attempt came when it broke, and what that leads to.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use hanaming::failure::CompletionStatus;
use hanaming::naming::{ErrorKind, Value};
use hanaming::protocol::{Outcome, Reply, Scope};

use crate::hole::Hole;
use crate::scripted::{Act, Scripted, fault, found, looked_up, nobody, not_found, quiescing, written};
use crate::turning::Turning;
use crate::{LONG, bind, client, config, content, impatient, lookup, trail};
use hanaming::client::nonblocking::Base;
use hanaming::client::{ClientConfig, Policy};

/// A client that asks the first server first.
fn first_then(first: std::net::SocketAddr, second: std::net::SocketAddr) -> Arc<Base> {
    first_then_by(&config(&[first, second]), first)
}

/// The same, with other options.
fn first_then_by(config: &ClientConfig, first: std::net::SocketAddr) -> Arc<Base> {
    // The seed decides where the round begins: the right one is found by asking.
    for seed in 0.. {
        let config = ClientConfig { follow_views: false, seed: Some(seed), ..config.clone() };
        if starts_with(&config, first) {
            return Base::over_network(config).unwrap();
        }
    }
    unreachable!()
}

fn starts_with(config: &ClientConfig, first: std::net::SocketAddr) -> bool {
    let mut turning = Turning::new(Base::over_network(config.clone()).unwrap());
    let (_, id) = turning.begin(lookup("probe"), LONG);
    let now = turning.now();
    let finished = turning.driver.cancel(id, now).unwrap();
    let first_asked = finished.trail.attempts().first().map(|attempt| attempt.target.clone());
    turning.driver.close(now);
    turning.carry_out();
    first_asked == Some(first.to_string())
}

fn good(name: &str) -> Scripted {
    let node = name.to_owned();
    Scripted::start(name, move |_, _| Act::Reply(found(&node, b"value")))
}

#[test]
fn a_refused_connection_is_no_and_goes_on_at_once() {
    let (dead, server) = (nobody(), good("n2"));
    let mut turning = Turning::new(first_then(dead, server.address));
    let began = turning.now();
    let finished = turning.call(lookup("a"), LONG);
    assert_eq!(trail(&finished), [format!("{dead} connect NO"), format!("{} answer YES", server.address)]);
    assert!(turning.since(began) < LONG / 2, "no wait in between");
}

#[test]
fn where_all_refuse_the_error_comes_soon() {
    let (one, two) = (nobody(), nobody());
    let mut turning = Turning::new(client(&[one, two]));
    let began = turning.now();
    let error = turning.call(lookup("a"), LONG).result.unwrap_err();
    assert_eq!((error.kind(), error.fields().completion), (ErrorKind::ServiceUnavailable, CompletionStatus::No));
    assert!(turning.since(began) < Duration::from_millis(500));
    assert_eq!(turning.connections(), 0);
}

#[test]
fn a_connection_lost_before_the_answer_is_maybe() {
    let (bad, server) = (Scripted::start("n1", |_, _| Act::Hang), good("n2"));
    let mut turning = Turning::new(first_then(bad.address, server.address));
    let finished = turning.call(lookup("a"), LONG);
    assert_eq!(content(&finished).value, b"value"[..]);
    assert_eq!(trail(&finished), [format!("{} wait MAYBE", bad.address), format!("{} answer YES", server.address)]);
}

/// Invariant 12.
#[test]
fn a_mutation_whose_reply_is_lost_is_sent_again_under_its_id() {
    for act in [Act::Hang, Act::Silence] {
        let (bad, server) = (Scripted::start("n1", move |_, _| act.clone()), good("n2"));
        let mut turning = Turning::new(first_then_by(&impatient(&[bad.address, server.address]), bad.address));
        let finished = turning.call(bind("a", &Value::Int(1)), LONG);
        assert_eq!(trail(&finished)[0], format!("{} wait MAYBE", bad.address));
        let (first, second) = (bad.seen(), server.seen());
        assert_eq!((first.len(), second.len()), (1, 1));
        assert_eq!(first[0].operation_id, second[0].operation_id);
        assert_eq!((first[0].is_retry, second[0].is_retry), (false, true));
    }
}

/// Invariant 12.
#[test]
fn a_mutation_of_a_local_tree_whose_reply_is_lost_is_raised_and_never_sent_twice() {
    for act in [Act::Hang, Act::Silence] {
        let bad = Scripted::start("n1", move |_, _| act.clone());
        let local = ClientConfig { scope: Scope::Local, ..impatient(&[bad.address]) };
        let mut turning = Turning::new(first_then_by(&local, bad.address));
        let error = turning.call(bind("a", &Value::Int(1)), LONG).result.unwrap_err();
        assert_eq!(error.fields().completion, CompletionStatus::Maybe, "{error}");
        assert_eq!(bad.seen().len(), 1);
    }
}

#[test]
fn a_silent_server_costs_one_attempt() {
    let (frozen, server) = (Scripted::start("n1", |_, _| Act::Silence), good("n2"));
    let mut turning = Turning::new(first_then_by(&impatient(&[frozen.address, server.address]), frozen.address));
    let finished = turning.call(lookup("a"), LONG);
    assert_eq!(trail(&finished)[0], format!("{} wait MAYBE", frozen.address));
    assert_eq!(trail(&finished).last(), Some(&format!("{} answer YES", server.address)));
    let elapsed = finished.trail.attempts()[0].elapsed;
    assert!(elapsed >= crate::ATTEMPT && elapsed < LONG, "{elapsed:?}");
}

/// Where connects are swallowed nothing was sent: no attempt's limit is waited for, as long as another server is well.
#[test]
fn who_is_not_connected_soon_goes_elsewhere() {
    let (hole, server) = (Hole::dig("127.0.0.1"), Scripted::start("n2", |_, _| Act::Reply(written())));
    let elects = ClientConfig { policy: Policy::FirstAvailable, ..config(&[hole.address, server.address]) };
    let mut turning = Turning::new(first_then_by(&elects, hole.address));
    // Both wait for the same connection.
    let tokens = ["a", "b"].map(|name| turning.begin(bind(name, &Value::Int(1)), LONG).0);
    for token in tokens {
        let finished = turning.wait(token);
        assert_eq!(trail(&finished), [format!("{} connect NO", hole.address), format!("{} answer YES", server.address)]);
        let elapsed = finished.trail.attempts()[0].elapsed;
        assert!(elapsed >= Duration::from_millis(100) && elapsed < LONG / 2, "{elapsed:?}");
    }
    // One that is connected has all its time.
    let slow = Scripted::start("n1", |_, nth| if nth == 0 { Act::Silence } else { Act::Reply(found("n1", b"value")) });
    let mut turning = Turning::new(first_then_by(&impatient(&[slow.address, server.address]), slow.address));
    let finished = turning.call(lookup("a"), LONG);
    assert!(finished.trail.attempts()[0].elapsed >= crate::ATTEMPT);
}

#[test]
fn a_refusal_by_the_node_is_no() {
    let (leaving, server) = (Scripted::start("n1", |_, _| Act::Reply(quiescing())), good("n2"));
    let mut turning = Turning::new(first_then(leaving.address, server.address));
    let finished = turning.call(bind("a", &Value::Null), LONG);
    let attempts = trail(&finished);
    assert_eq!(attempts[0], format!("{} answer NO", leaving.address));
    assert!(attempts[1].starts_with(&server.address.to_string()), "{attempts:?}");
}

#[test]
fn a_refused_hello_is_no_whatever_was_sent_behind_it() {
    let refuse = fault(ErrorKind::Configuration, CompletionStatus::No);
    let (strange, server) = (Scripted::start_refusing("n1", Some(refuse), |_, _| Act::Silence), good("n2"));
    let mut turning = Turning::new(first_then(strange.address, server.address));
    let finished = turning.call(lookup("a"), LONG);
    assert_eq!(trail(&finished), [format!("{} handshake NO", strange.address), format!("{} answer YES", server.address)]);
}

/// A server that accepts and never greets, or that refuses in its welcome, has not run a mutation: another does.
#[test]
fn a_mutation_waits_for_the_welcome_and_goes_elsewhere_where_none_comes() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let strange = fault(ErrorKind::Configuration, CompletionStatus::No);
    let Reply::Failed(leaving) = quiescing() else { unreachable!() };
    let [strange, leaving] = [strange, leaving].map(|refuse| Scripted::start_refusing("n1", Some(refuse), |_, _| Act::Silence));
    for first in [silent.local_addr().unwrap(), strange.address, leaving.address] {
        let server = Scripted::start("n2", |_, _| Act::Reply(written()));
        let mut turning = Turning::new(first_then_by(&impatient(&[first, server.address]), first));
        let finished = turning.call(bind("a", &Value::Int(1)), LONG);
        assert!(finished.result.is_ok(), "{:?}", finished.result);
        assert_eq!(trail(&finished), [format!("{first} handshake NO"), format!("{} answer YES", server.address)]);
        assert_eq!(server.seen().len(), 1);
    }
    assert_eq!((strange.used(), leaving.used()), (0, 0), "no request came to those that had not welcomed");
}

#[test]
fn half_a_reply_tells_its_outcome() {
    let half = Scripted::start("n1", |_, _| Act::HalfReply(found("n1", &[1; 400])));
    let server = good("n2");
    let mut turning = Turning::new(first_then(half.address, server.address));
    let finished = turning.call(lookup("a"), LONG);
    assert_eq!(
        trail(&finished),
        [format!("{} receive YES", half.address), format!("{} answer YES", server.address)],
        "a lookup needs the value and asks elsewhere"
    );
    // A fault's header says that nothing was found: the kind is known, though its words are lost.
    // The cluster tree would be asked again.
    let half = Scripted::start("n1", |_, _| Act::HalfReply(not_found()));
    let local = ClientConfig { scope: Scope::Local, ..config(&[half.address]) };
    let mut turning = Turning::new(Base::over_network(local).unwrap());
    let error = turning.call(bind("a", &Value::Null), LONG).result.unwrap_err();
    assert_eq!((error.kind(), error.fields().completion), (ErrorKind::NameNotFound, CompletionStatus::Yes));
}

#[test]
fn an_unreadable_body_ends_its_attempt_and_not_the_connection() {
    let server = Scripted::start("n1", |request, before| match (looked_up(request), before) {
        ("bad", 0 | 1) => Act::Rubbish(Outcome::Done),
        _ => Act::Reply(found("n1", b"value")),
    });
    let mut turning = Turning::new(client(&[server.address]));
    let (bad, _) = turning.begin(lookup("bad"), LONG);
    let (good, _) = turning.begin(lookup("good"), LONG);
    assert_eq!(trail(&turning.wait(good)), [format!("{} answer YES", server.address)]);
    let finished = turning.wait(bad);
    assert_eq!(content(&finished).value, b"value"[..]);
    assert_eq!(trail(&finished)[0], format!("{} receive YES", server.address));
}

#[test]
fn an_unreadable_fault_is_known_by_its_header() {
    let server = Scripted::start("n1", |_, _| Act::Rubbish(Outcome::Failed(ErrorKind::NameAlreadyBound)));
    let local = ClientConfig { scope: Scope::Local, ..config(&[server.address]) };
    let mut turning = Turning::new(Base::over_network(local).unwrap());
    let error = turning.call(bind("a", &Value::Null), LONG).result.unwrap_err();
    assert_eq!((error.kind(), error.fields().completion), (ErrorKind::NameAlreadyBound, CompletionStatus::Yes));
}
