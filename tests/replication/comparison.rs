//! Compares the nodes' copies of the cluster tree all the time, in every test that has a cluster: who has seen the same
//! writes has the same tree, at each moment.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hanaming::protocol::TreeCopy;
use hanaming::server::Node;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// A thread that compares; its test fails where two copies differed. Ends when dropped.
pub struct Comparison {
    nodes: Arc<Mutex<Vec<Node>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Option<String>>>,
}

impl Comparison {
    pub fn of(nodes: &[Node]) -> Self {
        let nodes = Arc::new(Mutex::new(nodes.to_vec()));
        let stop = Arc::new(AtomicBool::new(false));
        let (looked_at, stopped) = (Arc::clone(&nodes), Arc::clone(&stop));
        let compare = move || {
            while !stopped.load(Ordering::Relaxed) {
                let look = |node: &Node| (node.name().to_owned(), node.cluster_copy());
                let nodes: Vec<Node> = looked_at.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let copies: Vec<_> = nodes.iter().filter(|node| !node.is_closed()).map(look).collect();
                if let Some(difference) = difference(&copies) {
                    return Some(difference);
                }
                std::thread::park_timeout(PAUSE);
            }
            None
        };
        Self { nodes, stop, thread: Some(std::thread::spawn(compare)) }
    }

    /// These are compared from now on.
    pub fn follow(&self, nodes: &[Node]) {
        *self.nodes.lock().unwrap() = nodes.to_vec();
    }
}

impl Drop for Comparison {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner).clear();
        if let Some(Ok(Some(difference))) = ended
            && !std::thread::panicking()
        {
            panic!("{difference}");
        }
    }
}

/// Two copies that have seen the same and are not the same.
fn difference(copies: &[(String, TreeCopy)]) -> Option<String> {
    let mut known: HashMap<u64, &(String, TreeCopy)> = HashMap::new();
    copies.iter().find_map(|copy| {
        let other = known.insert(copy.1.seen, copy).filter(|other| other.1.digest != copy.1.digest)?;
        Some(format!("{other:?} and {copy:?} have seen the same writes, and their trees differ"))
    })
}

#[test]
fn trees_that_differ_are_noticed_and_those_that_lag_are_not() {
    let copy = |name: &str, seen, digest| (name.to_owned(), TreeCopy { seen, digest, ..TreeCopy::default() });
    assert_eq!(difference(&[copy("n0", 1, 10), copy("n1", 2, 20), copy("n2", 1, 10)]), None);
    let told = difference(&[copy("n0", 1, 10), copy("n1", 2, 20), copy("n2", 1, 11)]).unwrap();
    assert!(told.contains("n0") && told.contains("n2") && !told.contains("n1"), "{told}");
}
