//! Which peer had a name, remembered within a bound.

use std::sync::Arc;

use hanaming::server::peers::remembered::Remembered;
use hanaming::topology::NodeId;

const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);

#[test]
fn the_last_word_counts() {
    let mut remembered = Remembered::new(8);
    assert_eq!(remembered.get("x"), None);
    remembered.put(&Arc::from("x"), A);
    assert_eq!(remembered.get("x"), Some(A));
    remembered.put(&Arc::from("x"), B);
    assert_eq!(remembered.get("x"), Some(B));
    assert_eq!(remembered.len(), 1);
}

#[test]
fn only_the_node_that_was_remembered_is_forgotten() {
    let mut remembered = Remembered::new(8);
    remembered.put(&Arc::from("x"), A);
    remembered.forget("x", B);
    assert_eq!(remembered.get("x"), Some(A));
    remembered.forget("x", A);
    assert_eq!(remembered.get("x"), None);
    assert!(remembered.is_empty());
}

#[test]
fn nodes_that_left_are_forgotten() {
    let mut remembered = Remembered::new(4);
    for (name, node) in [("x", A), ("y", B), ("z", A)] {
        remembered.put(&Arc::from(name), node);
    }
    remembered.retain(&[B]);
    assert_eq!((remembered.get("x"), remembered.get("y"), remembered.get("z")), (None, Some(B), None));
}

#[test]
fn it_stays_bounded_and_keeps_what_is_used() {
    let mut remembered = Remembered::new(100);
    remembered.put(&Arc::from("hot"), A);
    for number in 0..10_000 {
        remembered.put(&Arc::from(number.to_string()), B);
        assert_eq!(remembered.get("hot"), Some(A), "after {number}");
        assert!(remembered.len() <= 100);
    }
    assert_eq!(remembered.get("0"), None);
    assert_eq!(remembered.get("9999"), Some(B));
}
