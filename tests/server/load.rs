//! Counting with a limit.

use std::time::Duration;

use hanaming::server::load::{Gauge, Portion};

#[test]
fn no_more_is_taken_than_the_limit() {
    let gauge = Gauge::default();
    let first = gauge.take(3, 5).unwrap();
    let second = gauge.take(2, 5).unwrap();
    assert!(gauge.take(1, 5).is_none());
    drop(first);
    assert_eq!(gauge.level(), 2);
    assert!(gauge.take(4, 5).is_none());
    drop(second);
    assert_eq!(gauge.level(), 0);
}

#[test]
fn what_is_over_the_limit_by_itself_has_its_turn_when_nothing_else_has() {
    let gauge = Gauge::default();
    let large = gauge.take(100, 5).unwrap();
    assert!(gauge.take(1, 5).is_none());
    drop(large);
    let small = gauge.take(1, 5).unwrap();
    assert!(gauge.take(100, 5).is_none());
    drop(small);
}

#[tokio::test]
async fn zero_is_waited_for() {
    let gauge = Gauge::default();
    gauge.zero().await;
    let share = gauge.take(1, 5).unwrap();
    let other = gauge.clone();
    let waiting = tokio::spawn(async move { other.zero().await });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(share);
    tokio::time::timeout(Duration::from_secs(5), waiting).await.unwrap().unwrap();
}

#[test]
fn portions_add_up_and_go_with_their_holders() {
    let gauge = Gauge::default();
    let (mut one, mut other) = (Portion::new(&gauge), Portion::new(&gauge));
    one.set(100_000);
    other.set(200_000);
    assert_eq!(gauge.level(), 300_000);
    one.set(70_000);
    assert_eq!(gauge.level(), 270_000);
    // What is small counts as nothing.
    other.set(1000);
    assert_eq!(gauge.level(), 70_000);
    drop(one);
    assert_eq!(gauge.level(), 0);
}
