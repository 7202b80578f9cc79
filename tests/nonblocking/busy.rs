//! A loop that is busy, and a server that is: neither is silence.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hanaming::client::nonblocking::Base;

use crate::scripted::{Act, Scripted, found, looked_up};
use crate::turning::Turning;
use crate::{ATTEMPT, LONG, content, impatient, lookup, trail};

/// More than go out on one connection at once.
const MANY: usize = 1500;

fn echo() -> Scripted {
    Scripted::start("n1", |request, _| Act::Reply(found("n1", looked_up(request).as_bytes())))
}

fn one(server: &Scripted) -> Turning {
    Turning::new(Base::over_network(impatient(&[server.address])).unwrap())
}

/// The timer rings late, before anything else is told.
#[test]
fn what_lies_in_the_socket_is_read_before_anything_is_over() {
    let server = echo();
    let mut turning = one(&server);
    turning.call(lookup("first"), LONG);
    let (token, _) = turning.begin(lookup("second"), LONG);
    turning.until_readable();
    turning.ring_at(turning.now() + ATTEMPT * 2);
    let finished = turning.wait(token);
    assert_eq!(trail(&finished), [format!("{} answer YES", server.address)]);
    assert_eq!(server.used(), 1);
}

#[test]
fn what_waits_in_the_client_itself_is_nobody_s_silence() {
    let server = echo();
    let mut turning = one(&server);
    let tokens: Vec<u32> = (0..MANY).map(|nth| turning.begin(lookup(&nth.to_string()), LONG).0).collect();
    // The loop has been busy with that for longer than an attempt takes, and has told nothing yet.
    turning.ring_at(turning.now() + ATTEMPT * 2);
    for token in tokens {
        assert_eq!(trail(&turning.wait(token)), [format!("{} answer YES", server.address)]);
    }
    assert_eq!((server.used(), server.seen().len()), (1, MANY), "on one connection, each once");
}

#[test]
fn a_request_in_the_queue_waits_as_long_as_replies_come() {
    let server = echo();
    let mut turning = one(&server);
    let tokens: Vec<u32> = (0..MANY).map(|nth| turning.begin(lookup(&nth.to_string()), LONG).0).collect();
    let begun = turning.now();
    turning.turn_until(|turning| turning.driver.under_way() < MANY);
    // Some were answered since; the others have waited for as long as an attempt takes.
    turning.ring_at(begun + ATTEMPT);
    for token in tokens {
        assert_eq!(trail(&turning.wait(token)).len(), 1);
    }
}

#[test]
fn the_only_server_is_waited_for_while_its_connection_shows_life() {
    let server = Scripted::start("n1", |request, _| {
        let reply = found("n1", looked_up(request).as_bytes());
        if looked_up(request) == "slow" { Act::Later(reply) } else { Act::Reply(reply) }
    });
    let base = Base::over_network(impatient(&[server.address])).unwrap();
    let mut turning = Turning::new(Arc::clone(&base));
    let (slow, _) = turning.begin(lookup("slow"), LONG);
    // The welcome came: the server is there.
    turning.turn_until(|_| base.view().is_some());
    turning.ring_at(turning.now() + ATTEMPT * 2);
    assert_eq!(turning.driver.under_way(), 1);
    turning.call(lookup("quick"), LONG);
    let finished = turning.wait(slow);
    assert_eq!((content(&finished).value.as_ref(), trail(&finished).len()), (&b"slow"[..], 1));
    assert_eq!(server.used(), 1);
}

#[test]
fn a_second_server_is_asked_in_time() {
    let silent = Scripted::start("n1", |_, _| Act::Silence);
    let stopped = Arc::new(AtomicBool::new(false));
    let is_stopped = Arc::clone(&stopped);
    let other = Scripted::start("n2", move |request, _| {
        if is_stopped.load(Ordering::SeqCst) { Act::Silence } else { Act::Reply(found("n2", looked_up(request).as_bytes())) }
    });
    let mut turning = Turning::new(Base::over_network(impatient(&[silent.address, other.address])).unwrap());
    for _ in 0..2 {
        // Whoever of the two is first: it is answered by the other.
        let finished = turning.call(lookup("a"), LONG);
        assert_eq!(trail(&finished).last(), Some(&format!("{} answer YES", other.address)));
    }
    stopped.store(true, Ordering::SeqCst);
    let error = turning.call(lookup("a"), ATTEMPT * 4).result.unwrap_err();
    assert!(error.to_string().contains("not answered in"), "{error}");
}
