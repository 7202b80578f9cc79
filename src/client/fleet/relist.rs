//! From what the sources say to the targets there are.
//!
//! Targets are merged by node: where two addresses lead to one node, the one that the provider list gives is kept as long
//! as it works, since it's known to be reachable from here, and an advertised address may not be.

use std::sync::Arc;
use std::time::Duration;

use crate::topology::{Endpoint, Member, NodeId};

use super::super::latency::Latency;
use super::super::session::Extent;
use super::super::sources::Wanted;
use super::super::target::{Health, Origin, Target, TargetId};
use super::{Fleet, Only};

impl Fleet {
    /// Brings the targets in line with the sources: new ones join, those that nobody lists any longer are drained, the
    /// others are untouched.
    pub(super) fn relist(&mut self, now: Duration) {
        let mut wanted = self.sources.wanted();
        if !self.follow_views {
            wanted.retain(|wanted| wanted.origin != Origin::View);
        }
        if let Only::This(only) = &self.only {
            if wanted.iter().any(|wanted| wanted.endpoint == *only) {
                wanted.retain(|wanted| wanted.endpoint == *only);
            } else {
                self.only = Only::Whoever;
            }
        }
        let kept: Vec<&Wanted> = wanted.iter().filter(|candidate| !self.is_superseded(candidate, &wanted)).collect();
        self.relist_on_change = self.has_several_ways(&wanted);
        for wanted in &kept {
            self.enlist(wanted, now);
        }
        for target in self.roster.iter_mut() {
            let listed = kept.iter().any(|wanted| wanted.endpoint == target.endpoint);
            if target.draining == listed {
                self.revision += 1;
                self.metrics.drained += u64::from(!listed);
            }
            target.draining = !listed;
        }
        self.roster.retain(|target| !target.draining || target.outstanding > 0);
        self.heed_view(now);
        self.rotate(now);
    }

    /// Whether a better way to the same node is wanted too, and works.
    fn is_superseded(&self, candidate: &Wanted, wanted: &[Wanted]) -> bool {
        let Some(node) = self.node_behind(candidate) else { return false };
        let rank = |endpoint: &Endpoint| wanted.iter().position(|wanted| wanted.endpoint == *endpoint);
        let own = rank(&candidate.endpoint);
        self.roster.iter().any(|target| {
            target.node == Some((node, true))
                && target.health == Health::Good
                && target.endpoint != candidate.endpoint
                && rank(&target.endpoint).is_some_and(|other| Some(other) < own)
        })
    }

    /// Whether two addresses lead to one node: which of them is kept depends on their health.
    fn has_several_ways(&self, wanted: &[Wanted]) -> bool {
        let mut nodes: Vec<NodeId> = wanted.iter().filter_map(|wanted| self.node_behind(wanted)).collect();
        let all = nodes.len();
        nodes.sort_unstable();
        nodes.dedup();
        nodes.len() < all
    }

    fn node_behind(&self, wanted: &Wanted) -> Option<NodeId> {
        let told = self.roster.iter().find(|target| target.endpoint == wanted.endpoint).and_then(|target| target.node);
        match (told, &wanted.member) {
            (Some((node, true)), None) => Some(node),
            (_, Some(member)) => Some(member.id),
            (told, None) => told.map(|(node, _)| node),
        }
    }

    /// Makes the target that is wanted, where there is none.
    fn enlist(&mut self, wanted: &Wanted, now: Duration) {
        if let Some(target) = self.roster.iter_mut().find(|target| target.endpoint == wanted.endpoint) {
            target.hostname = Arc::clone(&wanted.hostname);
            target.origin = wanted.origin;
            target.priority = wanted.priority;
            target.weight = wanted.weight;
            target.asked.clone_from(&wanted.asked);
            if let Some(member) = &wanted.member
                && target.node.map(|(id, _)| id) != Some(member.id)
            {
                // A new incarnation at an address that is known: whatever was known of the old one is void.
                target.node = Some((member.id, false));
                target.node_name = Some(member.name.as_str().into());
                hasten(target, now);
            }
            return;
        }
        let id = TargetId(self.next_id);
        self.next_id += 1;
        self.revision += 1;
        self.metrics.joined += 1;
        self.roster.push(new_target(id, wanted, now));
    }

    /// Takes the states that views tell, and leaves out whom the views have dropped.
    fn heed_view(&mut self, now: Duration) {
        let sources = &self.sources;
        let mut dropped = Vec::new();
        for target in self.roster.iter_mut() {
            let Some((node, _)) = target.node else { continue };
            match sources.member(node) {
                Some(member) => {
                    let before = target.announced.replace(member.state);
                    if before != target.announced {
                        hasten(target, now);
                    }
                }
                None if target.announced.take().is_some() && !target.draining => dropped.push(target.id),
                None => {}
            }
        }
        for id in dropped {
            // It has left, or was found dead. A probe decides, not somebody's call.
            if self.roster.get(id).is_some_and(|target| matches!(target.health, Health::Good | Health::Untried)) {
                self.fail(id, now, now);
            }
        }
    }

    /// Lists anew the targets that get requests: those in good health, of the first priority that has one.
    pub(super) fn rotate(&mut self, now: Duration) {
        let first = self.roster.iter().filter(|target| target.is_eligible()).map(|target| target.priority).min();
        let eligible = self.roster.iter().filter(|target| target.is_eligible() && Some(target.priority) == first);
        let before = std::mem::replace(&mut self.rotation, eligible.map(|target| target.id).collect());
        self.balance.weigh(&self.rotation, &self.roster);
        for id in self.rotation.iter().filter(|id| !before.contains(id)) {
            if let Some(newcomer) = self.roster.get(*id) {
                self.balance.met(newcomer, self.rotation.len(), now, &mut self.rng);
            }
        }
        self.settle(now);
    }
}

/// There is news of a target that is left out: it's due for a probe at once.
fn hasten(target: &mut Target, now: Duration) {
    match &mut target.health {
        Health::Failed { probe_at, .. } | Health::Refusing { probe_at, .. } | Health::Unproven { probe_at } => {
            *probe_at = now.min(*probe_at);
        }
        Health::Untried | Health::Good => {}
    }
}

fn new_target(id: TargetId, wanted: &Wanted, now: Duration) -> Target {
    let member: Option<&Member> = wanted.member.as_deref();
    // Anybody on the network can announce anything; a view is what a node that was greeted says.
    let is_hearsay = wanted.origin == Origin::Mdns && member.is_none();
    Target {
        id,
        address: wanted.endpoint.socket_addr(),
        label: Arc::from(wanted.endpoint.to_string()),
        endpoint: wanted.endpoint.clone(),
        hostname: Arc::clone(&wanted.hostname),
        origin: wanted.origin,
        priority: wanted.priority,
        weight: wanted.weight,
        asked: wanted.asked.clone(),
        since: now,
        node: member.map(|member| (member.id, false)),
        node_name: member.map(|member| member.name.as_str().into()),
        announced: member.map(|member| member.state),
        health: if is_hearsay { Health::Unproven { probe_at: now } } else { Health::Untried },
        draining: false,
        left: false,
        outstanding: 0,
        sent: 0,
        doubts: 0,
        misses: 0,
        probing: false,
        heard: now,
        answered: None,
        extent: Extent::default(),
        latency: Latency::default(),
    }
}
