//! What the sources say that a fleet's targets should be.
//!
//! The list of servers is given once, or asked for again and again where somebody else keeps it ([`super::listing`]); a host name in it stands for all its addresses; the views that servers push are
//! kept one for each server that told one. Views aren't compared: what any of them lists is wanted.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::topology::{Endpoint, Member, MemberState, NodeId, View};

use super::backoff;
use super::listing::Listing;
use super::target::{Origin, TargetId};

/// How long a name's addresses are good at least before a failed target has them asked for again.
const REFRESH_AT_MOST_EVERY: Duration = Duration::from_secs(1);

/// What a fleet's network does with host names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// They are resolved, and each address is a target of its own.
    Resolved,
    /// The network dials them as they are.
    Dialled,
}

/// A server that a list names.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Where it is; each address of a host name is a target of its own.
    pub endpoint: Endpoint,
    /// Its share of the requests relative to the others'.
    pub weight: f64,
    /// What list it is.
    pub origin: Origin,
}

impl Server {
    /// One of many alike.
    pub fn new(endpoint: Endpoint, origin: Origin) -> Self {
        Self { endpoint, weight: 1.0, origin }
    }
}

/// The list of servers.
#[derive(Clone, Debug, PartialEq)]
pub enum Servers {
    /// This one, for good.
    Fixed(Vec<Server>),
    /// One that is asked for in the background; this is how people call it.
    Followed(Arc<str>),
}

/// A target that some source wants.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) endpoint: Endpoint,
    pub(super) hostname: Arc<str>,
    pub(super) origin: Origin,
    pub(super) weight: f64,
    pub(super) member: Option<Arc<Member>>,
}

/// A host name and what is known of its addresses.
#[derive(Debug)]
struct Host {
    name: Endpoint,
    addresses: Vec<SocketAddr>,
    /// What the last resolution said, where it failed.
    failed: Option<String>,
    failures: u32,
    resolving: bool,
    due: Option<Duration>,
    asked: Duration,
}

/// A view, and who told it.
#[derive(Debug)]
struct Told {
    teller: TargetId,
    view: Arc<View>,
}

#[derive(Debug)]
pub(super) struct Sources {
    names: Names,
    servers: Vec<Server>,
    /// Where the list is asked for.
    listing: Option<Listing>,
    hosts: Vec<Host>,
    /// The newest last.
    told: Vec<Told>,
}

impl Sources {
    pub(super) fn new(names: Names, servers: Servers) -> Self {
        let (servers, listing) = match servers {
            Servers::Fixed(servers) => (servers, None),
            Servers::Followed(name) => (Vec::new(), Some(Listing::new(name))),
        };
        let mut sources = Self { names, servers: Vec::new(), listing, hosts: Vec::new(), told: Vec::new() };
        sources.list(servers);
        sources
    }

    /// The list of servers is this one from now on.
    fn list(&mut self, servers: Vec<Server>) {
        for server in &servers {
            self.meet(&server.endpoint);
        }
        self.servers = servers;
        self.forget_hosts();
    }

    /// Whether to ask for the list of servers now; tell the outcome with [`listed`](Self::listed).
    pub(super) fn listing_due(&mut self, now: Duration) -> bool {
        self.listing.as_mut().is_some_and(|listing| listing.begin_if_due(now))
    }

    /// What came of asking for the list of servers.
    pub(super) fn listed(&mut self, outcome: Result<Vec<Server>, String>, now: Duration, rng: &mut impl rand::Rng) {
        if let Some(servers) = self.listing.as_mut().and_then(|listing| listing.take(outcome, now, rng)) {
            self.list(servers);
        }
    }

    /// Takes up a host name that has to be resolved.
    fn meet(&mut self, endpoint: &Endpoint) {
        let known = endpoint.socket_addr().is_some() || self.hosts.iter().any(|host| host.name == *endpoint);
        if self.names == Names::Resolved && !known {
            self.hosts.push(Host {
                name: endpoint.clone(),
                addresses: Vec::new(),
                failed: None,
                failures: 0,
                resolving: false,
                due: Some(Duration::ZERO),
                asked: Duration::ZERO,
            });
        }
    }

    /// Keeps the view that `teller` told. Gives `false` where that is what it had told before.
    pub(super) fn tell(&mut self, teller: TargetId, view: &View) -> bool {
        let before = self.told.iter().position(|told| told.teller == teller);
        if let Some(at) = before {
            if self.told[at].view.id() == view.id() {
                return false;
            }
            self.told.remove(at);
        }
        for member in view.members() {
            self.meet(&member.endpoint);
        }
        self.told.push(Told { teller, view: Arc::new(view.clone()) });
        self.forget_hosts();
        true
    }

    /// Forgets the views of those for whom `stale` holds, unless no other view would be left: a client that has lost
    /// touch with all servers still knows where they were. Gives whether anything changed.
    pub(super) fn retire(&mut self, stale: impl Fn(TargetId) -> bool) -> bool {
        let before = self.told.len();
        if self.told.iter().any(|told| !stale(told.teller)) {
            self.told.retain(|told| !stale(told.teller));
        }
        self.forget_hosts();
        before != self.told.len()
    }

    /// Forgets host names that nobody lists any longer.
    fn forget_hosts(&mut self) {
        let (servers, told) = (&self.servers, &self.told);
        self.hosts.retain(|host| {
            let is_member = |told: &Told| told.view.members().iter().any(|member| member.endpoint == host.name);
            servers.iter().any(|server| server.endpoint == host.name) || told.iter().any(is_member)
        });
    }

    /// The newest view.
    pub(super) fn view(&self) -> Option<&Arc<View>> {
        self.told.last().map(|told| &told.view)
    }

    /// The member that the newest view to know this incarnation tells.
    pub(super) fn member(&self, id: NodeId) -> Option<&Member> {
        self.told.iter().rev().find_map(|told| told.view.member(id))
    }

    /// All that is wanted, the provider list's first. A member that is joining is not: servers don't give it to clients.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        let mut wanted: Vec<Wanted> = Vec::new();
        for server in &self.servers {
            self.expand(server, None, &mut wanted);
        }
        for told in self.told.iter().rev() {
            for member in told.view.members() {
                let newest = self.member(member.id).is_some_and(|newest| newest == member);
                if newest && member.state != MemberState::Joining {
                    let server = Server::new(member.endpoint.clone(), Origin::View);
                    self.expand(&server, Some(&Arc::new(member.clone())), &mut wanted);
                }
            }
        }
        wanted
    }

    fn expand(&self, server: &Server, member: Option<&Arc<Member>>, wanted: &mut Vec<Wanted>) {
        let Server { endpoint, weight, origin } = server;
        let host = self.hosts.iter().find(|host| host.name == *endpoint);
        let hostname: Arc<str> = Arc::from(endpoint.host());
        let addresses = match host {
            Some(host) => host.addresses.iter().map(|address| Endpoint::from(*address)).collect(),
            None => vec![endpoint.clone()],
        };
        for endpoint in addresses {
            match wanted.iter_mut().find(|known| known.endpoint == endpoint) {
                Some(known) => {
                    known.member = known.member.take().or_else(|| member.cloned());
                    // Listed twice, it still is one server.
                    known.weight = known.weight.max(*weight);
                }
                None => wanted.push(Wanted {
                    endpoint,
                    hostname: Arc::clone(&hostname),
                    origin: origin.clone(),
                    weight: *weight,
                    member: member.cloned(),
                }),
            }
        }
    }

    /// Host names to resolve now; each counts as being resolved until [`resolved`](Self::resolved).
    pub(super) fn resolutions_due(&mut self, now: Duration) -> Vec<Endpoint> {
        let due = self.hosts.iter_mut().filter(|host| !host.resolving && host.due.is_some_and(|at| at <= now));
        due.map(|host| {
            host.resolving = true;
            host.asked = now;
            host.name.clone()
        })
        .collect()
    }

    /// When the next host name is to be resolved, or the list of servers to be asked for.
    pub(super) fn next_due(&self) -> Option<Duration> {
        let listing = self.listing.as_ref().and_then(Listing::due);
        self.hosts.iter().filter(|host| !host.resolving).filter_map(|host| host.due).chain(listing).min()
    }

    /// What a resolution gave. A failed or empty one removes nothing and is repeated with backoff.
    pub(super) fn resolved(
        &mut self,
        name: &Endpoint,
        outcome: Result<Vec<SocketAddr>, String>,
        now: Duration,
        rng: &mut impl rand::Rng,
    ) {
        let Some(host) = self.hosts.iter_mut().find(|host| host.name == *name) else { return };
        host.resolving = false;
        match outcome {
            Ok(mut addresses) if !addresses.is_empty() => {
                addresses.sort_unstable();
                addresses.dedup();
                host.addresses = addresses;
                host.failed = None;
                host.failures = 0;
                host.due = None;
            }
            other => {
                host.failures = host.failures.saturating_add(1);
                host.failed = Some(other.err().unwrap_or_else(|| "it has no address".to_owned()));
                host.due = Some(now + backoff::delay(host.failures, rng));
            }
        }
    }

    /// A target behind `hostname` failed: its name may have other addresses by now, and the list other servers.
    pub(super) fn doubt(&mut self, hostname: &str, now: Duration) {
        for host in self.hosts.iter_mut().filter(|host| host.name.host() == hostname && host.due.is_none()) {
            host.due = Some(now.max(host.asked + REFRESH_AT_MOST_EVERY));
        }
        if let Some(listing) = &mut self.listing {
            listing.doubt(now);
        }
    }

    /// Whether the list is not known yet, or some name has no address yet and is not known to have none.
    pub(super) fn is_unsettled(&self) -> bool {
        self.listing.as_ref().is_some_and(Listing::is_unsettled)
            || self.hosts.iter().any(|host| host.addresses.is_empty() && host.failed.is_none())
    }

    /// Names without any address, and why; the list of servers too, where there is none.
    pub(super) fn unresolvable(&self) -> impl Iterator<Item = (Arc<str>, &str)> {
        let listing = self.listing.iter().filter_map(|listing| Some((Arc::clone(&listing.name), listing.missing()?)));
        let failed = |host: &'_ Host| host.failed.is_some() && host.addresses.is_empty();
        let hosts = self.hosts.iter().filter(move |host| failed(host));
        listing.chain(hosts.filter_map(|host| Some((host.name.to_string().into(), host.failed.as_deref()?))))
    }

    /// What is wrong with the list of servers, where the last answer was none.
    pub(super) fn listing_trouble(&self) -> Option<&str> {
        self.listing.as_ref()?.failed.as_deref()
    }
}
