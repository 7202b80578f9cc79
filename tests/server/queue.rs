//! What is asked together, and when.

use std::sync::Arc;
use std::time::Duration;

use hanaming::server::peers::queue::{BATCH, PeerQueue, Take};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn add(queue: &mut PeerQueue<u32>, name: &str, waiter: u32, until: u64) {
    queue.add(&Arc::from(name), waiter, ms(until), false);
}

/// The names of a batch with their waiters.
fn batch(take: Take<u32>) -> Vec<(String, Vec<u32>)> {
    match take {
        Take::Batch(batch) => batch.into_iter().map(|asked| (asked.name.to_string(), asked.waiters)).collect(),
        other => panic!("no batch: {other:?}"),
    }
}

fn is_nothing(take: &Take<u32>) -> bool {
    matches!(take, Take::Nothing)
}

#[test]
fn a_single_name_goes_out_at_once() {
    let mut queue = PeerQueue::default();
    assert!(is_nothing(&queue.take(ms(0))));
    add(&mut queue, "a", 1, 100);
    assert_eq!(batch(queue.take(ms(0))), [("a".to_owned(), vec![1])]);
    assert!(is_nothing(&queue.take(ms(0))));
}

#[test]
fn what_comes_while_requests_are_under_way_is_collected_each_name_once() {
    let mut queue = PeerQueue::default();
    for waiter in 0..4 {
        add(&mut queue, &format!("under way {waiter}"), waiter, 100);
        batch(queue.take(ms(0)));
    }
    for (name, waiter) in [("b", 10), ("a", 11), ("b", 12), ("under way 0", 13)] {
        add(&mut queue, name, waiter, 100);
        assert!(is_nothing(&queue.take(ms(1))), "at most four at once");
    }
    queue.finished();
    let expected = [("b".to_owned(), vec![10, 12]), ("a".to_owned(), vec![11]), ("under way 0".to_owned(), vec![13])];
    assert_eq!(batch(queue.take(ms(2))), expected);
    assert!(is_nothing(&queue.take(ms(2))));
}

#[test]
fn a_name_never_joins_a_request_that_was_sent() {
    let mut queue = PeerQueue::default();
    add(&mut queue, "a", 1, 100);
    batch(queue.take(ms(0)));
    add(&mut queue, "a", 2, 100);
    assert_eq!(batch(queue.take(ms(0))), [("a".to_owned(), vec![2])]);
}

#[test]
fn a_request_takes_only_so_many_names() {
    let mut queue = PeerQueue::default();
    for place in 0..=BATCH {
        add(&mut queue, &place.to_string(), 0, 100);
    }
    assert_eq!(batch(queue.take(ms(0))).len(), BATCH);
    assert_eq!(batch(queue.take(ms(0))), [(BATCH.to_string(), vec![0])]);
}

#[test]
fn whose_time_is_over_is_dropped() {
    let mut queue = PeerQueue::default();
    for (name, until) in [("over", 10), ("later", 30), ("over too", 20)] {
        add(&mut queue, name, 1, until);
    }
    add(&mut queue, "over", 2, 15);
    assert_eq!(batch(queue.take(ms(20))), [("later".to_owned(), vec![1])]);
    assert!(!queue.is_idle());
    queue.finished();
    assert!(queue.is_idle());
}

#[test]
fn the_last_waiter_decides_how_long_a_name_waits() {
    let mut queue = PeerQueue::default();
    add(&mut queue, "a", 1, 50);
    add(&mut queue, "a", 2, 10);
    assert_eq!(batch(queue.take(ms(20))), [("a".to_owned(), vec![1, 2])]);
}

/// Misses one after the other, each answered before the next: how many requests go out until `end`.
fn requests(queue: &mut PeerQueue<u32>, from: u64, end: u64, remembered: bool) -> u64 {
    let mut sent = 0;
    // Ten misses in each millisecond.
    for tick in from * 10..end * 10 {
        let now = Duration::from_micros(tick * 100);
        queue.add(&Arc::from(tick.to_string()), 0, now + ms(120), remembered);
        while let Take::Batch(_) = queue.take(now) {
            sent += 1;
            queue.finished();
        }
    }
    sent
}

#[test]
fn a_flood_of_misses_costs_a_request_a_millisecond_after_a_burst() {
    let mut queue = PeerQueue::default();
    let sent = requests(&mut queue, 0, 1000, false);
    assert!((1000..=1256).contains(&sent), "{sent} requests for 10,000 misses");
    let sent = requests(&mut queue, 1000, 2000, false);
    assert!((990..=1001).contains(&sent), "{sent} requests for 10,000 more");
}

#[test]
fn nobody_waits_longer_for_the_pace_than_a_millisecond() {
    let mut queue = PeerQueue::default();
    requests(&mut queue, 0, 1000, false);
    let now = ms(1000);
    add(&mut queue, "a", 1, 1100);
    match queue.take(now) {
        Take::At(at) => {
            assert!(at > now && at <= now + ms(1), "{at:?}");
            assert!(matches!(queue.take(at), Take::Batch(_)));
        }
        Take::Batch(_) => {}
        Take::Nothing => panic!("forgotten"),
    }
}

#[test]
fn a_remembered_name_never_waits_for_the_pace_and_takes_the_others_along() {
    let mut queue = PeerQueue::default();
    let mut pace_is_used_up = false;
    while !pace_is_used_up {
        add(&mut queue, "unknown", 1, 300);
        match queue.take(ms(100)) {
            Take::Batch(_) => queue.finished(),
            Take::At(_) => pace_is_used_up = true,
            Take::Nothing => panic!("forgotten"),
        }
    }
    queue.add(&Arc::from("known"), 2, ms(300), true);
    let names: Vec<_> = batch(queue.take(ms(100))).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["unknown", "known"]);
    assert_eq!(requests(&mut PeerQueue::default(), 0, 100, true), 1000);
}
