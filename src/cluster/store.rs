//! What is made durable, and by what: the border between the engines and a disk.
//!
//! A step of an engine yields one [`Transaction`] and the outputs that may leave once it is durable, and not before:
//! neither a reply nor a message to a peer may tell of what a crash could still undo. A driver may commit the
//! transactions of several steps as a group, in order. Where there is no data folder, a transaction is dropped and its
//! outputs leave at once; such a node draws a new actor at every start.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::naming::Name;

use super::oplog::Horizons;
use super::record::Record;
use super::stamp::Stamp;
use super::vector::{Actor, Seen, Vector};

/// What a node knows beside its records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Whose writes are the node's own; `None` in a backup, so that whoever starts from one goes on as a new actor,
    /// however often the start is repeated.
    pub actor: Option<Actor>,
    /// How many of them there are.
    pub sequence: u64,
    /// All that was seen.
    pub seen: Seen,
    /// What was purged.
    pub floor: Vector,
    /// The latest stamp.
    pub stamp: Stamp,
    /// Which operation ids are too old to be recognised.
    pub horizons: Horizons,
}

/// A change to be made durable as one: all of it or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transaction {
    /// The records written; `None` where one is purged.
    pub records: BTreeMap<Name, Option<Arc<Record>>>,
    /// What else changed.
    pub meta: Option<Meta>,
}

impl Transaction {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.meta.is_none()
    }
}

/// All that a store holds.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The records.
    pub records: BTreeMap<Name, Arc<Record>>,
    /// What is known beside them.
    pub meta: Meta,
}

impl State {
    /// The same without an actor: what a backup holds.
    pub fn detached(mut self) -> Self {
        self.meta.actor = None;
        self.meta.sequence = 0;
        self
    }
}

/// Why a store could not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No room is left. Nothing of the group was stored, or all of it: load to know.
    #[error("the disk is full")]
    Full,
    /// Reading or writing failed. Nothing of the group was stored, or all of it: load to know.
    #[error("the disk failed")]
    Io,
    /// What is stored is not what was written; only a sync from the peers helps.
    #[error("the data is damaged")]
    Damaged,
}

/// Keeps transactions. After an error the store refuses further commits until it was opened again.
pub trait Store {
    /// All that was committed; `None` where nothing ever was.
    fn load(&mut self) -> Result<Option<State>, StoreError>;

    /// Makes a group of transactions durable, in order: all of it, or nothing.
    fn commit(&mut self, group: &[Transaction]) -> Result<(), StoreError>;

    /// Opens the store again after an error, and tells what it knows beside the records: that of the last group that was
    /// stored, so whether the one that failed is among them.
    fn reopen(&mut self) -> Result<Option<Meta>, StoreError>;
}
