//! Shares: where targets have different weights, each gets requests in proportion to its own.
//!
//! In turn, it's the smooth way: each turn adds to a target's credit what it weighs, the one with the most credit is
//! taken and pays what all weigh together. So a heavy target's turns are spread among the others' and don't come in a
//! row. Where all weigh the same, nothing of this is done.

use std::time::Duration;

use rand::RngExt as _;

use super::latency::Latency;
use super::roster::Roster;
use super::target::TargetId;

/// What the targets weigh, and who is to be served how much.
#[derive(Debug, Default)]
pub(super) struct Weights {
    /// Their weights, where these differ; empty where they do not.
    uneven: Vec<(TargetId, f64)>,
    credits: Vec<(TargetId, f64)>,
}

impl Weights {
    /// The rotation has changed, or what its targets weigh.
    pub(super) fn look(&mut self, rotation: &[TargetId], roster: &Roster) {
        let weight = |id: &TargetId| roster.get(*id).map_or(1.0, |target| target.weight);
        let first = rotation.first().map_or(1.0, weight);
        self.uneven.clear();
        #[expect(clippy::float_cmp, reason = "equal weights are equal bit by bit; all others are weighed")]
        if rotation.iter().any(|id| weight(id) != first) {
            self.uneven.extend(rotation.iter().map(|id| (*id, weight(id))));
        }
        let uneven = &self.uneven;
        self.credits.retain(|(id, _)| uneven.iter().any(|(known, _)| known == id));
    }

    /// Whether weights differ.
    pub(super) fn differ(&self) -> bool {
        !self.uneven.is_empty()
    }

    fn of(&self, id: TargetId) -> f64 {
        self.uneven.iter().find(|(known, _)| *known == id).map_or(1.0, |(_, weight)| *weight)
    }

    fn allowed<'a>(&'a self, tried: &'a [TargetId]) -> impl Iterator<Item = (TargetId, f64)> + 'a {
        self.uneven.iter().copied().filter(|(id, _)| !tried.contains(id))
    }

    /// Whose turn it is.
    pub(super) fn next_in_turn(&mut self, tried: &[TargetId], rng: &mut impl rand::Rng) -> Option<TargetId> {
        let allowed: Vec<(TargetId, f64)> = self.allowed(tried).collect();
        let total: f64 = allowed.iter().map(|(_, weight)| weight).sum();
        let mut best: Option<(TargetId, f64)> = None;
        for (id, weight) in allowed {
            let credit = if let Some((_, credit)) = self.credits.iter_mut().find(|(known, _)| *known == id) {
                *credit += weight;
                *credit
            } else {
                // A random start, so that many clients of the same servers don't begin with the same one.
                let credit = weight * rng.random_range(0.0..1.0);
                self.credits.push((id, credit));
                credit
            };
            if best.is_none_or(|(_, most)| credit > most) {
                best = Some((id, credit));
            }
        }
        let (chosen, _) = best?;
        if let Some((_, credit)) = self.credits.iter_mut().find(|(id, _)| *id == chosen) {
            *credit -= total;
        }
        Some(chosen)
    }

    /// One drawn at random, each with a probability in proportion to its weight.
    pub(super) fn draw(&self, tried: &[TargetId], rng: &mut impl rand::Rng) -> Option<TargetId> {
        let total: f64 = self.allowed(tried).map(|(_, weight)| weight).sum();
        let mut left = total * rng.random_range(0.0..1.0);
        let mut last = None;
        for (id, weight) in self.allowed(tried) {
            last = Some(id);
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        last
    }

    /// The less loaded of two drawn: by requests outstanding for what it weighs, and by latency where that differs
    /// clearly. The first one drawn is taken where nothing tells them apart.
    pub(super) fn less_loaded(
        &self,
        tried: &[TargetId],
        roster: &Roster,
        now: Duration,
        rng: &mut impl rand::Rng,
    ) -> Option<TargetId> {
        let first = self.draw(tried, rng)?;
        let others: Vec<TargetId> = tried.iter().copied().chain([first]).collect();
        let Some(second) = self.draw(&others, rng) else { return Some(first) };
        let latency = |id| roster.get(id).and_then(|target| target.latency.at(now));
        let slower = |one, other| matches!((latency(one), latency(other)), (Some(a), Some(b)) if Latency::is_clearly_below(b, a));
        let queue = |id| roster.get(id).map_or(f64::MAX, |target| f64::from(target.outstanding) / self.of(id));
        let (ours, theirs) = (queue(first), queue(second));
        let takes_second = if slower(first, second) {
            theirs <= ours
        } else if slower(second, first) {
            false
        } else {
            theirs < ours
        };
        Some(if takes_second { second } else { first })
    }
}
