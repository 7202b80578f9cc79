//! Requests out, replies in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hanaming::client::ClientConfig;
use hanaming::client::nonblocking::Base;
use hanaming::naming::ErrorKind;
use hanaming::protocol::Request;

use crate::scripted::{Act, Scripted, found, looked_up, not_found};
use crate::turning::Turning;
use crate::{LONG, client, config, content, lookup, trail};

fn echo(request: &Request, _: usize) -> Act {
    Act::Reply(found("n1", looked_up(request).as_bytes()))
}

#[test]
fn a_lookup_is_answered_over_one_connection() {
    let server = Scripted::start("n1", echo);
    let mut turning = Turning::new(client(&[server.address]));
    for name in ["a", "b", "c"] {
        let finished = turning.call(lookup(name), LONG);
        assert_eq!(content(&finished).value, name.as_bytes());
        assert_eq!(trail(&finished), [format!("{} answer YES", server.address)]);
    }
    assert_eq!(server.used(), 1);
    assert_eq!(turning.flushes, 1, "the first waited for the connection; then nothing was outstanding, so each went out at once");
}

#[test]
fn a_naming_answer_is_final() {
    let server = Scripted::start("n1", |_, _| Act::Reply(not_found()));
    let other = Scripted::start("n2", echo);
    let mut turning = Turning::new(client(&[server.address, other.address]));
    let outcomes: Vec<bool> = (0..4).map(|_| turning.call(lookup("a"), LONG).result.is_ok()).collect();
    assert_eq!(outcomes.iter().filter(|ok| **ok).count(), 2, "round robin, and never failed over: {outcomes:?}");
    assert_eq!((server.seen().len(), other.seen().len()), (2, 2));
}

#[test]
fn calls_in_flight_share_a_connection_and_their_writes_are_gathered() {
    let server = Scripted::start("n1", echo);
    let mut turning = Turning::new(client(&[server.address]));
    turning.call(lookup("first"), LONG);
    let before = turning.flushes;
    let tokens: Vec<u32> = (0..200).map(|number| turning.begin(lookup(&format!("x{number}")), LONG).0).collect();
    for (number, token) in tokens.into_iter().enumerate() {
        let finished = turning.wait(token);
        assert_eq!(content(&finished).value, format!("x{number}").as_bytes());
    }
    assert_eq!(server.used(), 1);
    assert_eq!(turning.flushes - before, 1, "all but the first went out together");
}

#[test]
fn calls_made_while_the_connection_is_made_wait_for_it() {
    let server = Scripted::start("n1", echo);
    let mut turning = Turning::new(client(&[server.address]));
    let tokens: Vec<u32> = (0..50).map(|number| turning.begin(lookup(&format!("x{number}")), LONG).0).collect();
    for token in tokens {
        assert!(turning.wait(token).result.is_ok());
    }
    assert_eq!(server.used(), 1);
}

#[test]
fn replies_find_their_calls_in_any_order() {
    // Each pair of requests is answered in reverse.
    let server = Scripted::start("n1", |request, before| {
        let reply = found("n1", looked_up(request).as_bytes());
        if before % 2 == 0 { Act::Later(reply) } else { Act::Reply(reply) }
    });
    let mut turning = Turning::new(client(&[server.address]));
    let tokens: Vec<u32> = (0..20).map(|number| turning.begin(lookup(&format!("x{number}")), LONG).0).collect();
    for (number, token) in tokens.into_iter().enumerate() {
        assert_eq!(content(&turning.wait(token)).value, format!("x{number}").as_bytes());
    }
}

#[test]
fn a_large_reply_comes_in_pieces() {
    let server = Scripted::start("n1", |_, _| Act::Reply(found("n1", &vec![7; 3 << 20])));
    let mut turning = Turning::new(client(&[server.address]));
    let finished = turning.call(lookup("large"), LONG);
    assert_eq!(content(&finished).value.len(), 3 << 20);
}

#[test]
fn no_more_than_a_window_is_outstanding() {
    let go = Arc::new(AtomicBool::new(false));
    let going = Arc::clone(&go);
    let server = Scripted::start(
        "n1",
        move |request, before| {
            if going.load(Ordering::SeqCst) { echo(request, before) } else { Act::Silence }
        },
    );
    let base = ClientConfig { attempt_timeout: LONG, follow_views: false, ..config(&[server.address]) };
    let mut turning = Turning::new(Base::over_network(base).unwrap());
    let tokens: Vec<u32> = (0..1000).map(|number| turning.begin(lookup(&format!("x{number}")), LONG).0).collect();
    turning.turn_until(|_| server.seen().len() == 512);
    for _ in 0..20 {
        turning.turn();
    }
    assert_eq!(server.seen().len(), 512, "the others are still here");
    // The connection is lost: all are asked for again, and now they are answered.
    go.store(true, Ordering::SeqCst);
    server.kill();
    for token in tokens {
        assert!(turning.wait(token).result.is_ok());
    }
    assert_eq!(server.seen().len(), 512 + 1000, "what had not left was sent once");
}

#[test]
fn more_calls_than_a_loop_takes_are_refused() {
    let server = Scripted::start("n1", |_, _| Act::Silence);
    let mut turning = Turning::new(client(&[server.address]));
    for _ in 0..1 << 17 {
        turning.begin(lookup("x"), LONG);
    }
    let finished = turning.call(lookup("one too many"), LONG);
    assert_eq!(finished.result.unwrap_err().kind(), ErrorKind::LimitExceeded);
}
