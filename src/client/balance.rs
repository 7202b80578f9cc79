//! The five policies: which of the targets in good health takes the next request.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;

use crate::topology::ClusterId;

use super::config::Policy;
use super::election::{Elected, Elections, Electorate};
use super::roster::Roster;
use super::target::TargetId;

/// What a policy remembers between requests.
#[derive(Debug)]
pub(super) struct Balance {
    policy: Policy,
    /// Where `round_robin` stands; `None` before the random start.
    cursor: Option<usize>,
    /// Whom this context elected.
    elected: Option<TargetId>,
    elections: Arc<Elections>,
    electorate: Option<Electorate>,
}

impl Balance {
    pub(super) fn new(policy: Policy, cluster: Option<&str>, elections: Arc<Elections>) -> Self {
        let electorate = cluster.map(|name| Electorate::Name(name.to_owned()));
        Self { policy, cursor: None, elected: None, elections, electorate }
    }

    /// The cluster's id has become known, or has changed.
    pub(super) fn joined(&mut self, cluster: ClusterId) {
        self.electorate = Some(Electorate::Id(cluster));
    }

    /// Chooses one of `rotation` (the eligible targets) that is not in `tried`.
    pub(super) fn pick(
        &mut self,
        rotation: &[TargetId],
        tried: &[TargetId],
        roster: &Roster,
        now: Duration,
        rng: &mut impl rand::Rng,
    ) -> Option<TargetId> {
        match self.policy {
            Policy::RoundRobin => self.next_in_turn(rotation, tried, rng),
            Policy::RandomRobin => draw(rotation, tried, rng),
            Policy::FirstAvailable => self.own_elected(rotation, tried, rng),
            Policy::FirstAvailableIdenticalAllProxies => self.shared_elected(rotation, tried, roster, rng),
            Policy::LeastLoaded => less_loaded(rotation, tried, roster, now, rng),
        }
    }

    fn next_in_turn(&mut self, rotation: &[TargetId], tried: &[TargetId], rng: &mut impl rand::Rng) -> Option<TargetId> {
        if rotation.is_empty() {
            return None;
        }
        let start = self.cursor.unwrap_or_else(|| rng.random_range(0..rotation.len()));
        for step in 0..rotation.len() {
            let at = (start + step) % rotation.len();
            if !tried.contains(&rotation[at]) {
                self.cursor = Some(at + 1);
                return Some(rotation[at]);
            }
        }
        None
    }

    fn own_elected(&mut self, rotation: &[TargetId], tried: &[TargetId], rng: &mut impl rand::Rng) -> Option<TargetId> {
        if let Some(elected) = self.elected.filter(|id| rotation.contains(id)) {
            if !tried.contains(&elected) {
                return Some(elected);
            }
            // It's well and this one call can't use it: others still can, so nobody else is elected.
            return draw(rotation, tried, rng);
        }
        self.elected = draw(rotation, tried, rng);
        self.elected
    }

    fn shared_elected(
        &mut self,
        rotation: &[TargetId],
        tried: &[TargetId],
        roster: &Roster,
        rng: &mut impl rand::Rng,
    ) -> Option<TargetId> {
        let find = |elected: &Elected| {
            rotation.iter().copied().find(|id| {
                roster.get(*id).is_some_and(|t| {
                    t.endpoint == elected.endpoint || (elected.node.is_some() && t.node.map(|(id, _)| id) == elected.node)
                })
            })
        };
        let Some(electorate) = self.electorate.clone() else {
            // Which cluster this is will be known with the first answer: until then somebody else's choice among our
            // targets is followed, so that one and the same is asked from the first call on.
            if let Some(found) = self.elections.any(|elected| find(elected).is_some()).as_ref().and_then(find)
                && !tried.contains(&found)
            {
                return Some(found);
            }
            return self.own_elected(rotation, tried, rng);
        };
        let before = self.elections.elected(&electorate);
        if let Some(found) = before.as_ref().and_then(find) {
            return if tried.contains(&found) { draw(rotation, tried, rng) } else { Some(found) };
        }
        let own = self.elected.filter(|id| rotation.contains(id) && !tried.contains(id));
        let chosen = own.or_else(|| draw(rotation, tried, rng))?;
        self.elected = Some(chosen);
        let Some(described) = roster.get(chosen) else { return Some(chosen) };
        let ours = Elected { endpoint: described.endpoint.clone(), node: described.node.map(|(id, _)| id) };
        let holds = self.elections.elect(&electorate, before.as_ref(), &ours);
        find(&holds).filter(|id| !tried.contains(id)).or(Some(chosen))
    }
}

/// One of those allowed, each with equal probability.
fn draw(rotation: &[TargetId], tried: &[TargetId], rng: &mut impl rand::Rng) -> Option<TargetId> {
    if tried.is_empty() {
        return if rotation.is_empty() { None } else { Some(rotation[rng.random_range(0..rotation.len())]) };
    }
    let allowed = || rotation.iter().copied().filter(|id| !tried.contains(id));
    let count = allowed().count();
    if count == 0 { None } else { allowed().nth(rng.random_range(0..count)) }
}

/// The power of two choices: the cheaper of two drawn at random, by latency times the length of its queue. Costs within
/// a half of each other count as equal, else the fastest by a hair would take all.
fn less_loaded(
    rotation: &[TargetId],
    tried: &[TargetId],
    roster: &Roster,
    now: Duration,
    rng: &mut impl rand::Rng,
) -> Option<TargetId> {
    let cost =
        |id| roster.get(id).map_or(u64::MAX, |target| target.latency.at(now).saturating_mul(u64::from(target.outstanding) + 1));
    let first = draw(rotation, tried, rng)?;
    let second = if tried.is_empty() {
        let others = rotation.len() - 1;
        if others == 0 {
            return Some(first);
        }
        // One of the others, without listing them: the last stands in for the first.
        let drawn = rotation[rng.random_range(0..others)];
        if drawn == first { rotation[others] } else { drawn }
    } else {
        let others: Vec<TargetId> = tried.iter().copied().chain([first]).collect();
        let Some(second) = draw(rotation, &others, rng) else { return Some(first) };
        second
    };
    Some(if cost(second).saturating_mul(3) < cost(first).saturating_mul(2) { second } else { first })
}
