//! A tree of names in memory, for many readers and one writer at a time.
//!
//! **The truth** is an immutable ordered map behind an atomic pointer. Listings, snapshots and all questions about
//! several names at once are answered from one state of it. A write prepares the next state and publishes it in one
//! step, so that nobody ever sees half of a write: of a rename, both names are seen as they were, or both as they are.
//!
//! **The exact index**, a concurrent hash map from canonical texts, answers lookups without comparing a path of keys.
//! It may lag, and must never be wrong, so it follows a rule: *a slot that a write touches is marked before the write
//! is published and settled after it*. A reader that finds a settled slot has the truth of that moment; one that finds
//! a mark asks the truth. What is bound always has a slot, so finding none is the truth as well; but several slots,
//! read one after the other, are one state only where no write went on meanwhile, which a sequence number tells.
//!
//! **What always holds:** every name on the way to a bound name is bound to a context; the root is one by itself.
//! Readers never wait: neither for a writer nor for each other.

mod index;
mod list;
mod lookup;
mod observer;
mod operation;
mod place;
mod refusal;
mod snapshot;
mod transaction;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use imbl::OrdMap;

use super::entry::{Content, Source, Version};
use super::name::Name;
use index::Index;
use place::Key;
use transaction::Writer;

pub use list::TreePage;
pub use lookup::{Lookup, Moment};
pub use observer::{Observer, Touched};
pub use operation::{BindOptions, Display};
pub use snapshot::Snapshot;

/// All bindings, the names of one context next to each other.
type Bindings = OrdMap<Key, Arc<Entry>>;

/// A tree of names. See the module's description.
pub struct Tree {
    index: Index,
    published: ArcSwap<Bindings>,
    writer: Mutex<Writer>,
    root: Arc<Entry>,
    actor: u128,
    source: Source,
    node: Arc<str>,
    observer: Option<Arc<dyn Observer>>,
}

/// What is bound at a name, and which write made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What is bound.
    pub content: Content,
    /// Which write bound it.
    pub version: Version,
}

/// What came of an operation in this tree: it was done, or a link stands on the way and the caller goes on from there.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<T> {
    /// Done.
    Done(T),
    /// Nothing was done: the name leads through this link.
    Link(TreeLink),
}

/// A link met while a name was resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeLink {
    /// The link's own name.
    pub at: Name,
    /// Where it leads, as it was bound.
    pub target: String,
    /// What remains of the name behind the link.
    pub rest: Name,
    /// The link itself.
    pub entry: Arc<Entry>,
}

impl Tree {
    /// An empty tree. `actor` names its writes, so it is drawn anew for every tree that starts empty.
    pub fn new(actor: u128) -> Self {
        let root = Arc::new(Entry { content: Content::context(), version: Version { actor, sequence: 0 } });
        Self {
            index: Index::default(),
            published: ArcSwap::from_pointee(Bindings::new()),
            writer: Mutex::default(),
            root,
            actor,
            source: Source::Local,
            node: Arc::from(""),
            observer: None,
        }
    }

    /// Says which tree this is, for errors that tell where a name is taken.
    pub fn with_origin(mut self, source: Source, node: impl Into<Arc<str>>) -> Self {
        self.source = source;
        self.node = node.into();
        self
    }

    /// Has `observer` told of each write.
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Changes with each write, so an answer remembered under one number holds as long as the number does. An odd
    /// number means that a write goes on: remember nothing that was asked then.
    pub fn generation(&self) -> u64 {
        self.index.sequence()
    }

    /// How many names are bound, contexts among them.
    pub fn len(&self) -> usize {
        self.published.load().len()
    }

    /// Whether nothing is bound.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bindings as they are at this moment, at no cost.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::new(self.published.load_full())
    }

    /// What `read` makes of the tree, if no write went on meanwhile: then all that it looked up is of one state.
    pub fn undisturbed<T>(&self, read: impl FnOnce() -> Option<T>) -> Option<T> {
        self.index.undisturbed(read)
    }

    /// What `read` makes of a moment in which no write goes on, so that all that an [`Observer`] keeps is of that moment
    /// too. Where writes follow each other without a pause the next one waits for `read`.
    pub fn at_rest<T>(&self, read: impl Fn(&Snapshot) -> T) -> T {
        const TRIES: usize = 8;
        let undisturbed = || self.index.undisturbed(|| Some(read(&self.snapshot())));
        (0..TRIES).find_map(|_| undisturbed()).unwrap_or_else(|| {
            let _no_writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            read(&self.snapshot())
        })
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree({} on {:?}, {} names)", self.source.as_str(), self.node, self.len())
    }
}

impl TreeLink {
    /// The link bound at the first `count` components of `name`.
    fn on(name: &Name, count: usize, entry: Arc<Entry>) -> Self {
        let target = String::from_utf8_lossy(&entry.content.value).into_owned();
        Self { at: name.prefix(count), target, rest: name.suffix(count), entry }
    }
}
