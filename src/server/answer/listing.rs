//! Listings: a context's names out of one tree, or out of the cluster tree and all local trees.
//!
//! The listed name is found by the lookup rule: the first tree, in the rule's order, in which the name is a context or
//! a link decides. A link is answered as a link; else all trees in which the name is a context are merged, and those in
//! which it is something else, or nothing, are passed over. Where a node is silent the listing fails and carries what
//! was gathered: a caller must never take silence for absence.

use std::sync::Arc;

use tokio::time::Instant;

use crate::naming::{Change, ErrorKind, Name, Source, Tree};
use crate::protocol::{Answer, Fault, LinkMet, Operation, Page, PageRequest, Reply, Scope, TreeChoice};

use super::fault;
use super::merge::{PAGE_BYTES, Part, merge, row_size};
use super::own::{Absence, Place, parse};
use crate::server::core::Core;
use crate::server::peers::ask_all;
use crate::server::peers::delegation::patience;

/// Rows of one page at most.
pub const PAGE_ROWS: u32 = 1000;

/// What one tree says of the listed name.
#[derive(Debug)]
pub enum Listing {
    /// It is a context.
    Page(Page),
    /// A link is on the way, or at the end.
    Link(LinkMet),
    /// It is no context, or isn't there.
    Absent(Absence),
    /// It could not be listed.
    Fault(Fault),
}

/// What all trees say of the listed name, in the order of the lookup rule.
#[derive(Debug, Default)]
pub struct Gathered {
    /// What each said.
    pub listings: Vec<(Source, Arc<str>, Listing)>,
    /// The nodes that answered.
    pub answered: Vec<Arc<str>>,
    /// The nodes that did not.
    pub silent: Vec<Arc<str>>,
}

/// The trees in which the listed name is a context.
#[derive(Debug)]
pub enum Contexts {
    /// These, in the order of the lookup rule.
    Parts(Vec<Part>),
    /// None; or a link decided; or an error ended it.
    Reply(Box<Reply>),
}

impl Core {
    /// A page, where the own trees suffice.
    pub fn list_now(&self, scope: Scope, request: &PageRequest) -> Option<Reply> {
        let cluster = (&*self.cluster, Source::Cluster);
        let local = (&*self.local, Source::Local);
        if scope == Scope::Local && request.tree == TreeChoice::Cluster {
            return Some(Reply::Failed(fault::not_supported(
                "a local context lists its own tree only; list the cluster tree through an HA context",
            )));
        }
        let trees: &[(&Tree, Source)] = match request.tree {
            _ if scope != Scope::Cluster => &[local],
            TreeChoice::Cluster => &[cluster],
            _ if !self.is_alone() => return None,
            TreeChoice::Local => &[local],
            TreeChoice::All => &[cluster, local],
        };
        let gathered = self.list_own(trees, request);
        Some(gathered.into_page(page_limit(request)))
    }

    /// A page out of all trees.
    pub async fn list(self: Arc<Self>, request: PageRequest, deadline: Instant) -> Reply {
        let limit = page_limit(&request);
        self.gather(&request, deadline).await.into_page(limit)
    }

    /// What all trees say of the listed name.
    pub async fn gather(&self, request: &PageRequest, deadline: Instant) -> Gathered {
        let cluster = (&*self.cluster, Source::Cluster);
        let local = (&*self.local, Source::Local);
        let own: &[(&Tree, Source)] = match request.tree {
            TreeChoice::Cluster => &[cluster],
            TreeChoice::Local => &[local],
            TreeChoice::All => &[cluster, local],
        };
        let mut gathered = self.list_own(own, request);
        if request.tree == TreeChoice::Cluster || gathered.decided_early() {
            return gathered;
        }
        let operation = Operation::List(PageRequest { tree: TreeChoice::Local, ..request.clone() });
        for (peer, told) in ask_all(&self.peers, &self.bulletins, &operation, until(deadline)).await {
            match told {
                Some(reply) => {
                    gathered.answered.push(Arc::clone(&peer.name));
                    let listing = heard(reply, &peer.name, &request.name);
                    gathered.listings.push((Source::Peer, peer.name, listing));
                }
                None => gathered.silent.push(peer.name),
            }
        }
        gathered
    }

    fn list_own(&self, trees: &[(&Tree, Source)], request: &PageRequest) -> Gathered {
        let listings =
            trees.iter().map(|(tree, source)| (*source, Arc::clone(&self.name), self.list_tree(tree, *source, request)));
        Gathered { listings: listings.collect(), answered: vec![Arc::clone(&self.name)], silent: Vec::new() }
    }

    fn list_tree(&self, tree: &Tree, source: Source, request: &PageRequest) -> Listing {
        let limit = page_limit(request);
        let listed = parse(&request.name).and_then(|name| tree.list(&name, request.after.as_deref(), limit));
        let page = match listed {
            Ok(Change::Done(page)) => page,
            Ok(Change::Link(link)) => return Listing::Link(self.link_met(&link, source)),
            Err(error) => {
                let place = Place { source, node: Arc::clone(&self.name) };
                return absent_or_fault(fault::from_error(error), place, &request.name);
            }
        };
        let mut entries = Vec::with_capacity(page.rows.len());
        let mut room = PAGE_BYTES;
        let mut more = page.more;
        for (component, entry) in page.rows {
            let row = self.listed(component, &entry, source, request.values);
            let size = row_size(&row);
            if room < size && !entries.is_empty() {
                more = true;
                break;
            }
            room = room.saturating_sub(size);
            entries.push(row);
        }
        Listing::Page(Page { entries, more })
    }
}

impl Gathered {
    /// The contexts to merge, or what is answered instead.
    pub fn into_contexts(self) -> (Contexts, Silence) {
        let silence = Silence { answered: self.answered, silent: self.silent };
        let mut parts = Vec::new();
        let mut absence: Option<Absence> = None;
        for (source, node, listing) in self.listings {
            match listing {
                Listing::Page(Page { entries: rows, more }) => parts.push(Part { source, node, rows, more }),
                Listing::Link(link) if parts.is_empty() => {
                    return (
                        Contexts::Reply(Box::new(Reply::Done(Answer::Link(seen_as(link, source, node))))),
                        Silence::default(),
                    );
                }
                Listing::Link(_) => {}
                Listing::Absent(next) => {
                    absence = Some(match absence {
                        Some(first) => first.and(next),
                        None => next,
                    });
                }
                Listing::Fault(fault) => return (Contexts::Reply(Box::new(Reply::Failed(fault))), Silence::default()),
            }
        }
        match absence {
            Some(absence) if parts.is_empty() => (Contexts::Reply(Box::new(Reply::Failed(absence.into_fault()))), silence),
            _ => (Contexts::Parts(parts), silence),
        }
    }

    /// The own trees alone settle it: a link comes first, or an error.
    fn decided_early(&self) -> bool {
        let first = self.listings.iter().find(|(_, _, listing)| !matches!(listing, Listing::Absent(_)));
        matches!(first, Some((_, _, Listing::Link(_) | Listing::Fault(_))))
    }

    fn into_page(self, limit: usize) -> Reply {
        match self.into_contexts() {
            (Contexts::Parts(parts), silence) if silence.silent.is_empty() => Reply::Done(Answer::Page(merge(parts, limit))),
            (Contexts::Parts(parts), silence) => Reply::Failed(silence.into_fault(merge(parts, limit))),
            (Contexts::Reply(reply), silence) if silence.silent.is_empty() => *reply,
            (Contexts::Reply(_), silence) => Reply::Failed(silence.into_fault(Page { entries: Vec::new(), more: false })),
        }
    }
}

/// Who answered and who did not.
#[derive(Debug, Default)]
pub struct Silence {
    /// The nodes that answered.
    pub answered: Vec<Arc<str>>,
    /// The nodes that did not.
    pub silent: Vec<Arc<str>>,
}

impl Silence {
    /// The error of a listing, with what it had gathered.
    pub fn into_fault(self, partial: Page) -> Fault {
        fault::silence(self.answered, self.silent, partial.entries)
    }
}

/// Until when all nodes are asked for one page, or one name, of a request whose sender gives up at `deadline`.
pub fn until(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + patience(deadline.saturating_duration_since(now))
}

fn page_limit(request: &PageRequest) -> usize {
    usize::try_from(request.limit.clamp(1, PAGE_ROWS)).unwrap_or(1)
}

/// What a peer's reply says.
fn heard(reply: Reply, peer: &Arc<str>, name: &str) -> Listing {
    match reply {
        Reply::Done(Answer::Page(page)) => Listing::Page(page),
        Reply::Done(Answer::Link(link)) => Listing::Link(link),
        Reply::Done(_) | Reply::Stale(_) => {
            Listing::Fault(fault::internal(format!("node {peer} answered something else than a listing")))
        }
        Reply::Failed(fault) => absent_or_fault(fault, Place { source: Source::Peer, node: Arc::clone(peer) }, name),
    }
}

fn absent_or_fault(fault: Fault, place: Place, name: &str) -> Listing {
    let not_context = match ErrorKind::from_code(fault.code) {
        ErrorKind::NameNotFound => None,
        ErrorKind::NotContext => Some(place),
        _ => return Listing::Fault(fault),
    };
    let part = |text: Option<&String>, otherwise: &str| {
        Name::parse(text.map_or(otherwise, String::as_str)).unwrap_or_else(|_| Name::empty())
    };
    Listing::Absent(Absence {
        not_context,
        resolved: part(fault.resolved_name.as_ref(), ""),
        remaining: part(fault.remaining_name.as_ref(), name),
    })
}

/// A link as it is seen from the node that was asked.
fn seen_as(mut link: LinkMet, source: Source, node: Arc<str>) -> LinkMet {
    link.found.source = source;
    link.found.node = node;
    link
}
