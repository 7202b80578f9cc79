//! The five policies: which of the targets in good health takes the next request.
//!
//! Where requests stay with one elected target, a target that comes or comes back would get none: so each newcomer wins
//! over its fair part of those who elect, some time later and not all at once.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;

use crate::topology::ClusterId;

use super::config::Policy;
use super::election::{Elected, Elections, Electorate};
use super::evening::Evening;
use super::latency::Latency;
use super::roster::Roster;
use super::target::{Target, TargetId};
use super::weights::Weights;

/// When an electing context goes over to a newcomer: late enough not to follow one that is only flapping, and spread,
/// so that connections move a few at a time.
const GOES_OVER_AFTER: Range<Duration> = Duration::from_secs(30)..Duration::from_secs(90);

/// What a policy remembers between requests.
#[derive(Debug)]
pub(super) struct Balance {
    policy: Policy,
    /// Whose turn it was last under `round_robin`; `None` before the random start.
    last: Option<TargetId>,
    /// Whom this context elected.
    elected: Option<TargetId>,
    /// To whom it will go over, and when.
    goes_over: Option<(TargetId, Duration)>,
    elections: Arc<Elections>,
    electorate: Electorate,
    weights: Weights,
    moves: u64,
    /// `None` where nobody tells how loaded the servers are.
    evening: Option<Evening>,
    /// Whom this context has left for another, though it was well.
    left: Option<TargetId>,
}

impl Balance {
    pub(super) fn new(policy: Policy, electorate: Electorate, elections: Arc<Elections>) -> Self {
        Self {
            policy,
            last: None,
            elected: None,
            goes_over: None,
            elections,
            electorate,
            weights: Weights::default(),
            moves: 0,
            evening: None,
            left: None,
        }
    }

    /// The cluster's id has become known, or has changed.
    pub(super) fn joined(&mut self, cluster: ClusterId) {
        let electorate = Electorate::Id(cluster);
        if self.policy == Policy::FirstAvailableIdenticalAllProxies && self.electorate != electorate {
            self.elections.merge(&self.electorate, &electorate);
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
        if let Some((newcomer, _)) = self.goes_over.take_if(|(_, at)| *at <= now)
            && rotation.contains(&newcomer)
        {
            self.go_over(newcomer, roster);
        }
        let before = self.elected;
        let picked = self.choose(rotation, tried, roster, now, rng);
        if self.policy == Policy::FirstAvailable && before.is_some() && before != self.elected {
            // Others had to elect anew as well, each for itself.
            self.uneven(now, rng);
        }
        picked
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

    /// A target has come or come back, and there are so many now. Each of those who elect goes over to it with the
    /// probability that makes all elected equally often; a process that elects together decides together.
    pub(super) fn met(&mut self, newcomer: &Target, among: usize, now: Duration, rng: &mut impl rand::Rng) {
        let wins = match self.policy {
            Policy::FirstAvailable => self.elected.is_some() && rng.random_range(0..among.max(1)) == 0,
            Policy::FirstAvailableIdenticalAllProxies => {
                self.elected.is_some() && self.elections.lot(&newcomer.endpoint, among) == 0
            }
            Policy::RoundRobin | Policy::RandomRobin | Policy::LeastLoaded => false,
        };
        if self.policy == Policy::FirstAvailable && self.elected.is_some() {
            self.uneven(now, rng);
        }
        if wins {
            self.goes_over = Some((newcomer.id, now + rng.random_range(GOES_OVER_AFTER)));
        }
    }

    /// How often another target was elected though the one before was well.
    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    /// Those who elect may have become many at one server.
    fn uneven(&mut self, now: Duration, rng: &mut impl rand::Rng) {
        if let Some(evening) = &mut self.evening {
            evening.changed(now, rng);
        }
    }

    /// From now on it is told how loaded servers are when it asks.
    pub(super) fn have_looks(&mut self) {
        self.evening = Some(Evening::default());
    }

    /// When to look how loaded the servers are.
    pub(super) fn look_due(&self) -> Option<Duration> {
        self.evening.as_ref()?.due()
    }

    /// Whether to look now; tell what is seen with [`saw`](Self::saw).
    pub(super) fn look(&mut self, now: Duration) -> bool {
        self.evening.as_mut().is_some_and(|evening| evening.begin_if_due(now))
    }

    /// How loaded the servers are: it decides who goes over, and chance alone no longer does.
    pub(super) fn saw(&mut self, loads: &[(TargetId, u64)], now: Duration, rng: &mut impl rand::Rng) {
        if let Some(own) = self.elected.filter(|_| loads.len() > 1)
            && let Some(evening) = &mut self.evening
        {
            self.goes_over = evening.saw(own, loads, now, rng).map(|goal| (goal, now));
        }
    }

    /// Whom this context has just left for another, though it was well.
    pub(super) fn take_left(&mut self) -> Option<TargetId> {
        self.left.take()
    }

    fn go_over(&mut self, newcomer: TargetId, roster: &Roster) {
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
        let before = self.elections.elected(&self.electorate);
        if let Some(found) = before.as_ref().and_then(find) {
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
