//! What the node's own trees say of a name: the lookup rule's first two steps. Nothing here waits.

use std::sync::Arc;

use crate::failure::CompletionStatus;
use crate::naming::{ErrorKind, Listed, Lookup, Name, NamingError, Source, Tree, TreeLink, Version};
use crate::protocol::{Answer, Fault, Found, LinkMet, ManyItem, Reply, Scope};

use super::fault;
use crate::server::core::Core;

/// What is known of a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// It is bound.
    Found(Found),
    /// A link is on the way, or at the end.
    Link(LinkMet),
    /// It isn't bound in any tree that was asked.
    Absent(Absence),
    /// Nobody had it, and somebody was silent.
    Unknown {
        /// Who answered.
        answered: Vec<Arc<str>>,
        /// Who did not.
        silent: Vec<Arc<str>>,
    },
    /// It could not be looked up.
    Fault(Fault),
}

/// How a name is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    /// The node in whose tree something on the way is no context, if any.
    pub not_context: Option<Arc<str>>,
    /// How far the node's own trees resolved the name.
    pub resolved: Name,
    /// What remained.
    pub remaining: Name,
}

impl Absence {
    /// Both trees said no: "not a context" says more than "not found", and the longer way more than the shorter.
    pub fn and(self, other: Self) -> Self {
        let keep_first = match (&self.not_context, &other.not_context) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => self.resolved.len() >= other.resolved.len(),
        };
        if keep_first { self } else { other }
    }

    /// As an error.
    pub fn into_fault(self) -> Fault {
        let (kind, message) = match &self.not_context {
            Some(node) => (ErrorKind::NotContext, format!("something on the way is not a context (in a tree of node {node})")),
            None => (ErrorKind::NameNotFound, "no such name".to_owned()),
        };
        Fault {
            resolved_name: Some(self.resolved.to_string()),
            remaining_name: Some(self.remaining.to_string()),
            ..fault::fault(kind, CompletionStatus::Yes, message)
        }
    }
}

impl Told {
    /// As the reply to one lookup.
    pub fn into_reply(self) -> Reply {
        Reply::Failed(match self {
            Self::Found(found) => return Reply::Done(Answer::Found(found)),
            Self::Link(link) => return Reply::Done(Answer::Link(link)),
            Self::Absent(absence) => absence.into_fault(),
            Self::Unknown { answered, silent } => fault::silence(answered, silent, Vec::new()),
            Self::Fault(fault) => fault,
        })
    }

    /// As one answer among many.
    pub fn into_item(self) -> ManyItem {
        match self {
            Self::Found(found) => ManyItem::Found(found),
            Self::Link(link) => ManyItem::Link(link),
            Self::Absent(absence) => ManyItem::Absent { not_context: absence.not_context.is_some() },
            Self::Unknown { answered, silent } => ManyItem::Unknown { answered, silent },
            Self::Fault(fault) => ManyItem::Fault(Box::new(fault)),
        }
    }

    /// About how many bytes it takes in a frame.
    pub fn size(&self) -> usize {
        /// Names of nodes, a version, lengths.
        const AROUND: usize = 128;
        match self {
            Self::Found(found) => AROUND + content_size(found),
            Self::Link(link) => AROUND + link.at.len() + link.target.len() + link.rest.len() + content_size(&link.found),
            _ => AROUND,
        }
    }
}

fn content_size(found: &Found) -> usize {
    let metadata = found.content.instance.as_ref().map_or(0, |instance| instance.metadata.len());
    found.content.value.len() + found.content.class_name.len() + metadata
}

impl Core {
    /// What the node's own trees say of `name`: its local tree alone, or the cluster tree first for the whole cluster.
    pub fn own(&self, scope: Scope, name: &str) -> Told {
        // Most names are in one of the two trees only: how they are missing from the other is not worked out for nothing.
        if scope != Scope::Cluster || self.cluster.surely_lacks(name) {
            return self.look(&self.local, Source::Local, name);
        }
        match self.look(&self.cluster, Source::Cluster, name) {
            Told::Absent(first) => match self.look(&self.local, Source::Local, name) {
                Told::Absent(second) => Told::Absent(first.and(second)),
                told => told,
            },
            told => told,
        }
    }

    /// Whether `told` by the own trees needs no other node's word.
    pub fn is_settled(&self, scope: Scope, told: &Told) -> bool {
        scope != Scope::Cluster || !matches!(told, Told::Absent(_)) || self.is_alone()
    }

    /// What one tree says.
    pub fn look(&self, tree: &Tree, source: Source, name: &str) -> Told {
        match tree.lookup(name) {
            Lookup::Found(entry) => Told::Found(self.found(entry.content.clone(), source, Some(entry.version))),
            Lookup::Link(link) => Told::Link(self.link_met(&link, source)),
            Lookup::Missing { resolved, remaining } => Told::Absent(Absence { not_context: None, resolved, remaining }),
            Lookup::NotContext { resolved, remaining } => {
                Told::Absent(Absence { not_context: Some(Arc::clone(&self.name)), resolved, remaining })
            }
            Lookup::Invalid(error) => Told::Fault(fault::from_error(error)),
        }
    }

    /// A link of an own tree, as it is told.
    pub fn link_met(&self, link: &TreeLink, source: Source) -> LinkMet {
        LinkMet {
            at: link.at.to_string(),
            target: link.target.clone(),
            rest: link.rest.to_string(),
            found: self.found(link.entry.content.clone(), source, Some(link.entry.version)),
        }
    }

    /// A row of an own tree's listing.
    pub fn listed(&self, component: String, entry: &crate::naming::Entry, source: Source, values: bool) -> Listed {
        let mut content = entry.content.clone();
        if !values {
            content.value = bytes::Bytes::new();
        }
        Listed {
            component,
            content,
            source,
            node: Arc::clone(&self.name),
            version: Some(entry.version),
            sources: vec![(source, Arc::clone(&self.name))],
        }
    }

    fn found(&self, content: crate::naming::Content, source: Source, version: Option<Version>) -> Found {
        Found { content, source, node: Arc::clone(&self.name), version, asked: Vec::new() }
    }
}

/// The name behind a request's text.
pub fn parse(name: &str) -> Result<Name, NamingError> {
    let parsed = Name::parse(name)?;
    parsed.check_operation()?;
    Ok(parsed)
}
