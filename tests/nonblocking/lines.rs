//! Connections: when they are given up, when new ones are made, and what views do to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hanaming::client::ClientConfig;
use hanaming::client::nonblocking::Base;

use crate::scripted::{Act, Scripted, found, looked_up};
use crate::turning::Turning;
use crate::{LONG, client, config, content, impatient, lookup, trail};

#[test]
fn a_lost_idle_connection_is_made_again() {
    let server = Scripted::start("n1", |request, _| Act::Reply(found("n1", looked_up(request).as_bytes())));
    let mut turning = Turning::new(client(&[server.address]));
    turning.call(lookup("a"), LONG);
    server.kill();
    turning.turn_until(|turning| turning.connections() == 0);
    let finished = turning.call(lookup("b"), LONG);
    assert_eq!(trail(&finished), [format!("{} answer YES", server.address)], "its end was seen before it was used");
    assert_eq!(server.used(), 2);
}

#[test]
fn a_silent_connection_is_retired_and_another_made() {
    let frozen = Arc::new(AtomicBool::new(false));
    let thawing = Arc::clone(&frozen);
    let server = Scripted::start("n1", move |request, _| {
        if thawing.load(Ordering::SeqCst) { Act::Silence } else { Act::Reply(found("n1", looked_up(request).as_bytes())) }
    });
    let mut turning = Turning::new(Base::over_network(impatient(&[server.address])).unwrap());
    turning.call(lookup("before"), LONG);
    frozen.store(true, Ordering::SeqCst);
    let (token, _) = turning.begin(lookup("a"), LONG);
    turning.turn_until(|_| server.seen().len() == 2);
    frozen.store(false, Ordering::SeqCst);
    let finished = turning.wait(token);
    assert_eq!(content(&finished).value, b"a"[..]);
    assert_eq!(trail(&finished).len(), 2);
    assert_eq!(server.used(), 2, "nothing came on the first connection, so it's no good");
    assert_eq!(turning.connections(), 1, "and it's closed, as nobody waits for it");
}

#[test]
fn a_slow_answer_on_a_lively_connection_costs_the_others_nothing() {
    let server = Scripted::start("n1", |request, _| match looked_up(request) {
        "never" => Act::Silence,
        name => Act::Reply(found("n1", name.as_bytes())),
    });
    let mut turning = Turning::new(Base::over_network(impatient(&[server.address])).unwrap());
    let (never, _) = turning.begin(lookup("never"), crate::ATTEMPT * 2);
    let began = turning.now();
    while turning.since(began) < crate::ATTEMPT * 2 {
        turning.call(lookup("quick"), LONG);
    }
    assert!(turning.wait(never).result.is_err());
    assert_eq!(server.used(), 1);
}

#[test]
fn views_bring_targets_and_take_them() {
    let answer = |request: &hanaming::protocol::Request, _: usize| Act::Reply(found("any", looked_up(request).as_bytes()));
    let (one, two) = (Scripted::start("n1", answer), Scripted::start("n2", answer));
    one.set_view(vec![one.member(), two.member()]);
    two.set_view(vec![one.member(), two.member()]);
    let following = ClientConfig { follow_views: true, ..config(&[one.address]) };
    let mut turning = Turning::new(Base::over_network(following).unwrap());
    for _ in 0..10 {
        turning.call(lookup("a"), LONG);
    }
    assert_eq!(turning.connections(), 2, "the second server was learned from the first one's welcome");
    // Both drop the second from their views: its connection is idle and goes.
    one.set_view(vec![one.member()]);
    two.set_view(vec![one.member()]);
    one.push_view();
    two.push_view();
    turning.turn_until(|turning| turning.connections() == 1);
    let before = two.seen().len();
    for _ in 0..10 {
        turning.call(lookup("a"), LONG);
    }
    assert_eq!(two.seen().len(), before);
}
