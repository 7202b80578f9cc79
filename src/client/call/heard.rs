//! What is known of each node at the end of a call: its own last word, or what others said of it.
//!
//! A node is told of once, however many attempts there were, and whether the client knew it by its address alone at first
//! or heard of it from another node.

use std::sync::Arc;

use crate::failure::Phase;

use super::super::fleet::Fleet;
use super::super::trail::{Doubts, Outcome};
use super::Call;

/// What was heard of a node last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    /// Its name, else `host:port`.
    pub(super) node: Arc<str>,
    pub(super) words: String,
    /// Nothing was heard of it.
    pub(super) is_silence: bool,
}

impl Call {
    /// Each node's last word, in the order of their first.
    pub(super) fn heard_of_each(&mut self, fleet: &Fleet) -> Vec<Heard> {
        for target in fleet.targets() {
            if let Some(node) = &target.node_name {
                self.trail.introduce(&target.label, node);
            }
        }
        let changes = self.invocation.is_mutation();
        let mut doubts = Doubts::default();
        let mut all: Vec<Heard> = Vec::new();
        for attempt in self.trail.tries() {
            // A name that is waited for is asked for until the end, which cuts the last answers off.
            let is_cut_off = attempt.hurried && self.invocation.waits();
            let mut hear =
                |node: &Arc<str>, words: String, is_silence: bool| match all.iter_mut().find(|heard| heard.node == *node) {
                    Some(_) if is_silence && is_cut_off => {}
                    Some(before) => (before.words, before.is_silence) = (words, is_silence),
                    None => all.push(Heard { node: Arc::clone(node), words, is_silence }),
                };
            match &attempt.outcome {
                Outcome::Incomplete { answer, answered, silent } => {
                    hear(attempt.name(), (*answer).to_owned(), false);
                    for node in answered {
                        hear(node, (*answer).to_owned(), false);
                    }
                    for node in silent {
                        hear(node, "silent".to_owned(), true);
                    }
                }
                _ if changes => hear(attempt.name(), doubts.with(attempt), attempt.phase != Phase::Answer),
                _ => hear(attempt.name(), attempt.words(), attempt.phase != Phase::Answer),
            }
        }
        all
    }
}
