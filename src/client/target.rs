//! A server as a client sees it: where it is, who it is, and whether it's well.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub use crate::discovery::Origin;
use crate::discovery::Question;
use crate::protocol::RefusalReason;
use crate::topology::{Endpoint, MemberState, NodeId};

use super::latency::Latency;
use super::session::Extent;

/// Names a target within its fleet. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u32);

/// What a target's last words, or their absence, say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// Nothing was tried yet. It counts as well.
    Untried,
    /// Somebody said that it's there, whom nobody has reason to believe: a probe finds out, and no call as long as another
    /// server is well.
    Unproven {
        /// When it is due for a probe.
        probe_at: Duration,
    },
    /// It answered.
    Good,
    /// It could not be reached, broke off or was silent. It's left out until a probe or a call succeeds.
    Failed {
        /// How many times in a row.
        failures: u32,
        /// When it failed last: what was begun before says nothing new.
        since: Duration,
        /// When it is due for a probe.
        probe_at: Duration,
    },
    /// It said that it takes no requests now.
    Refusing {
        /// Why.
        reason: RefusalReason,
        /// When it said so.
        since: Duration,
        /// When it may be otherwise.
        probe_at: Duration,
    },
}

/// A server as a client sees it.
#[derive(Clone, Debug)]
pub struct Target {
    /// Its number in the fleet.
    pub id: TargetId,
    /// What is dialled: an address, or (over networks that know names) a name.
    pub endpoint: Endpoint,
    /// The socket address, where the host is an IP literal.
    pub address: Option<SocketAddr>,
    /// The host as its source spelt it: the name behind a resolved address.
    pub hostname: Arc<str>,
    /// `host:port`, as attempts show it.
    pub label: Arc<str>,
    /// Where it's known from.
    pub origin: Origin,
    /// Requests go to those with the lowest number as long as one of them is well.
    pub priority: u16,
    /// Its share of the requests relative to the others'.
    pub weight: f64,
    /// Since when.
    pub since: Duration,
    /// Which node it is: told by the node itself (`true`) or by a view (`false`).
    pub node: Option<(NodeId, bool)>,
    /// The node's name, once known.
    pub node_name: Option<Arc<str>>,
    /// The state that a view told.
    pub announced: Option<MemberState>,
    /// Whether it's well.
    pub health: Health,
    /// No source lists it any longer: it gets no new requests, those in flight finish.
    pub draining: bool,
    /// Requests in flight.
    pub outstanding: u32,
    /// Requests sent so far.
    pub sent: u64,
    /// The questions whose answers list it.
    pub(super) asked: Vec<Question>,
    /// The client went over to another, and needs no connections here.
    pub(super) left: bool,
    /// When something was last heard from it.
    pub(super) heard: Duration,
    /// When it last answered a request or a probe.
    pub(super) answered: Option<Duration>,
    /// Failures in a row before it was taken back on trust: it has not answered since.
    pub(super) doubts: u32,
    /// Missing answers in a row that were too short-lived to call it silent.
    pub(super) misses: u32,
    /// A probe is under way.
    pub(super) probing: bool,
    /// How much it has of what the client has seen of the cluster tree.
    pub(super) extent: Extent,
    /// How long it takes to answer.
    pub(super) latency: Latency,
}

impl Target {
    /// Whether new requests go to it before all others.
    pub fn is_eligible(&self) -> bool {
        !self.draining
            && matches!(self.health, Health::Untried | Health::Good)
            && !matches!(self.announced, Some(MemberState::Joining | MemberState::Quiescing))
    }

    /// Whether it was merely announced, by whomever: nobody there has introduced itself as a node of the cluster yet.
    pub(super) fn is_hearsay(&self) -> bool {
        self.origin == Origin::Mdns && !self.node.is_some_and(|(_, by_itself)| by_itself)
    }

    /// Whether connections to it that nobody uses now are worth keeping.
    pub fn keeps_connections(&self) -> bool {
        !self.draining && !self.left && !matches!(self.health, Health::Failed { .. })
    }

    /// The word for its state shown to people.
    pub fn state(&self) -> &'static str {
        match (self.draining, self.health, self.announced) {
            (true, ..) => "draining",
            (_, Health::Failed { .. }, _) => "failed",
            (_, Health::Refusing { reason, .. }, _) => reason.as_str(),
            (_, _, Some(MemberState::Quiescing)) => "quiescing",
            (_, _, Some(MemberState::Joining)) => "joining",
            (_, Health::Untried, _) => "untried",
            (_, Health::Unproven { .. }, _) => "unproven",
            (_, Health::Good, _) => "good",
        }
    }

    /// The node's name where it's known, else `host:port`: how messages name it.
    pub fn name(&self) -> &Arc<str> {
        self.node_name.as_ref().unwrap_or(&self.label)
    }
}
