//! What became of the operations at one name.
//!
//! A record keeps, for some minutes, the operation id of *every* event at its name: of unbinds and superseded versions
//! too, not only of what is bound now. A retry that meets the successor of its own write is recognised by that. The
//! history is part of the record and travels with it: whoever has an event has its id.

use serde::{Deserialize, Serialize};

use crate::protocol::OperationId;

use super::stamp::Stamp;
use super::vector::Dot;
use super::wire;

/// What became of one execution of an operation. Knowledge only grows: of two outcomes the greater one is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// It was one part of an event (of a rename the removal); another name tells what became of that.
    Part,
    /// It is stored; its coordinator has not said that it is settled.
    Pending,
    /// It took effect.
    Done,
    /// Its coordinator took it back, or it was voided as a repetition of another execution.
    Withdrawn,
}

/// What an execution was about: the same id with other arguments is an error, and two executions of one rename that
/// moved different things are no repetitions of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// Of what was asked.
    pub asked: u32,
    /// Of what was moved.
    pub moved: u32,
}

/// One execution of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The write that it made.
    #[serde(with = "wire::numbered")]
    pub dot: Dot,
    /// The operation.
    #[serde(with = "wire::numbered")]
    pub operation: OperationId,
    /// What the execution was about.
    pub digest: Digest,
    /// When it ran.
    pub stamp: Stamp,
    /// What became of it.
    pub outcome: Outcome,
}

impl From<Vec<Event>> for History {
    fn from(events: Vec<Event>) -> Self {
        let mut history = Self::default();
        for event in events {
            history.note(event);
        }
        history
    }
}

/// The events at one name, in the order of their dots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Event>")]
pub struct History(Vec<Event>);

impl History {
    /// Adds an event, or what is newly known of it. Whether that changed anything.
    pub fn note(&mut self, event: Event) -> bool {
        match self.0.binary_search_by(|known| known.dot.cmp(&event.dot)) {
            Ok(at) if self.0[at].outcome < event.outcome => self.0[at].outcome = event.outcome,
            Ok(_) => return false,
            Err(at) => self.0.insert(at, event),
        }
        true
    }

    /// Raises the outcome of an event, where it is known. Whether that changed anything.
    pub fn settle(&mut self, dot: Dot, outcome: Outcome) -> bool {
        self.get(dot).copied().is_some_and(|event| self.note(Event { outcome, ..event }))
    }

    /// Takes up all that another history knows.
    pub fn join(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        for event in &other.0 {
            self.note(*event);
        }
    }

    /// Whether all that the other history knows is known.
    pub fn includes(&self, other: &Self) -> bool {
        other.0.iter().all(|event| self.get(event.dot).is_some_and(|known| known.outcome >= event.outcome))
    }

    /// The event that made this write.
    pub fn get(&self, dot: Dot) -> Option<&Event> {
        self.0.binary_search_by(|known| known.dot.cmp(&dot)).ok().map(|at| &self.0[at])
    }

    /// The executions of an operation.
    pub fn of(&self, operation: OperationId) -> impl Iterator<Item = &Event> {
        self.0.iter().filter(move |event| event.operation == operation)
    }

    /// All events.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.0.iter()
    }

    /// Drops and returns the events from before `limit`. One that is still pending then has no coordinator any more.
    pub fn forget_before(&mut self, limit: Stamp) -> Vec<Event> {
        self.0.extract_if(.., |event| event.stamp < limit).collect()
    }

    /// When the oldest event ran.
    pub fn oldest(&self) -> Option<Stamp> {
        self.0.iter().map(|event| event.stamp).min()
    }

    /// How many events are remembered.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
