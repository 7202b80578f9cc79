//! What came of a request.
//!
//! The variants say how sure the answer is: `Done` and `Obstructed` are definite (something took effect, or can't),
//! `Link` sends the client on, `Refused` did not run, `Unknown` may have.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::naming::Name;
use crate::topology::NodeId;

use super::obstacle::Obstacle;
use super::record::Sibling;
use super::vector::Dot;
use super::wire;

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// It took effect, once.
    Done {
        /// The write that it made; `None` where there was nothing to do.
        #[serde(with = "wire::perhaps_numbered")]
        version: Option<Dot>,
        /// Who holds it.
        receipt: Receipt,
    },
    /// It changed nothing, since what is bound forbids it.
    Obstructed(Obstacle),
    /// It changed nothing: a link stands on the way, and the client goes on behind it.
    Link(LinkOnWay),
    /// It did not run, and may be sent again.
    Refused(Refusal),
    /// It may have run; nobody will run it again.
    Unknown {
        /// Why that isn't known.
        reason: Uncertainty,
        /// Who is known to hold it.
        receipt: Receipt,
    },
    /// The operation id was used before, for something else. This did not run.
    Misused,
}

/// On which nodes a write is held, durable where they have a data folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// These.
    pub acked_by: Vec<NodeId>,
    /// How many members were live.
    pub live: u32,
    /// How many members there are.
    pub members: u32,
}

/// A link that stands on the way to a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkOnWay {
    /// The link's own name.
    #[serde(with = "wire::name")]
    pub at: Name,
    /// What remains of the name behind it.
    #[serde(with = "wire::name")]
    pub rest: Name,
    /// The link, as it was bound.
    pub link: Arc<Sibling>,
}

impl LinkOnWay {
    /// Where it leads.
    pub fn target(&self) -> String {
        String::from_utf8_lossy(&self.link.content.value).into_owned()
    }
}

/// Why a request did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The node lacks writes that the client has seen.
    Behind,
    /// Fewer members are live than a write must be held by.
    TooFew,
    /// Another bind of the name was under way until the time was up.
    Contended,
    /// The node has not yet caught up with the cluster.
    Joining,
    /// The node leaves.
    Quiescing,
    /// The node can store nothing for now. Its driver says so; no engine does.
    ReadOnly,
    /// More waits for the node's disk than it holds. Its driver says so; no engine does.
    Overloaded,
}

/// Why it is not known whether a request ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Uncertainty {
    /// It is older than what is remembered.
    Forgotten,
    /// It is stored, on fewer nodes than asked for.
    TooFewHold,
    /// The node's disk failed while it was under way. Its driver says so; no engine does.
    DiskFailed,
}
