//! What a node knows about one name.
//!
//! A record holds the *siblings*: the versions that nothing known has superseded. Normally there is one; none makes a
//! tombstone; several are a conflict, which stays until a causally later write replaces them. Beside them stand the
//! last dot of each actor at this name and the *coverage*, what was purged before this record was written: together
//! they say what the record has seen *at this name*, so that two nodes can tell "superseded" from "not yet heard of".

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use crate::naming::{Content, EntryKind, Name};
use crate::protocol::OperationId;

use super::history::History;
use super::stamp::Stamp;
use super::vector::{Dot, Vector};
use super::wire;

/// One live version of a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sibling {
    /// The write that made it.
    #[serde(with = "wire::numbered")]
    pub dot: Dot,
    /// When.
    pub stamp: Stamp,
    /// When the name's unbroken life began: a rebind takes this over from what it replaces.
    pub created: Stamp,
    /// What is bound.
    pub content: Content,
    /// By which operation.
    #[serde(with = "wire::numbered")]
    pub operation: OperationId,
    /// Who coordinated the write.
    #[serde(deserialize_with = "crate::naming::shared::deserialize")]
    pub writer: Arc<str>,
    /// How long it stays unless it is renewed; `None` for good.
    pub lease: Option<Duration>,
}

/// All that is known of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The live versions, in the order of their dots.
    #[serde(deserialize_with = "in_order")]
    pub siblings: Vec<Arc<Sibling>>,
    /// The last write of each actor at this name.
    pub last: Vector,
    /// What was purged when this was written: all of it that concerned this name is superseded.
    pub coverage: Vector,
    /// What became of the operations here.
    pub history: History,
}

/// What is known of a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// The name.
    #[serde(with = "wire::name")]
    pub name: Name,
    /// What is known of it.
    pub record: Arc<Record>,
}

impl Sibling {
    /// Whether it is a context and not a value.
    pub fn is_context(&self) -> bool {
        self.content.kind == EntryKind::Context
    }
}

/// In the order of their dots, whatever order they were sent in.
fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<Sibling>>, D::Error> {
    let mut siblings = Vec::<Arc<Sibling>>::deserialize(deserializer)?;
    siblings.sort_by_key(|sibling| sibling.dot);
    siblings.dedup_by_key(|sibling| sibling.dot);
    Ok(siblings)
}

impl Record {
    /// Takes its live versions out. What is returned is the record as it was, but for its history and coverage.
    pub(super) fn take_versions(&mut self) -> Self {
        Self { siblings: std::mem::take(&mut self.siblings), last: self.last.clone(), ..Self::default() }
    }

    /// Whether the write was seen at this name: it is live, or it was superseded.
    pub fn has_seen(&self, dot: Dot) -> bool {
        self.last.covers(dot) || self.coverage.covers(dot)
    }

    /// The live version that this write made.
    pub fn sibling(&self, dot: Dot) -> Option<&Arc<Sibling>> {
        self.siblings.binary_search_by(|sibling| sibling.dot.cmp(&dot)).ok().map(|at| &self.siblings[at])
    }

    /// The live versions with the lease that was given to this one: of an operation that ran twice both.
    pub(super) fn leased_with(&self, version: Dot) -> impl Iterator<Item = &Arc<Sibling>> {
        let live = self.sibling(version).map(|sibling| sibling.operation);
        let operation = live.or_else(|| self.history.get(version).map(|event| event.operation));
        let is_it = move |s: &&Arc<Sibling>| s.lease.is_some() && (s.dot == version || Some(s.operation) == operation);
        self.siblings.iter().filter(is_it)
    }

    /// Whether nothing is bound here any more.
    pub fn is_tombstone(&self) -> bool {
        self.siblings.is_empty()
    }

    /// The writes that this record brings: the last of each actor and the live ones.
    pub fn dots(&self) -> impl Iterator<Item = Dot> + '_ {
        let live = self.siblings.iter().map(|sibling| sibling.dot);
        self.last.iter().chain(live.filter(|dot| self.last.get(dot.actor) != dot.sequence))
    }

    /// The version that readers get: a context before a value; then the one created first, so that the first bind
    /// wins; then the latest; then by actor. The same on every node that has the same siblings.
    pub fn shown(&self) -> Option<&Arc<Sibling>> {
        self.siblings.iter().min_by_key(|s| (!s.is_context(), s.created, std::cmp::Reverse(s.stamp), s.dot))
    }

    /// Whether versions disagree. Those of one operation (it ran twice) count as one if they are the same, and so do
    /// contexts: two sides that each made a context want the same thing.
    pub fn is_conflict(&self) -> bool {
        self.siblings.windows(2).any(|pair| {
            let is_repetition = pair[0].operation == pair[1].operation && pair[0].content == pair[1].content;
            let are_contexts = pair.iter().all(|sibling| sibling.is_context());
            !(is_repetition || are_contexts)
        })
    }

    /// Whether the other record has seen and remembers nothing that this one doesn't.
    pub fn knows(&self, other: &Self) -> bool {
        self.last.includes(&other.last) && self.coverage.includes(&other.coverage) && self.history.includes(&other.history)
    }

    /// About how many bytes it takes on the wire.
    pub fn weight(&self) -> usize {
        let sibling = |sibling: &Arc<Sibling>| {
            let content = &sibling.content;
            let metadata = content.instance.as_ref().map_or(0, |instance| instance.metadata.len());
            96 + sibling.writer.len() + content.class_name.len() + content.value.len() + metadata
        };
        let vectors = 24 * (self.last.len() + self.coverage.len());
        self.siblings.iter().map(sibling).sum::<usize>() + vectors + 72 * self.history.len()
    }

    /// Whether the write was superseded here.
    pub fn supersedes(&self, dot: Dot) -> bool {
        self.has_seen(dot) && self.sibling(dot).is_none()
    }
}
