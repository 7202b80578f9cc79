//! What the node's own trees say of a name: the lookup rule's first two steps. Nothing here waits.

use std::fmt;
use std::sync::Arc;

use crate::failure::CompletionStatus;
use crate::naming::shown::Short;
use crate::naming::{Entry, ErrorKind, Listed, Lookup, Moment, Name, NamingError, Source, Tree, TreeLink};
use crate::protocol::{Answer, Fault, Found, LinkMet, ManyItem, Reply, Scope};
use crate::topology::NodeId;

use super::fault;
use crate::server::bulletin::Bulletin;
use crate::server::core::Core;
use crate::server::peers::delegation::Reach;

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
        /// What some of those who answered have on the way to the name, if it's no context.
        not_context: Option<Name>,
    },
    /// It could not be looked up.
    Fault(Fault),
}

/// One tree of one node, as people are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which tree, as seen from the answering node.
    pub source: Source,
    /// The node in which it stands.
    pub node: Arc<str>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tree = match self.source {
            Source::Cluster => "cluster",
            Source::Local | Source::Peer => "local",
        };
        write!(f, "the {tree} tree of {}", self.node)
    }
}

/// How a name is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absence {
    /// The tree in which something on the way is no context, if any.
    pub not_context: Option<Place>,
    /// How far the name was resolved: to what is no context, or to the context that has not the next component.
    pub resolved: Name,
    /// What remained.
    pub remaining: Name,
}

impl Absence {
    /// How far it got.
    pub fn reach(&self) -> Reach {
        let resolved = u32::try_from(self.resolved.len()).unwrap_or(u32::MAX);
        Reach { not_context: self.not_context.is_some(), resolved }
    }

    /// Both trees said no: what says more.
    pub fn and(self, other: Self) -> Self {
        if self.reach() >= other.reach() { self } else { other }
    }

    /// What `peer` said of the same name: it got so far.
    pub fn by_peer(&self, peer: &Arc<str>, reach: Reach) -> Self {
        let name = self.resolved.join(&self.remaining);
        let count = usize::try_from(reach.resolved).map_or(name.len(), |count| count.min(name.len()));
        Self {
            not_context: reach.not_context.then(|| Place { source: Source::Peer, node: Arc::clone(peer) }),
            resolved: name.prefix(count),
            remaining: name.suffix(count),
        }
    }

    /// What says more: this, or what the peer said that got the furthest.
    pub fn or_by_peer(self, bulletin: &Bulletin, furthest: Option<(NodeId, Reach)>) -> Self {
        match furthest.and_then(|(id, reach)| Some(self.by_peer(bulletin.name_of(id)?, reach))) {
            Some(by_peer) => self.and(by_peer),
            None => self,
        }
    }

    /// What stands on the way and is no context.
    pub fn what_is_not_context(&self) -> Option<Name> {
        self.not_context.as_ref().map(|_| self.resolved.clone())
    }

    /// As an error.
    pub fn into_fault(self) -> Fault {
        let (kind, message) = match &self.not_context {
            Some(place) => (ErrorKind::NotContext, format!("'{}' is not a context (in {place})", Short(self.resolved.as_str()))),
            None => (ErrorKind::NameNotFound, "no such name".to_owned()),
        };
        Fault {
            resolved_name: Some(self.resolved.to_string()),
            remaining_name: Some(self.remaining.to_string()),
            ..Fault::new(kind, CompletionStatus::Yes, message)
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
            Self::Unknown { answered, silent, not_context } => {
                Fault { resolved_name: not_context.map(|name| name.to_string()), ..fault::silence(answered, silent, Vec::new()) }
            }
            Self::Fault(fault) => fault,
        })
    }

    /// As one answer among many.
    pub fn into_item(self) -> ManyItem {
        match self {
            Self::Found(Found { content, version, .. }) => ManyItem::Found { content, version },
            Self::Link(link) => ManyItem::Link(Box::new(link)),
            Self::Absent(absence) => {
                let Reach { not_context, resolved } = absence.reach();
                ManyItem::Absent { not_context, resolved }
            }
            Self::Unknown { answered, silent, .. } => ManyItem::Unknown { answered, silent },
            Self::Fault(fault) => ManyItem::Fault(Box::new(fault)),
        }
    }
}

/// What is bound at a name, not copied, and in which tree; else what is to be said.
pub type Looked = Result<(Arc<Entry>, Source), Box<Told>>;

/// A way to look a name up.
pub type Look<'a> = dyn Fn(&str) -> Looked + 'a;

/// A tree, or one moment of it.
trait LookedUp {
    fn lookup(&self, name: &str) -> Lookup;
    /// Whether it's certain, and soon known, that nothing is bound at a name or on the way to it.
    fn surely_lacks(&self, name: &str) -> bool;
}

impl LookedUp for Tree {
    fn lookup(&self, name: &str) -> Lookup {
        self.lookup(name)
    }

    fn surely_lacks(&self, name: &str) -> bool {
        self.surely_lacks(name)
    }
}

impl LookedUp for Moment {
    fn lookup(&self, name: &str) -> Lookup {
        self.lookup(name)
    }

    fn surely_lacks(&self, _: &str) -> bool {
        false
    }
}

impl Core {
    /// What the node's own trees say of `name`: its local tree alone, or the cluster tree first for the whole cluster.
    pub fn own(&self, scope: Scope, name: &str) -> Told {
        self.told(self.own_entry(scope, name))
    }

    /// The same of what was looked up.
    pub fn told(&self, looked: Looked) -> Told {
        match looked {
            Ok((entry, source)) => Told::Found(self.found(&entry, source)),
            Err(told) => *told,
        }
    }

    /// What `read` makes of the own trees: whatever it looks up in them is of one moment, so that of a rename it sees both
    /// names as they were, or both as they are.
    pub fn at_one_moment<R>(&self, scope: Scope, read: impl Fn(&Look<'_>) -> R) -> R {
        let lookup = |name: &str| self.entry_in(&*self.cluster, &*self.local, scope, name);
        // Most names are found without being read, and most moments are undisturbed.
        let quick = self.cluster.undisturbed(|| self.local.undisturbed(|| Some(read(&lookup))));
        quick.unwrap_or_else(|| {
            let (cluster, local) = (self.cluster.moment(), self.local.moment());
            read(&|name| self.entry_in(&cluster, &local, scope, name))
        })
    }

    fn own_entry(&self, scope: Scope, name: &str) -> Looked {
        self.entry_in(&*self.cluster, &*self.local, scope, name)
    }

    fn entry_in<T: LookedUp>(&self, cluster: &T, local: &T, scope: Scope, name: &str) -> Looked {
        // Most names are in one of the two trees only: how they are missing from the other is not worked out for nothing.
        if scope != Scope::Cluster || cluster.surely_lacks(name) {
            return self.entry(local, Source::Local, name);
        }
        self.entry(cluster, Source::Cluster, name).or_else(|first| match *first {
            Told::Absent(first) => self.entry(local, Source::Local, name).map_err(|second| match *second {
                Told::Absent(second) => Box::new(Told::Absent(first.and(second))),
                told => Box::new(told),
            }),
            told => Err(Box::new(told)),
        })
    }

    /// Whether `told` by the own trees needs no other node's word.
    pub fn is_settled(&self, scope: Scope, told: &Told) -> bool {
        scope != Scope::Cluster || !matches!(told, Told::Absent(_)) || self.is_alone()
    }

    /// What one tree says.
    pub fn look(&self, tree: &Tree, source: Source, name: &str) -> Told {
        self.told(self.entry(tree, source, name))
    }

    fn entry(&self, tree: &impl LookedUp, source: Source, name: &str) -> Looked {
        Err(Box::new(match tree.lookup(name) {
            Lookup::Found(entry) => return Ok((entry, source)),
            Lookup::Link(link) => Told::Link(self.link_met(&link, source)),
            Lookup::Missing { resolved, remaining } => Told::Absent(Absence { not_context: None, resolved, remaining }),
            Lookup::NotContext { resolved, remaining } => {
                let place = Place { source, node: Arc::clone(&self.name) };
                Told::Absent(Absence { not_context: Some(place), resolved, remaining })
            }
            Lookup::Invalid(error) => Told::Fault(fault::from_error(error)),
        }))
    }

    /// A link of an own tree, as it is told.
    pub fn link_met(&self, link: &TreeLink, source: Source) -> LinkMet {
        LinkMet {
            at: link.at.to_string(),
            target: link.target.clone(),
            rest: link.rest.to_string(),
            found: self.found(&link.entry, source),
        }
    }

    /// A row of an own tree's listing.
    pub fn listed(&self, component: String, entry: &Entry, source: Source, values: bool) -> Listed {
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

    fn found(&self, entry: &Entry, source: Source) -> Found {
        let (content, version) = (entry.content.clone(), Some(entry.version));
        Found { content, source, node: Arc::clone(&self.name), version, asked: Vec::new() }
    }
}

/// The name behind a request's text.
pub fn parse(name: &str) -> Result<Name, NamingError> {
    let parsed = Name::parse(name)?;
    parsed.check_operation()?;
    Ok(parsed)
}
