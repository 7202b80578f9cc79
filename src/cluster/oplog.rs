//! Finding the executions of an operation, and knowing which operations can no longer be found.
//!
//! The events themselves live in the records ([`History`](super::history::History)); here is the index over them. An
//! event is forgotten after its retention. A retry that comes later than that can't be recognised, so it must not run:
//! for each client the highest forgotten number is kept, and ids up to it are refused.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::naming::Name;
use crate::protocol::OperationId;

use super::history::{Event, Outcome};
use super::stamp::Stamp;
use super::wire;

/// For each client, up to which number its operations were forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Horizons(BTreeMap<u128, Horizon>);

/// More clients than this are not remembered: all of it goes into one frame.
const MOST_CLIENTS: usize = 16 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Horizon {
    sequence: u64,
    stamp: Stamp,
}

impl Horizons {
    /// The operation is no longer known from here on.
    pub fn raise(&mut self, operation: OperationId, stamp: Stamp) {
        let horizon = self.0.entry(operation.client).or_insert(Horizon { sequence: 0, stamp });
        horizon.sequence = horizon.sequence.max(operation.sequence);
        horizon.stamp = horizon.stamp.max(stamp);
    }

    /// Whether the operation may have run and been forgotten.
    pub fn has_forgotten(&self, operation: OperationId) -> bool {
        self.0.get(&operation.client).is_some_and(|horizon| operation.sequence <= horizon.sequence)
    }

    /// Takes up what another node has forgotten.
    pub fn join(&mut self, other: &Self) {
        for (&client, horizon) in &other.0 {
            self.raise(OperationId { client, sequence: horizon.sequence }, horizon.stamp);
        }
    }

    /// Drops the clients of which nothing was heard since `limit`.
    pub fn forget_before(&mut self, limit: Stamp) {
        self.0.retain(|_, horizon| horizon.stamp >= limit);
        if self.0.len() > MOST_CLIENTS {
            let mut stamps: Vec<Stamp> = self.0.values().map(|horizon| horizon.stamp).collect();
            let surplus = stamps.len() - MOST_CLIENTS;
            let (_, last_dropped, _) = stamps.select_nth_unstable(surplus - 1);
            let limit = *last_dropped;
            self.0.retain(|_, horizon| horizon.stamp > limit);
        }
    }
}

impl Serialize for Horizons {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let id = |client: u128, sequence| wire::Numbered::from(OperationId { client, sequence });
        serializer.collect_seq(self.0.iter().map(|(&client, horizon)| (id(client, horizon.sequence), horizon.stamp)))
    }
}

impl<'de> Deserialize<'de> for Horizons {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut horizons = Self::default();
        for (id, stamp) in Vec::<(wire::Numbered, Stamp)>::deserialize(deserializer)? {
            horizons.raise(id.into(), stamp);
        }
        Ok(horizons)
    }
}

/// What became of an operation, as far as a node knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is known of it.
    Unknown,
    /// It may have run and been forgotten: it must not run again.
    Forgotten,
    /// It ran and is neither settled nor superseded.
    Pending(Event),
    /// It took effect.
    Done(Event),
    /// All its executions were taken back.
    Withdrawn,
    /// It came to nothing, for good.
    Nothing(Event),
}

/// At which names an operation ran, by its client and its number.
#[derive(Clone, Debug, Default)]
pub struct Oplog {
    names: BTreeMap<u128, BTreeMap<u64, Names>>,
}

/// Some names, most often one.
#[derive(Clone, Debug)]
enum Names {
    One(Name),
    Several(Box<[Name]>),
}

impl Names {
    fn as_slice(&self) -> &[Name] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Several(names) => names,
        }
    }

    fn with(&self, name: &Name) -> Self {
        Self::Several(self.as_slice().iter().chain([name]).cloned().collect())
    }

    fn without(&self, name: &Name) -> Option<Self> {
        let mut left: Vec<Name> = self.as_slice().iter().filter(|known| *known != name).cloned().collect();
        match left.len() {
            0 => None,
            1 => left.pop().map(Self::One),
            _ => Some(Self::Several(left.into_boxed_slice())),
        }
    }
}

impl Oplog {
    /// The operation ran at this name.
    pub fn add(&mut self, operation: OperationId, name: &Name) {
        match self.names.entry(operation.client).or_default().entry(operation.sequence) {
            Entry::Vacant(free) => drop(free.insert(Names::One(name.clone()))),
            Entry::Occupied(mut known) => {
                if !known.get().as_slice().contains(name) {
                    let more = known.get().with(name);
                    known.insert(more);
                }
            }
        }
    }

    /// What is known of the operation at this name is forgotten.
    pub fn remove(&mut self, operation: OperationId, name: &Name) {
        let Some(of_client) = self.names.get_mut(&operation.client) else { return };
        if let Some(names) = of_client.get_mut(&operation.sequence) {
            match names.without(name) {
                Some(left) => *names = left,
                None => drop(of_client.remove(&operation.sequence)),
            }
        }
        if of_client.is_empty() {
            self.names.remove(&operation.client);
        }
    }

    /// The names at which the operation ran.
    pub fn names(&self, operation: OperationId) -> &[Name] {
        let names = self.names.get(&operation.client).and_then(|of_client| of_client.get(&operation.sequence));
        names.map_or(&[], Names::as_slice)
    }
}

/// The standing that a set of executions amounts to: one that took effect decides; else one that may yet; else one that
/// came to nothing.
pub fn standing(executions: impl IntoIterator<Item = Event>) -> Standing {
    let mut standing = Standing::Unknown;
    for event in executions {
        standing = match (event.outcome, standing) {
            (Outcome::Done, _) => return Standing::Done(event),
            (Outcome::Pending, _) => Standing::Pending(event),
            (Outcome::Nothing, Standing::Unknown | Standing::Withdrawn) => Standing::Nothing(event),
            (Outcome::Withdrawn, Standing::Unknown) => Standing::Withdrawn,
            (Outcome::Nothing | Outcome::Withdrawn | Outcome::Part, known) => known,
        };
    }
    standing
}
