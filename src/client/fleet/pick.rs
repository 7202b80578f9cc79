//! Whose turn it is: one in good health whom the policy picks, else whoever has failed the least.

use std::time::Duration;

use super::super::target::{Health, Target, TargetId};
use super::Fleet;

/// Who has no more requests of this client than this has time for one more, however few another has.
const LITTLE_TO_DO: u32 = 8;

/// Whom to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Pick {
    /// This one.
    Target(TargetId),
    /// All that are left said that they take nothing yet.
    NotYet,
    /// Nobody before then: the names of others that may be meant are about to be resolved.
    Soon(Duration),
    /// Nobody yet: host names are being resolved.
    Unsettled,
    /// Nobody is left.
    Nobody,
}

/// Whom a call may still ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Reach {
    /// Only those in good health.
    Good,
    /// Anybody, the failed and the refusing too.
    Anybody,
    /// Anybody, but those that refuse not before they said.
    Patient,
    /// The same, of those that are known now: no name is waited for.
    Known,
}

impl Fleet {
    /// Whom to ask next, of those not yet `tried`.
    pub(in crate::client) fn pick(&mut self, tried: &[TargetId], reach: Reach, now: Duration) -> Pick {
        if let Some(at) = self.chooses_at(now) {
            return Pick::Soon(at);
        }
        let due = self.balance.due();
        let picked = self.balance.pick(&self.rotation, tried, &self.roster, now, &mut self.rng);
        self.alarm |= due != self.balance.due();
        self.leave();
        if let Some(id) = picked {
            return Pick::Target(id);
        }
        if reach == Reach::Good {
            return Pick::Nobody;
        }
        let mut some_refuse = false;
        let mut best: Option<(u32, Duration, u16, TargetId)> = None;
        // A round must not be spent on what anybody may have announced.
        let some_proven = self.roster.iter().any(|target| !target.draining && !target.is_hearsay());
        let is_worth_it = |target: &&Target| !(target.draining || some_proven && target.is_hearsay());
        for target in self.roster.iter().filter(is_worth_it).filter(|target| !tried.contains(&target.id)) {
            let rank = match target.health {
                Health::Untried | Health::Unproven { .. } | Health::Good => (0, Duration::ZERO, target.priority, target.id),
                Health::Failed { failures, probe_at, .. } => (failures, probe_at, target.priority, target.id),
                Health::Refusing { probe_at, .. } if reach != Reach::Anybody && probe_at > now => {
                    some_refuse = true;
                    continue;
                }
                Health::Refusing { probe_at, .. } => (u32::MAX, probe_at, target.priority, target.id),
            };
            if best.is_none_or(|known| rank < known) {
                best = Some(rank);
            }
        }
        match best {
            Some((_, _, _, id)) => Pick::Target(id),
            None if some_refuse => Pick::NotYet,
            None if reach != Reach::Known && self.sources.is_unsettled() => Pick::Unsettled,
            None => {
                self.alarm |= self.sources.hint_all_exhausted(now);
                Pick::Nobody
            }
        }
    }

    /// All targets whose addresses are of the same family as this one's.
    pub(in crate::client) fn family_of(&self, id: TargetId) -> Vec<TargetId> {
        let is_v6 = |target: &Target| target.address.map(|address| address.is_ipv6());
        let Some(family) = self.roster.get(id).and_then(is_v6) else { return Vec::new() };
        self.roster.iter().filter(|target| is_v6(target) == Some(family)).map(|target| target.id).collect()
    }

    /// Whether a target in good health is left beside those `tried`.
    pub(in crate::client) fn has_good_beside(&self, tried: &[TargetId]) -> bool {
        self.rotation.iter().any(|id| !tried.contains(id))
    }

    /// Whether a target in good health is left beside those `tried` that would answer sooner than this one is likely to: it
    /// has little to do, or at most half as much.
    pub(in crate::client) fn has_free_beside(&self, busy: TargetId, tried: &[TargetId]) -> bool {
        let load = |id: TargetId| self.roster.get(id).map_or(0, |target| target.outstanding);
        let enough = LITTLE_TO_DO.max(load(busy) / 2);
        self.rotation.iter().any(|id| !tried.contains(id) && load(*id) <= enough)
    }

    /// Whether there is more than one target.
    pub(in crate::client) fn knows_others(&self) -> bool {
        self.roster.iter().filter(|target| !target.draining).nth(1).is_some()
    }

    /// When the first of those who refuse may be otherwise.
    pub(in crate::client) fn next_refusal_over(&self) -> Option<Duration> {
        let over = self.roster.iter().filter(|target| !target.draining).filter_map(|target| match target.health {
            Health::Refusing { probe_at, .. } => Some(probe_at),
            _ => None,
        });
        over.min()
    }
}
