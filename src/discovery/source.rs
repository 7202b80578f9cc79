//! Where servers are to be found, and what a source says of that.
//!
//! A *source* is whatever lists servers: a list that was given, a name in DNS, a service's registered instances, the
//! nodes of a network. Each is asked a [`Question`] and gives an [`Answer`], and all obey one rule, so that a further kind
//! is a further question and nothing else:
//!
//! 1. **An answer is the whole list**, never a difference. What came and what went is found out in one place, where the
//!    lists of all sources are merged, so that no source can be out of step with what is remembered of it.
//! 2. **Whoever is asked may answer any number of times**: once, like DNS, or whenever his list changes, like a browser of
//!    multicast announcements. An answer says how long it is good; one that is good until further notice (`None`) says
//!    that its source goes on telling by itself, and is not asked again.
//! 3. **No answer, or an empty one, removes nothing.** It is reported and the question is put again after a backoff: who
//!    keeps the list may be in trouble while the servers on it are well. This holds for the end of a stream, too.
//! 4. **When to ask is decided by an engine** ([`Inquiry`](super::inquiry::Inquiry)), which has no clock; whoever drives it
//!    asks and tells it what came. A place on an answer may itself have to be asked for (the target of an SRV record is a
//!    host name): it is a question of its own, with its own freshness.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::topology::Endpoint;

use super::neighbourhood::Neighbourhood;

/// Where servers are to be found, as users and records spell it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// An address, or a host name that stands for all its addresses.
    Host(Endpoint),
    /// All that the SRV records of this name list.
    Services(Arc<str>),
    /// All nodes of a cluster that announce themselves by multicast.
    Multicast(Neighbourhood),
}

impl From<Endpoint> for Source {
    fn from(endpoint: Endpoint) -> Self {
        Self::Host(endpoint)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(endpoint) => endpoint.fmt(f),
            Self::Services(name) => name.fmt(f),
            Self::Multicast(neighbourhood) => neighbourhood.fmt(f),
        }
    }
}

impl Source {
    /// What has to be asked to know the servers; `None` for an address.
    pub fn question(&self) -> Option<Question> {
        match self {
            Self::Host(endpoint) if endpoint.is_literal() => None,
            Self::Host(endpoint) => Some(Question::Addresses(endpoint.clone())),
            Self::Services(name) => Some(Question::Services(Arc::clone(name))),
            Self::Multicast(neighbourhood) => Some(Question::Multicast(neighbourhood.clone())),
        }
    }
}

/// What a source is asked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// All addresses of a host name, for one port.
    Addresses(Endpoint),
    /// The SRV records of a name.
    Services(Arc<str>),
    /// The nodes of a cluster that announce themselves. It is answered whenever they are others.
    Multicast(Neighbourhood),
    /// A list that somebody else keeps, who is known to whoever drives the engine; this is how people call it.
    List(Arc<str>),
}

impl Question {
    /// Whose answer is wanted: the name as it was given.
    pub fn subject(&self) -> String {
        match self {
            Self::Addresses(endpoint) => endpoint.to_string(),
            Self::Services(name) | Self::List(name) => name.to_string(),
            Self::Multicast(neighbourhood) => neighbourhood.to_string(),
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Addresses(endpoint) => write!(f, "the addresses (A, AAAA) of {}", endpoint.host()),
            Self::Services(name) => write!(f, "the servers (SRV) of {name}"),
            Self::Multicast(of) => write!(f, "the nodes of cluster {} that announce themselves", of.cluster),
            Self::List(name) => name.fmt(f),
        }
    }
}

/// Which answers will do that somebody of this process was given before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// Any good one to somebody who took any as well.
    Any,
    /// One that is less than a second old: nobody waits.
    Recent,
    /// None. Where the last asking is less than a second ago, it's waited for that.
    New,
}

/// A server, or several behind one name, that a list has on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where it is; each address of a host name is a server of its own.
    pub source: Source,
    /// Those with the lowest number are used as long as one of them is well.
    pub priority: u16,
    /// Its share of the requests relative to the others'.
    pub weight: f64,
    /// What list it is on.
    pub origin: Origin,
}

impl Place {
    /// One of many alike.
    pub fn new(source: impl Into<Source>, origin: Origin) -> Self {
        Self { source: source.into(), priority: 0, weight: 1.0, origin }
    }
}

/// Where a server is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The list that was given.
    Provider,
    /// The addresses of a host name.
    Dns,
    /// The SRV records of a name.
    Srv,
    /// What a node announced by multicast.
    Mdns,
    /// A view that a server pushed.
    View,
    /// The addresses of a reference that was looked up.
    Reference,
    /// The registered instances of a service.
    Service,
}

impl Origin {
    /// The word shown to people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Dns => "dns",
            Self::Srv => "srv",
            Self::Mdns => "mdns",
            Self::View => "view",
            Self::Reference => "reference",
            Self::Service => "service",
        }
    }
}

/// A family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// The family of an address.
    pub fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::V4 } else { Self::V6 }
    }
}

/// What a source says: its whole list.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Whoever is on it. It's shared: many clients are given one answer.
    pub places: Arc<[Place]>,
    /// How long it is good; `None` where the source tells again by itself.
    pub good_for: Option<Duration>,
    /// More may come at once: the asking goes on, and ends with another answer.
    pub more: bool,
    /// Of these addresses nothing could be learned, and why: those that were known stay.
    pub silent_on: Option<(Family, Arc<str>)>,
    /// They were not waited for as long as they could be, as somebody waits: nothing failed, and it is asked again soon.
    pub hasty: bool,
}

impl Answer {
    /// A list that is good for so long.
    pub fn new(places: Vec<Place>, good_for: impl Into<Option<Duration>>) -> Self {
        Self { places: places.into(), good_for: good_for.into(), more: false, silent_on: None, hasty: false }
    }
}

/// The weight of each of the SRV records `(priority, weight)` beside those of its own priority, one on the average: so
/// they can stand beside places of other lists. A weight of 0 is a small one (RFC 2782).
pub fn relative_weights(records: &[(u16, u16)]) -> Vec<f64> {
    let weight = |weight: u16| if weight == 0 { 0.01 } else { f64::from(weight) };
    let of_priority = |wanted: u16| records.iter().filter(move |(priority, _)| *priority == wanted).map(|(_, w)| weight(*w));
    let mean = |priority: u16| of_priority(priority).sum::<f64>() / of_priority(priority).map(|_| 1.0).sum::<f64>();
    records.iter().map(|(priority, of)| weight(*of) / mean(*priority)).collect()
}
