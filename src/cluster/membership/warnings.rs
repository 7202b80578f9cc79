//! What a person should see: held as long as its cause shows itself again and again.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::topology::Endpoint;

/// The most warnings held.
const MOST: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Warnings {
    held: BTreeMap<Endpoint, Warning>,
}

#[derive(Debug)]
struct Warning {
    text: String,
    last: Duration,
}

impl Warnings {
    /// Holds a warning about the node at an address; `true` where it is a new one.
    pub(super) fn add(&mut self, now: Duration, about: &Endpoint, text: &str) -> bool {
        let is_known = self.held.get(about).is_some_and(|warning| warning.text == text);
        if is_known || self.held.len() < MOST {
            self.held.insert(about.clone(), Warning { text: text.to_owned(), last: now });
        }
        !is_known
    }

    /// The cause is gone.
    pub(super) fn clear(&mut self, about: &Endpoint) {
        self.held.remove(about);
    }

    /// Drops those whose cause has not shown itself for `age`.
    pub(super) fn expire(&mut self, now: Duration, age: Duration) {
        self.held.retain(|_, warning| now.saturating_sub(warning.last) < age);
    }

    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.held.values().map(|warning| warning.text.clone()).collect();
        texts.dedup();
        texts
    }
}
