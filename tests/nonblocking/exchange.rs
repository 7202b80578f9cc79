//! Requests out, replies in.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

use hanaming::naming::ErrorKind;
use hanaming::protocol::Request;

use crate::scripted::{Act, Scripted, found, looked_up, not_found};
use crate::turning::Turning;
use crate::{LONG, client, content, lookup, trail};

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
    let seen = Arc::new(AtomicUsize::new(0));
    let (go, wait) = mpsc::sync_channel::<()>(1);
    let wait = std::sync::Mutex::new(wait);
    let counting = Arc::clone(&seen);
    let server = Scripted::start("n1", move |request, before| {
        counting.fetch_add(1, Ordering::SeqCst);
        if before == 0 {
            // Nothing is answered until the test has looked.
            let _ = wait.lock().unwrap().recv();
        }
        echo(request, before)
    });
    let mut turning = Turning::new(client(&[server.address]));
    let tokens: Vec<u32> = (0..1000).map(|number| turning.begin(lookup(&format!("x{number}")), LONG).0).collect();
    turning.turn_until(|_| seen.load(Ordering::SeqCst) == 1);
    let half = turning.driver.calls().count();
    assert_eq!(half, 1000);
    go.send(()).unwrap();
    for token in tokens {
        turning.wait(token);
    }
    assert_eq!(server.seen().len(), 1000, "each was sent once");
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
