//! What can be asked of a node, and its answers.
//!
//! Names travel as their canonical text (`Name::to_string`), absolute from the root.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::naming::{Content, Listed, Version};

use super::found::{Found, LinkMet, SurveyItem};
use super::many::{Items, Texts};
use super::standing::{Gossip, NodeStatus};
use super::watch::{WatchRequest, Watched};

/// Marks one mutation of one client, so that a repetition is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OperationId {
    /// The client, drawn at random for every context.
    pub client: u128,
    /// The how-manieth mutation of that client.
    pub sequence: u64,
}

impl fmt::Display for OperationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}.{}", self.client, self.sequence)
    }
}

/// Reads what [`Display`](fmt::Display) writes.
impl FromStr for OperationId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (client, sequence) = text.split_once('.').ok_or(())?;
        if client.len() != 32 {
            return Err(());
        }
        let client = u128::from_str_radix(client, 16).map_err(drop)?;
        Ok(Self { client, sequence: sequence.parse().map_err(drop)? })
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Operation {
    /// One name, by the lookup rule of the scope. Answered by `Found` or `Link`.
    Lookup {
        /// The name.
        name: String,
    },
    /// Many names at once. Answered by `Many`, in the same order.
    LookupMany {
        /// The names.
        names: Texts,
    },
    /// What every node answers for one name. Answered by `Survey`.
    Survey {
        /// The name.
        name: String,
    },
    /// A part of a context's listing. Answered by `Page`.
    List(PageRequest),
    /// A change. Answered by `Written`, `Removed` or `Link`.
    Mutate(Mutation),
    /// Mismatches, hidden bindings and conflicts beneath a name. Answered by `Report`.
    Check {
        /// The context to look beneath; `""` for all.
        name: String,
    },
    /// The node's state, for people. Answered by `Status`.
    Status,
    /// Leave the cluster: refuse what is new, finish what runs. Answered by `Accepted` when it began.
    Quiesce,
    /// Membership, between nodes. Answered by `Gossip`.
    Gossip(Gossip),
    /// What is bound at watched names, or what has changed there. Answered by `Watched`.
    Watch(WatchRequest),
    /// One name, as by `Lookup`; where it is missing the answer may wait, in case it appears.
    Await {
        /// The name.
        name: String,
        /// For how many milliseconds.
        hold: u32,
    },
    /// What became of a change. Answered by `Became`.
    Became {
        /// The change.
        id: OperationId,
    },
    /// A member that never comes back is none any longer. Answered by `Accepted` when all live nodes know it.
    Forget {
        /// The node's name.
        node: String,
    },
}

impl Operation {
    /// The number that a request's header carries in its flags, so that a server can say "not supported" of an
    /// operation of a later version, whose body it cannot read.
    pub fn code(&self) -> u16 {
        match self {
            Self::Lookup { .. } => 1,
            Self::LookupMany { .. } => 2,
            Self::Survey { .. } => 3,
            Self::List(_) => 4,
            Self::Mutate(_) => 5,
            Self::Check { .. } => 6,
            Self::Status => 7,
            Self::Quiesce => 8,
            Self::Gossip(_) => 9,
            Self::Watch(_) => 10,
            Self::Await { .. } => 11,
            Self::Became { .. } => 12,
            Self::Forget { .. } => 13,
        }
    }

    /// Whether this version knows an operation of that number.
    pub fn is_known(code: u16) -> bool {
        (1..=13).contains(&code)
    }
}

/// Which trees a listing merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TreeChoice {
    /// The cluster tree and all live nodes' local trees.
    All,
    /// The cluster tree alone.
    Cluster,
    /// All live nodes' local trees.
    Local,
}

/// A part of a listing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageRequest {
    /// The context listed.
    pub name: String,
    /// Which trees are merged.
    pub tree: TreeChoice,
    /// Start behind this component; `None` for the first page.
    pub after: Option<String>,
    /// How many rows at most; the server may give fewer.
    pub limit: u32,
    /// Whether the rows carry their values.
    pub values: bool,
}

/// A change to a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Mutation {
    /// Binds a name; with `replace`, whatever is bound there gives way.
    Bind {
        /// The name.
        name: String,
        /// What is bound.
        content: Content,
        /// Replace what is there (`rebind`).
        replace: bool,
        /// Make the contexts on the way.
        create_parents: bool,
        /// Lifetime in milliseconds unless it is renewed.
        lease: Option<u32>,
    },
    /// Removes what is bound.
    Unbind {
        /// The name.
        name: String,
    },
    /// Moves a value.
    Rename {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Makes a context.
    CreateSubcontext {
        /// The name.
        name: String,
        /// Make the contexts on the way.
        create_parents: bool,
    },
    /// Removes an empty context.
    DestroySubcontext {
        /// The name.
        name: String,
    },
    /// Ends a conflict: one version stays.
    ResolveConflict {
        /// The name.
        name: String,
        /// The version that stays, as it is shown; `None` keeps a context that is there for what lies under it.
        keep: Option<String>,
    },
    /// A lease goes on: its time begins anew.
    Renew {
        /// The name.
        name: String,
        /// The version that was given the lease.
        version: Version,
    },
    /// A lease is given back: the version that has it goes, and nothing that was bound since. Answered by `Removed`.
    Release {
        /// The name.
        name: String,
        /// The version that was given the lease.
        version: Version,
    },
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// What is bound at the name.
    Found(Found),
    /// A link stands on the way (lookups and mutations) or at the end (lookups): the client goes on from there.
    Link(LinkMet),
    /// The answers to many lookups.
    Many(Items),
    /// What every node said.
    Survey(Vec<SurveyItem>),
    /// A part of a listing.
    Page(Page),
    /// A bind, rebind, rename or create took effect.
    Written(Written),
    /// An unbind or destroy: whether something went.
    Removed {
        /// `false` where nothing was there.
        existed: bool,
        /// Who acknowledged.
        written: Written,
    },
    /// What `check` found.
    Report(Report),
    /// The node's state.
    Status(Box<NodeStatus>),
    /// It began.
    Accepted,
    /// Membership.
    Gossip(Gossip),
    /// What is bound at watched names.
    Watched(Watched),
    /// What became of a change.
    Became(Became),
}

/// What became of a change, as far as the live nodes know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Became {
    /// It took effect.
    Done {
        /// The name.
        name: String,
        /// The write that it made.
        version: Version,
    },
    /// It is stored and not yet settled: it may be withdrawn.
    Pending {
        /// The name.
        name: String,
        /// The write that it made.
        version: Version,
    },
    /// It was taken back.
    Withdrawn,
    /// It may have run, too long ago to be known.
    Forgotten,
    /// Nobody who answered knows of it. With nobody silent it did not run.
    Unknown {
        /// The live nodes that did not answer.
        silent: Vec<Arc<str>>,
    },
}

/// A part of a listing, in order of components.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// The rows.
    pub entries: Vec<Listed>,
    /// There are more behind the last row.
    pub more: bool,
}

/// By whom a write was acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The version it made; `None` where nothing changed.
    pub version: Option<Version>,
    /// The nodes that hold it.
    pub acked_by: Vec<Arc<str>>,
    /// How many members were live.
    pub live: u32,
    /// How many members the cluster has.
    pub members: u32,
}

/// What `check` found. Names are full.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Names whose cluster entry has several versions; empty until the cluster tree is replicated.
    pub conflicts: Vec<ReportItem>,
    /// Names bound to different values in different local trees.
    pub mismatches: Vec<ReportItem>,
    /// Names whose cluster entry hides a local one; the cluster's answer stands first.
    pub hidden: Vec<ReportItem>,
}

/// One finding: a name and the answers concerned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportItem {
    /// The full name.
    pub name: String,
    /// The answers, each with its node and source.
    pub answers: Vec<Found>,
}
