//! What an operation gives to the user.

use crate::naming::{Listed, Name};
use crate::protocol::{Became, Found, NodeStatus, Report, SurveyItem, Watched, Written};

use super::settled::Settled;

/// How it is known. The worst of a lookup's steps counts, the last of these is the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    /// A server was asked.
    #[default]
    Asked,
    /// An answer was kept, and is known to be true.
    Kept,
    /// An answer was kept, and no server is left to ask.
    LastKnown,
}

/// What is bound, and where that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// What is bound there, in which tree of which node.
    pub found: Found,
    /// The name from the root under which it stands, where links led to another than was asked for.
    pub at: Option<Name>,
    /// How that is known.
    pub freshness: Freshness,
}

/// What an operation gives.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Product {
    /// What is bound at the name.
    Found(Located),
    /// Nothing is bound there (`get`).
    Absent,
    /// What is bound at each name, in the order in which they were given.
    Many(Settled),
    /// What each node said.
    Survey(Vec<SurveyItem>),
    /// The rows of a listing.
    Listing(Vec<Listed>),
    /// A bind, rename or create took effect.
    Written(Written),
    /// An unbind or destroy took effect.
    Removed {
        /// Whether something was there.
        existed: bool,
        /// Who acknowledged.
        written: Written,
    },
    /// What is bound at watched names.
    Watched(Watched),
    /// What a check found.
    Report(Report),
    /// A node's state.
    Status(Box<NodeStatus>),
    /// What became of a change.
    Became(Became),
    /// It began, or is so.
    Accepted,
}
