//! When one of many clients that each stay with one server goes over to another, so that the load is even.
//!
//! Nobody directs them, and none knows of the others. After a change each looks how loaded the servers are, a few times
//! and not in step with the others. One whose server has more than its part goes over with the probability that makes up
//! for most of the difference, once at most: so few go at a time, those who look later see it and stay, and none moves
//! that need not.

use std::ops::Range;
use std::time::Duration;

use rand::{Rng, RngExt as _};

use super::target::TargetId;

/// When a client looks for the first time after a change.
const FIRST_LOOK: Range<Duration> = Duration::from_millis(500)..Duration::from_millis(2500);
/// How long after one look the next one is.
const NEXT_LOOK: Range<Duration> = Duration::from_millis(800)..Duration::from_millis(1600);
/// So often it looks after a change.
const LOOKS: u32 = 6;
/// What part of the difference those who look at once make up for together.
const DAMPING: f64 = 0.7;
/// A server has more than its part where another would still have less with this client than it has.
const WORTH_MOVING: u64 = 2;

/// One client's looks after the last change.
#[derive(Debug, Default)]
pub(super) struct Evening {
    due: Option<Duration>,
    left: u32,
}

impl Evening {
    /// A server came, or this client had to elect another one.
    pub(super) fn changed(&mut self, now: Duration, rng: &mut impl Rng) {
        self.left = LOOKS;
        self.due = Some(now + rng.random_range(FIRST_LOOK));
    }

    /// When to look.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due
    }

    /// Whether to look now. What is seen is told by [`saw`](Self::saw).
    pub(super) fn begin_if_due(&mut self, now: Duration) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// How many connections each server has. Gives the one to go over to from `own`, if so.
    pub(super) fn saw(
        &mut self,
        own: TargetId,
        loads: &[(TargetId, u64)],
        now: Duration,
        rng: &mut impl Rng,
    ) -> Option<TargetId> {
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            self.due = Some(now + rng.random_range(NEXT_LOOK));
        }
        let (_, ours) = *loads.iter().find(|(id, _)| *id == own)?;
        let least = loads.iter().map(|(_, load)| *load).min()?;
        if ours < least.saturating_add(WORTH_MOVING) {
            return None;
        }
        let count = |load: u64| f64::from(u32::try_from(load).unwrap_or(u32::MAX));
        let part = loads.iter().map(|(_, load)| count(*load)).sum::<f64>() / count(loads.len() as u64);
        let goes = DAMPING * (count(ours) - part) / count(ours);
        if goes <= 0.0 || !rng.random_bool(goes) {
            return None;
        }
        // To one of those that lack something, the likelier the more it lacks.
        let lacking = |load: u64| (part - count(load)).max(0.0);
        let mut lot = rng.random_range(0.0..1.0) * loads.iter().map(|(_, load)| lacking(*load)).sum::<f64>();
        let goal = loads.iter().filter(|(_, load)| lacking(*load) > 0.0).find(|(_, load)| {
            lot -= lacking(*load);
            lot <= 0.0
        });
        let (goal, _) = goal?;
        (self.left, self.due) = (0, None);
        Some(*goal)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    use super::*;

    /// So many clients on each of the servers look as they do; how many there are on each after ten seconds, and how many
    /// moved.
    fn after_ten_seconds(clients: &[u32], seed: u64) -> (Vec<u64>, u32) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut on: Vec<u64> = clients.iter().map(|count| u64::from(*count)).collect();
        let homes = clients.iter().zip(0..).flat_map(|(count, home)| (0..*count).map(move |_| TargetId(home)));
        let mut all: Vec<(TargetId, Evening)> = homes.map(|home| (home, Evening::default())).collect();
        for (_, evening) in &mut all {
            evening.changed(Duration::ZERO, &mut rng);
        }
        let mut moved = 0;
        for at in 0..10_000 {
            let now = Duration::from_millis(at);
            for (home, evening) in &mut all {
                if evening.begin_if_due(now) {
                    let loads: Vec<(TargetId, u64)> = (0..).map(TargetId).zip(on.iter().copied()).collect();
                    if let Some(goal) = evening.saw(*home, &loads, now, &mut rng) {
                        on[home.0 as usize] -= 1;
                        on[goal.0 as usize] += 1;
                        *home = goal;
                        moved += 1;
                    }
                }
            }
        }
        (on, moved)
    }

    #[test]
    fn many_clients_are_even_within_ten_seconds_and_few_move_that_need_not() {
        for seed in 0..50 {
            let (on, moved) = after_ten_seconds(&[36, 36, 0], seed);
            assert!(on.iter().max().unwrap() * 2 <= on.iter().min().unwrap() * 3, "seed {seed}: {on:?}");
            assert!((20..=28).contains(&moved), "24 had to, {moved} did with seed {seed}");
        }
    }

    #[test]
    fn who_is_even_stays() {
        for clients in [&[24, 24, 24][..], &[1, 0, 0], &[2, 1, 1], &[7, 6, 6]] {
            for seed in 0..20 {
                assert_eq!(after_ten_seconds(clients, seed).1, 0, "{clients:?}");
            }
        }
    }
}
