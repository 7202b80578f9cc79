//! What was found at a name: what is bound there, in which tree of which node, or a link on the way.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::naming::{Content, Source, Version};

/// A name's content and where it is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// What is bound.
    pub content: Content,
    /// Which step of the lookup rule answered.
    pub source: Source,
    /// The node in whose tree it stands.
    #[serde(deserialize_with = "crate::naming::shared::deserialize")]
    pub node: Arc<str>,
    /// Which write made it.
    pub version: Option<Version>,
    /// The nodes that were asked, in order, the answering node first; empty where it needed nobody else.
    pub asked: Vec<Arc<str>>,
}

/// A link met while a name was resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkMet {
    /// The name of the link itself.
    pub at: String,
    /// Its target, as it was bound.
    pub target: String,
    /// What remains of the name behind the link; empty where the link is the end.
    pub rest: String,
    /// The link's own content, source and node.
    pub found: Found,
}

/// One tree's answer for a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SurveyItem {
    /// The node.
    #[serde(deserialize_with = "crate::naming::shared::deserialize")]
    pub node: Arc<str>,
    /// Which tree, as seen from the node that was asked.
    pub source: Source,
    /// What it said.
    pub answer: SurveyAnswer,
}

/// What one tree said of a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SurveyAnswer {
    /// It is bound there.
    Found(Found),
    /// A link is on the way there.
    Link(LinkMet),
    /// It isn't bound there: so far the tree resolved it.
    Absent {
        /// Something on the way is no context.
        not_context: bool,
        /// How many components lead to it, or to the context that has not the next one.
        resolved: u32,
    },
    /// No answer in time.
    Silent,
}
