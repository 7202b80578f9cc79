//! Callers that give up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hanaming::client::nonblocking::Base;
use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::{ErrorKind, Value};

use crate::scripted::{Act, Scripted, found, looked_up};
use crate::turning::Turning;
use crate::{LONG, bind, client, impatient, lookup};

fn completion(finished: &hanaming::client::nonblocking::Finished<u32>) -> CompletionStatus {
    finished.result.as_ref().unwrap_err().fields().completion
}

#[test]
fn a_request_that_has_left_is_maybe() {
    let server = Scripted::start("n1", |_, _| Act::Silence);
    let mut turning = Turning::new(client(&[server.address]));
    let (_, id) = turning.begin(bind("a", &Value::Null), LONG);
    turning.turn_until(|_| !server.seen().is_empty());
    let now = turning.now();
    let finished = turning.driver.cancel(id, now).unwrap();
    assert_eq!(completion(&finished), CompletionStatus::Maybe);
    assert_eq!(finished.trail.attempts()[0].phase, Phase::Wait);
    assert_eq!(turning.driver.under_way(), 0);
    assert!(turning.driver.cancel(id, now).is_none(), "it ends once");
}

#[test]
fn a_request_that_has_not_left_is_no_and_never_leaves() {
    let server = Scripted::start("n1", |request, _| Act::Reply(found("n1", looked_up(request).as_bytes())));
    let mut turning = Turning::new(client(&[server.address]));
    turning.call(lookup("first"), LONG);
    let (kept, _) = turning.begin(lookup("at once"), LONG);
    let (_, id) = turning.begin(lookup("given up"), LONG);
    let (last, _) = turning.begin(lookup("behind"), LONG);
    let now = turning.now();
    let finished = turning.driver.cancel(id, now).unwrap();
    assert_eq!(completion(&finished), CompletionStatus::No);
    turning.wait(kept);
    turning.wait(last);
    let seen: Vec<String> = server.seen().iter().map(|request| looked_up(request).to_owned()).collect();
    assert_eq!(seen, ["first", "at once", "behind"]);
}

#[test]
fn the_owner_is_asked_before_a_request_leaves_later() {
    let server = Scripted::start("n1", |request, _| Act::Reply(found("n1", looked_up(request).as_bytes())));
    let mut turning = Turning::new(client(&[server.address]));
    turning.call(lookup("first"), LONG);
    let (kept, _) = turning.begin(lookup("at once"), LONG);
    let (given_up, _) = turning.begin(bind("given up", &Value::Null), LONG);
    turning.abandoned.insert(given_up);
    turning.wait(kept);
    turning.turn_until(|turning| !turning.cancelled.is_empty());
    assert_eq!(completion(&turning.cancelled[0]), CompletionStatus::No);
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn a_call_that_nobody_awaits_is_not_tried_again() {
    let hushed = Arc::new(AtomicBool::new(false));
    let servers = ["n1", "n2"].map(|name| {
        let hushed = Arc::clone(&hushed);
        Scripted::start(
            name,
            move |_, _| {
                if hushed.load(Ordering::SeqCst) { Act::Silence } else { Act::Reply(found("any", b"value")) }
            },
        )
    });
    let mut turning = Turning::new(Base::over_network(impatient(&servers.each_ref().map(|server| server.address))).unwrap());
    let seen = || servers.iter().map(|server| server.seen().len()).sum::<usize>();
    for _ in 0..2 {
        // Both connections stand and are idle: what is sent on them goes out at once.
        turning.call(lookup("before"), LONG);
    }
    hushed.store(true, Ordering::SeqCst);
    let (given_up, _) = turning.begin(lookup("a"), LONG);
    turning.turn_until(|_| seen() == 3);
    turning.abandoned.insert(given_up);
    turning.turn_until(|turning| !turning.cancelled.is_empty());
    let completions: Vec<CompletionStatus> =
        turning.cancelled[0].trail.attempts().iter().map(|attempt| attempt.completion).collect();
    assert_eq!(completions, [CompletionStatus::Maybe, CompletionStatus::No], "the second try was about to be made");
    turning.turn();
    assert_eq!(seen(), 3);
    assert_eq!(turning.driver.under_way(), 0);
}

#[test]
fn a_late_reply_is_nobodys() {
    // The first request is answered when the second comes, and before it.
    let server = Scripted::start("n1", |request, before| {
        let reply = found("n1", looked_up(request).as_bytes());
        if before == 0 { Act::Later(reply) } else { Act::Behind(reply) }
    });
    let mut turning = Turning::new(client(&[server.address]));
    let (_, id) = turning.begin(lookup("late"), LONG);
    turning.turn_until(|_| !server.seen().is_empty());
    let now = turning.now();
    turning.driver.cancel(id, now).unwrap();
    let finished = turning.call(lookup("next"), LONG);
    assert_eq!(crate::content(&finished).value, b"next"[..]);
    let finished = turning.call(lookup("after"), LONG);
    assert_eq!(crate::content(&finished).value, b"after"[..]);
}

#[test]
fn closing_ends_all_calls_and_unwatches_all() {
    let server = Scripted::start("n1", |_, _| Act::Silence);
    let mut turning = Turning::new(client(&[server.address]));
    let (first, _) = turning.begin(bind("a", &Value::Null), LONG);
    turning.turn_until(|_| !server.seen().is_empty());
    let (second, _) = turning.begin(bind("b", &Value::Null), LONG);
    let now = turning.now();
    turning.driver.close(now);
    turning.carry_out();
    assert!(turning.watches_nothing());
    let (first, second) = (turning.wait(first), turning.wait(second));
    for finished in [&first, &second] {
        assert_eq!(finished.result.as_ref().unwrap_err().kind(), ErrorKind::ContextClosed);
    }
    assert_eq!((completion(&first), completion(&second)), (CompletionStatus::Maybe, CompletionStatus::No));
    let after = turning.call(lookup("a"), LONG);
    assert_eq!(after.result.unwrap_err().kind(), ErrorKind::ContextClosed);
}
