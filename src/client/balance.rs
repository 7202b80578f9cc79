//! The five policies: which of the targets in good health takes the next request.
//!
//! Where requests stay with one elected target, a target that comes or comes back would get none: so some of those who elect
//! [go over](super::evening) to it, not all at once. Whom a client stays with is settled whenever its targets change or the
//! time for it comes, and not only when it calls: one that calls rarely counts as much as any other.

use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;

use crate::topology::ClusterId;

use super::config::Policy;
use super::election::{Elected, Elections, Electorate, Voter};
use super::evening::Evening;
use super::latency::Latency;
use super::roster::Roster;
use super::target::{Health, Target, TargetId};
use super::weights::Weights;

/// What a policy remembers between requests.
#[derive(Debug)]
pub(super) struct Balance {
    policy: Policy,
    /// Whose turn it was last under `round_robin`; `None` before the random start.
    last: Option<TargetId>,
    /// Whom this context elected.
    elected: Option<TargetId>,
    elections: Arc<Elections>,
    electorate: Electorate,
    /// Its vote, among those of its process.
    voter: Arc<Voter>,
    /// It votes in its electorate.
    enrolled: bool,
    weights: Weights,
    moves: u64,
    evening: Evening,
    /// Whom this context had elected when that failed.
    home: Option<TargetId>,
    /// Whom this context has left for another, though it was well.
    left: Option<TargetId>,
}

impl Balance {
    pub(super) fn new(policy: Policy, electorate: Electorate, elections: Arc<Elections>) -> Self {
        Self {
            policy,
            last: None,
            elected: None,
            elections,
            electorate,
            voter: Voter::new(),
            enrolled: false,
            weights: Weights::default(),
            moves: 0,
            evening: Evening::default(),
            home: None,
            left: None,
        }
    }

    /// The cluster's id has become known, or has changed.
    pub(super) fn joined(&mut self, cluster: ClusterId) {
        let electorate = Electorate::Id(cluster);
        if self.policy == Policy::FirstAvailableIdenticalAllProxies && self.electorate != electorate {
            self.elections.merge(&self.electorate, &electorate);
            self.enrolled = false;
        }
        self.electorate = electorate;
    }

    /// The rotation has changed, or what its targets weigh.
    pub(super) fn weigh(&mut self, rotation: &[TargetId], roster: &Roster) {
        self.weights.look(rotation, roster);
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
        self.go_over_if_due(rotation, roster, now);
        let before = self.elected;
        let picked = self.choose(rotation, tried, roster, now, rng);
        match before {
            // Where the others are is chance: all that begin see to it that they are even.
            None if self.elected.is_some() && rotation.len() > 1 => self.evening.changed(now, rng),
            Some(before) if self.elected != Some(before) && !rotation.contains(&before) => {
                // Others had to elect anew as well.
                self.evening.changed(now, rng);
                self.home = self.home.or_else(|| roster.get(before).is_some_and(is_left_by_few).then_some(before));
            }
            _ => {}
        }
        picked
    }

    /// Sees to it that whoever has elected stays with one of `rotation`, and follows those that it elects with. Nothing is
    /// elected before the first request.
    pub(super) fn settle(&mut self, rotation: &[TargetId], roster: &Roster, now: Duration, rng: &mut impl rand::Rng) {
        self.go_over_if_due(rotation, roster, now);
        if self.elected.is_some() && !rotation.is_empty() {
            self.pick(rotation, &[], roster, now, rng);
        }
    }

    /// Whom this context stays with, where servers tell how many do.
    pub(super) fn stays_with(&self) -> Option<TargetId> {
        self.elected.filter(|_| self.evening.is_told())
    }

    fn go_over_if_due(&mut self, rotation: &[TargetId], roster: &Roster, now: Duration) {
        if let Some(goal) = self.evening.take_goal(now)
            && rotation.contains(&goal)
        {
            self.go_over(goal, roster);
        }
    }

    fn choose(
        &mut self,
        rotation: &[TargetId],
        tried: &[TargetId],
        roster: &Roster,
        now: Duration,
        rng: &mut impl rand::Rng,
    ) -> Option<TargetId> {
        match self.policy {
            Policy::RoundRobin if self.weights.differ() => self.weights.next_in_turn(tried, rng),
            Policy::RoundRobin => self.next_in_turn(rotation, tried, rng),
            Policy::RandomRobin => self.draw(rotation, tried, rng),
            Policy::FirstAvailable => self.own_elected(rotation, tried, rng),
            Policy::FirstAvailableIdenticalAllProxies => self.shared_elected(rotation, tried, roster, rng),
            Policy::LeastLoaded if self.weights.differ() => self.weights.less_loaded(tried, roster, now, rng),
            Policy::LeastLoaded => less_loaded(rotation, tried, roster, now, rng),
        }
    }

    /// A target has come or come back, and there are so many now. Where lots are drawn each of those who elect goes over to
    /// it with the probability that makes all elected equally often, and those for certain who left it as it failed; a
    /// process that elects together decides together.
    pub(super) fn met<R: rand::Rng>(&mut self, newcomer: &Target, among: usize, now: Duration, rng: &mut R) {
        if self.elected.is_none() {
            return;
        }
        let (policy, elections) = (self.policy, &self.elections);
        let is_home = self.home == Some(newcomer.id);
        let wins = |rng: &mut R| match policy {
            _ if is_home => true,
            Policy::FirstAvailable => rng.random_range(0..among.max(1)) == 0,
            _ => elections.lot(&newcomer.endpoint, among) == 0,
        };
        self.evening.met(newcomer.id, wins, now, rng);
    }

    /// How often another target was elected though the one before was well.
    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    /// From now on it is told how loaded servers are when it asks.
    pub(super) fn have_looks(&mut self) {
        self.evening.have_looks();
    }

    /// When to look how loaded the servers are, or to go over.
    pub(super) fn due(&self) -> Option<Duration> {
        self.evening.due()
    }

    /// Whether to look now; tell what is seen with [`saw`](Self::saw).
    pub(super) fn look(&mut self, now: Duration, rng: &mut impl rand::Rng) -> bool {
        if !self.evening.begin_if_due(now) {
            return false;
        }
        let is_free =
            self.policy != Policy::FirstAvailableIdenticalAllProxies || self.elections.begin_look(&self.electorate, &self.voter);
        if !is_free {
            self.evening.skip(now, rng);
        }
        is_free
    }

    /// How loaded the servers are: it decides whether this context goes over, with all that elect with it.
    pub(super) fn saw(
        &mut self,
        loads: &[(TargetId, u64)],
        rotation: &[TargetId],
        roster: &Roster,
        now: Duration,
        rng: &mut impl rand::Rng,
    ) {
        let together = self.policy == Policy::FirstAvailableIdenticalAllProxies;
        let weight = if together { self.elections.end_look(&self.electorate, &self.voter) } else { 1 };
        match self.elected {
            Some(own) if loads.len() > 1 => self.evening.saw(own, weight, loads, now, rng),
            _ => self.evening.skip(now, rng),
        }
        self.go_over_if_due(rotation, roster, now);
    }

    /// Whom this context has just left for another, though it was well.
    pub(super) fn take_left(&mut self) -> Option<TargetId> {
        self.left.take()
    }

    fn go_over(&mut self, newcomer: TargetId, roster: &Roster) {
        self.home = None;
        self.left = self.elected.filter(|elected| *elected != newcomer);
        self.moves += u64::from(self.left.is_some());
        self.elected = Some(newcomer);
        if self.policy == Policy::FirstAvailableIdenticalAllProxies
            && let Some(target) = roster.get(newcomer)
        {
            let before = self.elections.elected(&self.electorate);
            self.elections.elect(&self.electorate, before.as_ref(), &described(target));
        }
    }

    /// One at random.
    fn draw(&self, rotation: &[TargetId], tried: &[TargetId], rng: &mut impl rand::Rng) -> Option<TargetId> {
        if self.weights.differ() { self.weights.draw(tried, rng) } else { draw(rotation, tried, rng) }
    }

    /// The rotation is in the order of the targets' numbers: the next is the first behind the last, whoever has come or
    /// gone meanwhile.
    fn next_in_turn(&mut self, rotation: &[TargetId], tried: &[TargetId], rng: &mut impl rand::Rng) -> Option<TargetId> {
        let Some(last) = self.last else {
            self.last = draw(rotation, tried, rng);
            return self.last;
        };
        let behind = rotation.partition_point(|id| *id <= last);
        let in_turn = rotation[behind..].iter().chain(&rotation[..behind]).copied();
        let next = in_turn.into_iter().find(|id| !tried.contains(id))?;
        self.last = Some(next);
        Some(next)
    }

    fn own_elected(&mut self, rotation: &[TargetId], tried: &[TargetId], rng: &mut impl rand::Rng) -> Option<TargetId> {
        if let Some(elected) = self.elected.filter(|id| rotation.contains(id)) {
            if !tried.contains(&elected) {
                return Some(elected);
            }
            // It's well and this one call can't use it: others still can, so nobody else is elected.
            return self.draw(rotation, tried, rng);
        }
        self.elected = self.draw(rotation, tried, rng);
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
            rotation.iter().copied().find(|id| roster.get(*id).is_some_and(|target| is_same(target, elected)))
        };
        if !self.enrolled {
            self.elections.enrol(&self.electorate, &self.voter);
            self.enrolled = true;
        }
        let before = self.elections.elected(&self.electorate);
        if let Some(found) = before.as_ref().and_then(find) {
            if let Some(left) = self.elected.filter(|own| *own != found && rotation.contains(own)) {
                // Another one of the process went over.
                self.left = Some(left);
                self.moves += 1;
            }
            self.elected = Some(found);
            return if tried.contains(&found) { self.draw(rotation, tried, rng) } else { Some(found) };
        }
        let own = |this: &mut Self, rng| this.own_elected(rotation, tried, rng);
        let chosen = match &before {
            // This context does not reach it: others do, and their choice is none of its business.
            Some(before) if !roster.iter().any(|target| is_same(target, before)) => return own(self, rng),
            // It failed.
            Some(_) => own(self, rng)?,
            // Nobody was elected here. Whom others elected, under another name of what may be the same cluster, is
            // followed where it's one of our targets: so one and the same is asked from the first call on.
            None => match self.elections.any(|elected| find(elected).is_some()).as_ref().and_then(find) {
                Some(found) if !tried.contains(&found) => found,
                _ => own(self, rng)?,
            },
        };
        self.elected = Some(chosen);
        let Some(ours) = roster.get(chosen).map(described) else { return Some(chosen) };
        let holds = self.elections.elect(&self.electorate, before.as_ref(), &ours);
        find(&holds).filter(|id| !tried.contains(id)).or(Some(chosen))
    }
}

/// Whether a target failed that those who did not call it know nothing of: no view tells of it. Where it failed as soon as
/// it was taken back it's no place to return to.
fn is_left_by_few(target: &Target) -> bool {
    target.node.is_none() && matches!(target.health, Health::Failed { failures: 1, .. })
}

fn described(target: &Target) -> Elected {
    Elected { endpoint: target.endpoint.clone(), node: target.node.map(|(id, _)| id) }
}

/// Contexts may reach one node in different ways.
fn is_same(target: &Target, elected: &Elected) -> bool {
    target.endpoint == elected.endpoint || (elected.node.is_some() && target.node.map(|(id, _)| id) == elected.node)
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

/// The power of two choices: the less loaded of two drawn at random. Where their latencies differ clearly, load is latency
/// times the length of the queue; else it is the queue alone, and the first one drawn is taken where those are equal too.
fn less_loaded(
    rotation: &[TargetId],
    tried: &[TargetId],
    roster: &Roster,
    now: Duration,
    rng: &mut impl rand::Rng,
) -> Option<TargetId> {
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
    let known = |id: TargetId| roster.get(id).and_then(|target| target.latency.at(now));
    // A newcomer counts as good as the best: it's asked as often, and soon known.
    let latency = |id| known(id).or_else(|| rotation.iter().filter_map(|id| known(*id)).min()).unwrap_or(1);
    let queue = |id| roster.get(id).map_or(u64::MAX, |target| u64::from(target.outstanding) + 1);
    let (ours, theirs) = (latency(first), latency(second));
    let (first_load, second_load) = if Latency::is_clearly_below(ours, theirs) || Latency::is_clearly_below(theirs, ours) {
        (ours.saturating_mul(queue(first)), theirs.saturating_mul(queue(second)))
    } else {
        (queue(first), queue(second))
    };
    Some(if second_load < first_load { second } else { first })
}
