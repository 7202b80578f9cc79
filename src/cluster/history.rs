//! What became of the operations at one name.
//!
//! A record keeps, for some minutes, the operation id of *every* event at its name: of unbinds and superseded versions
//! too, not only of what is bound now. A retry that meets the successor of its own write is recognised by that. The
//! history is part of the record and travels with it: whoever has an event has its id.
//!
//! A name that is written all the time would drag thousands of events along with each write. So it remembers the last
//! [`REMEMBERED`], and of those before only, for each client, the highest number: such an id may have run here.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::protocol::OperationId;

use super::sequences::Sequences;
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
    /// There was nothing to do, or it could not be done, and the client was told so: a copy that comes late must not do it.
    Nothing,
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

/// So many settled events are remembered at one name, and so many clients of those before.
pub const REMEMBERED: usize = 64;

/// How a history changed: what an index over it has to follow. Nobody compares the whole of it with what it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// What is newly known of these events.
    pub noted: Vec<Event>,
    /// These are no longer remembered.
    pub gone: Vec<Event>,
}

impl Learned {
    /// How a history changed that was `old` and is `new`.
    pub fn between(old: &History, new: &History) -> Self {
        let is_news = |event: &&Event| old.get(event.dot).is_none_or(|known| known.outcome != event.outcome);
        Self {
            noted: new.iter().filter(is_news).copied().collect(),
            gone: old.iter().filter(|event| new.get(event.dot).is_none()).copied().collect(),
        }
    }
}

/// The events at one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// In the order of their dots.
    events: Vec<Event>,
    /// Of each client, in their order, which operations ran here and are no longer remembered.
    forgotten: Vec<Forgotten>,
}

/// What [`History::trim`] left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trimmed {
    /// These events are no longer remembered one by one.
    pub events: Vec<Event>,
    /// The last operations of clients of which nothing is known here any more, since these were too many.
    pub clients: Vec<OperationId>,
}

/// One client's operations that ran at a name, and of which no more is known than that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Forgotten {
    #[serde(with = "wire::raw")]
    client: u128,
    ran: Sequences,
    /// When the last of them ran.
    last: Stamp,
}

impl Forgotten {
    /// The last of the operations.
    fn highest(&self) -> OperationId {
        OperationId { client: self.client, sequence: self.ran.highest() }
    }
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

impl Serialize for History {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.events, &self.forgotten).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for History {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (events, forgotten) = <(Vec<Event>, Vec<Forgotten>)>::deserialize(deserializer)?;
        let mut history = Self::from(events);
        for known in &forgotten {
            history.take_up(known);
        }
        Ok(history)
    }
}

impl History {
    /// Adds an event, or what is newly known of it. Whether that changed anything.
    pub fn note(&mut self, event: Event) -> bool {
        match self.events.binary_search_by(|known| known.dot.cmp(&event.dot)) {
            Ok(at) if self.events[at].outcome < event.outcome => self.events[at].outcome = event.outcome,
            Ok(_) => return false,
            Err(at) => {
                if self.events.is_empty() {
                    // Most names are written once.
                    self.events.reserve_exact(1);
                }
                self.events.insert(at, event);
            }
        }
        true
    }

    /// Takes up all that another history knows.
    pub fn join(&mut self, other: &Self) {
        if self.is_empty() {
            self.clone_from(other);
            self.events.shrink_to_fit();
            return;
        }
        for event in &other.events {
            if event.outcome == Outcome::Pending || !self.has_forgotten(event.operation) {
                self.note(*event);
            }
        }
        for known in &other.forgotten {
            self.take_up(known);
        }
    }

    /// Whether all that the other history knows is known.
    pub fn includes(&self, other: &Self) -> bool {
        let is_known = |event: &Event| match self.get(event.dot) {
            Some(known) => known.outcome >= event.outcome,
            None => event.outcome != Outcome::Pending && self.has_forgotten(event.operation),
        };
        let has_forgotten =
            |theirs: &Forgotten| self.of_client(theirs.client).is_ok_and(|at| self.forgotten[at].ran.includes(&theirs.ran));
        other.events.iter().all(is_known) && other.forgotten.iter().all(has_forgotten)
    }

    /// Whether the operation ran here, or may have, and is no longer remembered.
    pub fn has_forgotten(&self, operation: OperationId) -> bool {
        self.of_client(operation.client).is_ok_and(|at| self.forgotten[at].ran.has(operation.sequence))
    }

    fn of_client(&self, client: u128) -> Result<usize, usize> {
        self.forgotten.binary_search_by(|known| known.client.cmp(&client))
    }

    fn forget(&mut self, OperationId { client, sequence }: OperationId, stamp: Stamp) {
        let at = self.of_client(client).unwrap_or_else(|at| {
            self.forgotten.insert(at, Forgotten { client, ran: Sequences::default(), last: stamp });
            at
        });
        let known = &mut self.forgotten[at];
        known.ran.add(sequence);
        known.last = known.last.max(stamp);
    }

    fn take_up(&mut self, theirs: &Forgotten) {
        match self.of_client(theirs.client) {
            Ok(at) => {
                let known = &mut self.forgotten[at];
                known.ran.join(&theirs.ran);
                known.last = known.last.max(theirs.last);
            }
            Err(at) => self.forgotten.insert(at, theirs.clone()),
        }
    }

    /// Forgets the oldest settled events beyond the last [`REMEMBERED`].
    pub fn trim(&mut self) -> Trimmed {
        let mut trimmed = Trimmed::default();
        let Some(limit) = self.limit() else { return trimmed };
        let is_old = |event: &mut Event| event.stamp <= limit && event.outcome != Outcome::Pending;
        trimmed.events = self.events.extract_if(.., is_old).collect();
        for event in &trimmed.events {
            self.forget(event.operation, event.stamp);
        }
        while self.forgotten.len() > REMEMBERED {
            let oldest = (0..self.forgotten.len()).min_by_key(|at| self.forgotten[*at].last).unwrap_or_default();
            trimmed.clients.push(self.forgotten.remove(oldest).highest());
        }
        trimmed
    }

    /// The stamp of the last event that is one too many; `None` where none is.
    fn limit(&self) -> Option<Stamp> {
        let surplus = self.events.len().checked_sub(REMEMBERED).filter(|surplus| *surplus > 0)?;
        let stamps = self.events.iter().map(|event| event.stamp);
        if surplus == 1 {
            // One write more: what a busy name comes to each time.
            return stamps.min();
        }
        let mut stamps: Vec<Stamp> = stamps.collect();
        Some(*stamps.select_nth_unstable(surplus - 1).1)
    }

    /// The event that made this write.
    pub fn get(&self, dot: Dot) -> Option<&Event> {
        self.events.binary_search_by(|known| known.dot.cmp(&dot)).ok().map(|at| &self.events[at])
    }

    /// The executions of an operation.
    pub fn of(&self, operation: OperationId) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| event.operation == operation)
    }

    /// All events.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.events.iter()
    }

    /// Drops and returns the operations from before `limit`. One that is still pending then has no coordinator any more.
    pub fn forget_before(&mut self, limit: Stamp) -> Vec<OperationId> {
        let events = self.events.extract_if(.., |event| event.stamp < limit).map(|event| event.operation);
        let forgotten = self.forgotten.extract_if(.., |known| known.last < limit).map(|known| known.highest());
        events.chain(forgotten).collect()
    }

    /// When the oldest of what is known happened.
    pub fn oldest(&self) -> Option<Stamp> {
        let events = self.events.iter().map(|event| event.stamp);
        events.chain(self.forgotten.iter().map(|known| known.last)).min()
    }

    /// How many things are remembered.
    pub fn len(&self) -> usize {
        self.events.len() + self.forgotten.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.forgotten.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(client: u128, sequence: u64, outcome: Outcome) -> Event {
        let dot = Dot { actor: client, sequence };
        let operation = OperationId { client, sequence };
        Event { dot, operation, digest: Digest::default(), stamp: Stamp(sequence), outcome }
    }

    fn of(events: impl IntoIterator<Item = Event>) -> History {
        let mut history: History = events.into_iter().collect::<Vec<_>>().into();
        history.trim();
        history
    }

    #[test]
    fn a_busy_name_remembers_the_last_events_and_of_those_before_how_far_they_went() {
        let history = of((1..=100).map(|n| event(7, n, Outcome::Done)));
        assert_eq!(history.iter().map(|event| event.operation.sequence).collect::<Vec<_>>(), (37..=100).collect::<Vec<_>>());
        assert!(history.has_forgotten(OperationId { client: 7, sequence: 36 }));
        assert!(
            !of((1..=100).filter(|n| *n != 20).map(|n| event(7, n, Outcome::Done)))
                .has_forgotten(OperationId { client: 7, sequence: 20 })
        );
        assert!(!history.has_forgotten(OperationId { client: 7, sequence: 37 }));
        assert!(!history.has_forgotten(OperationId { client: 8, sequence: 1 }));
    }

    #[test]
    fn what_is_not_settled_is_not_forgotten() {
        let pending = event(8, 1, Outcome::Pending);
        let history = of([pending].into_iter().chain((2..=100).map(|n| event(7, n, Outcome::Done))));
        assert_eq!(history.get(pending.dot), Some(&pending));
    }

    #[test]
    fn joined_from_both_sides_the_same_is_known() {
        let early = of((1..=100).map(|n| event(7, n, Outcome::Done)));
        let late = of((60..=160).map(|n| event(7, n, Outcome::Done)));
        let joined = |mut one: History, other: &History| {
            one.join(other);
            one.trim();
            one
        };
        let (one, other) = (joined(early.clone(), &late), joined(late.clone(), &early));
        assert_eq!(one, other);
        assert!(one.includes(&early) && one.includes(&late) && !early.includes(&late));
        assert_eq!(joined(one.clone(), &early), one);
    }

    #[test]
    fn too_many_clients_are_handed_on() {
        let mut history: History = (1..=200).map(|n| event(u128::from(n), n, Outcome::Done)).collect::<Vec<_>>().into();
        let dropped = history.trim();
        assert_eq!(dropped.clients.iter().map(|operation| operation.client).collect::<Vec<_>>(), (1..=72).collect::<Vec<_>>());
        assert_eq!(history.len(), 2 * REMEMBERED);
    }
}
