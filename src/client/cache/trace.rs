//! Follows one node's log, without I/O: which names have changed since, and whether that is still known.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::protocol::{Position, WatchFrom, WatchNext, WatchRequest, WatchScope, Watched};

/// For how long a node may hold a question, in milliseconds: a dead one is noticed that much later.
const HOLD: u32 = 1000;

/// How long a node's log may be silent before what it vouches for is not believed any longer. It answers each second.
const SILENCE: Duration = Duration::from_millis(2500);

/// So many changes are remembered, for answers that were asked for before them.
const CHANGES: usize = 1024;

/// Which log is followed, and up to where.
#[derive(Debug, Default)]
pub(super) struct Trace {
    at: Option<Place>,
    /// How many logs have been followed, this one counted.
    log: u64,
}

#[derive(Debug)]
struct Place {
    node: Arc<str>,
    position: Position,
    heard: Duration,
}

impl Trace {
    /// The log that is followed, or was last.
    pub fn log(&self) -> u64 {
        self.log
    }

    /// The node whose log is followed.
    pub fn followed(&self, now: Duration) -> Option<&Arc<str>> {
        self.at.as_ref().filter(|at| now.saturating_sub(at.heard) <= SILENCE).map(|at| &at.node)
    }

    /// Whether that log is followed, so that it would have been heard if something had changed.
    pub fn vouches_for(&self, log: u64, now: Duration) -> bool {
        log == self.log && self.followed(now).is_some()
    }

    /// What is asked next.
    pub fn request(&self) -> WatchRequest {
        let (scope, from, hold) = match &self.at {
            // One name's state says where the whole log stands.
            None => (WatchScope::Object, WatchFrom::Start, 0),
            Some(at) => (WatchScope::Subtree, WatchFrom::Position(at.position), HOLD),
        };
        WatchRequest { name: String::new(), scope, from, hold }
    }

    /// Takes a node's answer, and gives the names that have changed.
    pub fn hear(&mut self, watched: Watched, now: Duration) -> Vec<String> {
        let Watched { node, rows, next } = watched;
        match (&mut self.at, next) {
            (None, WatchNext::Position(position) | WatchNext::Behind(position) | WatchNext::Rest { position, .. }) => {
                self.log += 1;
                self.at = Some(Place { node, position, heard: now });
                Vec::new()
            }
            (Some(at), WatchNext::Position(position)) => {
                (at.position, at.heard) = (position, now);
                rows.into_iter().flat_map(|row| [Some(row.name), row.moved_from]).flatten().collect()
            }
            // Another node's log, or one that has gone on too far.
            _ => {
                self.lose();
                Vec::new()
            }
        }
    }

    /// Nothing is followed any longer.
    pub fn lose(&mut self) {
        if self.at.take().is_some() {
            self.log += 1;
        }
    }
}

/// The names that changed last, and how many changed in all.
#[derive(Debug, Default)]
pub(super) struct Recent {
    names: VecDeque<Box<str>>,
    moment: u64,
}

impl Recent {
    /// How many changes there were.
    pub fn moment(&self) -> u64 {
        self.moment
    }

    /// A name changes, and with it what is reached by way of it.
    pub fn note(&mut self, name: &str) {
        self.moment += 1;
        self.names.push_back(name.into());
        if self.names.len() > CHANGES {
            self.names.pop_front();
        }
    }

    /// Whether it is known that neither a name nor one on the way to it has changed since a moment.
    pub fn is_unchanged_since(&self, moment: u64, name: &str) -> bool {
        let since = usize::try_from(self.moment - moment).unwrap_or(usize::MAX);
        let leads_to = |changed: &str| {
            changed.is_empty() || name.strip_prefix(changed).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        since <= self.names.len() && !self.names.iter().rev().take(since).any(|changed| leads_to(changed))
    }
}
