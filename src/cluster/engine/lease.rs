//! Leases: what is bound for a time, and goes unless its holder renews it.
//!
//! Every node knows every lease and hears of every renewal; only the owner of a name lets it go, by a write that removes
//! this version and nothing else. What proves that a holder is gone is its silence, and silence has other reasons too:
//! so all leases begin anew when this node was frozen or the view changed, and where too many would go at once they are
//! held, and that is said.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::cluster::message::Message;
use crate::cluster::reply::Reply;
use crate::cluster::request::Request;
use crate::cluster::rules::Rule;
use crate::cluster::vector::Dot;
use crate::naming::Name;

use super::request::owner_among;
use super::{Engine, HELD_SHARE, Output};

/// When leases end.
#[derive(Debug, Default)]
pub(super) struct Leases {
    ends: BTreeMap<Dot, Duration>,
    /// How many are overdue and held all the same.
    held: usize,
}

impl Engine {
    pub(super) fn renewed_here(&mut self, request: &Request, version: Dot) {
        self.renewed(&request.name, version);
        self.broadcast(&Message::Renewed { name: request.name.clone(), version });
        let receipt = self.receipt([self.id]);
        self.answer(request.operation, &Reply::Done { version: Some(version), receipt });
    }

    pub(super) fn renewed(&mut self, name: &Name, version: Dot) {
        // One of two that was not renewed would end, and take the other along as a repetition.
        for leased in self.replica.record(name).into_iter().flat_map(|record| record.leased_with(version)) {
            self.leases.ends.extend(leased.lease.map(|lease| (leased.dot, self.now + lease)));
        }
    }

    /// What was not heard proves nothing: this node stood still, or is an owner only now.
    pub(super) fn leases_begin_anew(&mut self) {
        if self.rules.hold(Rule::LeasesBeginAnew) {
            self.leases.ends.clear();
        }
    }

    /// Lets go what was not renewed, if it is this node's to do so.
    pub(super) fn expire_leases(&mut self) {
        let ends = &mut self.leases.ends;
        let mut overdue = Vec::new();
        let mut known = BTreeMap::new();
        for (dot, name, lease) in self.replica.leased() {
            let end = ends.get(&dot).copied().unwrap_or(self.now + lease);
            known.insert(dot, end);
            if end <= self.now {
                overdue.push((name.clone(), dot));
            }
        }
        *ends = known;
        overdue.retain(|(name, _)| self.is_own(name));
        if overdue.is_empty() || !self.is_ready() {
            self.say_held(0);
            return;
        }
        let all = self.replica.leased().filter(|(_, name, _)| self.is_own(name)).count();
        let too_many = overdue.len() >= self.timing.held_from && overdue.len() * 100 > all * HELD_SHARE;
        if too_many && self.rules.hold(Rule::ManyLeasesHeld) {
            self.say_held(overdue.len());
            return;
        }
        self.say_held(0);
        for (name, dot) in overdue {
            let event = self.drop_version(&name, dot);
            self.announce(event, &[name]);
        }
    }

    fn is_own(&self, name: &Name) -> bool {
        owner_among(name, &self.live) == Some(self.id) || !self.rules.hold(Rule::OwnerExpires)
    }

    fn say_held(&mut self, held: usize) {
        if std::mem::replace(&mut self.leases.held, held) != held {
            let all = self.replica.leased().filter(|(_, name, _)| self.is_own(name)).count();
            self.outputs.push(Output::LeasesHeld { overdue: held, all });
        }
    }
}
