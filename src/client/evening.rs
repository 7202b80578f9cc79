//! When one of many clients that each stay with one server goes over to another, so that the load is even.
//!
//! Nobody directs them, and none knows of the others. Each goes over once at most after a change, and within ten seconds
//! of it, in one of two ways:
//!
//! - **By looks**, where servers tell how loaded they are. Each looks a few times and not in step with the others. One
//!   whose server has more than its part goes over with the probability that makes up for most of the difference: so few
//!   go at a time, those who look later see it and stay, and none moves that need not. What it still sees later the others
//!   don't make up for (they may not even know of the change), so it goes the more likely.
//! - **By lot**, where nobody tells. A server that comes wins over its fair part of those who stay with another: even in
//!   the mean, and as even as chance leaves it. One that failed and is taken back, which the others may not know of, gets
//!   back those who had left it. They wait a moment, so as not to follow one that is only flapping.
//!
//! Who elects for a whole process goes over with all its contexts: they are one client of that weight.

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
/// What part of the difference those who look at once make up for together, at their first look; twice of it at the
/// second one, and so on.
const DAMPING: f64 = 0.7;
/// When one that a newcomer has won by lot goes over to it.
const LOT_FALLS: Range<Duration> = Duration::from_secs(3)..Duration::from_secs(9);

/// One client's part in evening out.
#[derive(Debug, Default)]
pub(super) struct Evening {
    /// It is told how loaded servers are when it asks.
    looks: bool,
    /// When to look.
    due: Option<Duration>,
    /// How often still.
    left: u32,
    /// To whom it goes over, and when.
    goal: Option<(TargetId, Duration)>,
}

impl Evening {
    /// From now on it is told how loaded servers are when it asks.
    pub(super) fn have_looks(&mut self) {
        self.looks = true;
    }

    /// Whether it is told how loaded servers are.
    pub(super) fn is_told(&self) -> bool {
        self.looks
    }

    /// Servers came, or this client had to elect one: the others had to as well, each for itself.
    pub(super) fn changed(&mut self, now: Duration, rng: &mut impl Rng) {
        if self.looks {
            self.left = LOOKS;
            self.due = Some(now + rng.random_range(FIRST_LOOK));
        }
    }

    /// A server came, and `draw` says whether it wins this client where lots are drawn.
    pub(super) fn met<R: Rng>(&mut self, newcomer: TargetId, draw: impl FnOnce(&mut R) -> bool, now: Duration, rng: &mut R) {
        if self.looks {
            self.changed(now, rng);
        } else if draw(rng) {
            self.goal = Some((newcomer, now + rng.random_range(LOT_FALLS)));
        }
    }

    /// When to look, or to go over.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due.into_iter().chain(self.goal.map(|(_, at)| at)).min()
    }

    /// Whether to look now. What is seen is told by [`saw`](Self::saw); that nothing was, by [`skip`](Self::skip).
    pub(super) fn begin_if_due(&mut self, now: Duration) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// Nothing was seen, or somebody else of this process looks just now: it looks again, later.
    pub(super) fn skip(&mut self, now: Duration, rng: &mut impl Rng) {
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            self.due = Some(now + rng.random_range(NEXT_LOOK));
        }
    }

    /// How many connections each server has, `weight` of those of its `own` being this client's: it decides whether it
    /// goes over, and to whom.
    pub(super) fn saw(&mut self, own: TargetId, weight: u64, loads: &[(TargetId, u64)], now: Duration, rng: &mut impl Rng) {
        self.skip(now, rng);
        let nth = LOOKS.saturating_sub(self.left).max(1);
        if let Some(goal) = better(own, weight, f64::from(nth), loads, rng) {
            self.goal = Some((goal, now));
            (self.left, self.due) = (0, None);
        }
    }

    /// To whom to go over now.
    pub(super) fn take_goal(&mut self, now: Duration) -> Option<TargetId> {
        self.goal.take_if(|(_, at)| *at <= now).map(|(goal, _)| goal)
    }
}

/// Draws whether one of those at `own` goes over at its `nth` look, and to which of the others.
fn better(own: TargetId, weight: u64, nth: f64, loads: &[(TargetId, u64)], rng: &mut impl Rng) -> Option<TargetId> {
    let (_, ours) = *loads.iter().find(|(id, _)| *id == own)?;
    let least = loads.iter().map(|(_, load)| *load).min()?;
    // It's worth it where another would still have less with this client than its own has.
    if ours <= least.saturating_add(weight) {
        return None;
    }
    let count = |load: u64| f64::from(u32::try_from(load).unwrap_or(u32::MAX));
    let part = loads.iter().map(|(_, load)| count(*load)).sum::<f64>() / count(loads.len() as u64);
    let goes = nth * DAMPING * (count(ours) - part) / count(ours);
    if goes <= 0.0 || !rng.random_bool(goes.min(1.0)) {
        return None;
    }
    // To one of those that lack something, the likelier the more it lacks.
    let lacking = |load: u64| (part - count(load)).max(0.0);
    let mut lot = rng.random_range(0.0..1.0) * loads.iter().map(|(_, load)| lacking(*load)).sum::<f64>();
    let goal = loads.iter().filter(|(_, load)| lacking(*load) > 0.0).find(|(_, load)| {
        lot -= lacking(*load);
        lot <= 0.0
    });
    goal.map(|(goal, _)| *goal)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    use super::*;

    fn looking() -> Evening {
        Evening { looks: true, ..Evening::default() }
    }

    /// So many clients of this weight on each of the servers look as they do; how many there are on each after ten
    /// seconds, and how many moved.
    fn after_ten_seconds(clients: &[u32], weight: u64, seed: u64) -> (Vec<u64>, u32) {
        after_ten_seconds_of(1, clients, weight, seed)
    }

    /// The same where only each so-manieth knows of the change.
    fn after_ten_seconds_of(part: usize, clients: &[u32], weight: u64, seed: u64) -> (Vec<u64>, u32) {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut on: Vec<u64> = clients.iter().map(|count| u64::from(*count) * weight).collect();
        let homes = clients.iter().zip(0..).flat_map(|(count, home)| (0..*count).map(move |_| TargetId(home)));
        let mut all: Vec<(TargetId, Evening)> = homes.map(|home| (home, looking())).collect();
        for (_, evening) in all.iter_mut().step_by(part) {
            evening.changed(Duration::ZERO, &mut rng);
        }
        let mut moved = 0;
        for at in (0..10_000).step_by(10) {
            let now = Duration::from_millis(at);
            for (home, evening) in &mut all {
                if evening.begin_if_due(now) {
                    let loads: Vec<(TargetId, u64)> = (0..).map(TargetId).zip(on.iter().copied()).collect();
                    evening.saw(*home, weight, &loads, now, &mut rng);
                }
                if let Some(goal) = evening.take_goal(now) {
                    on[home.0 as usize] -= weight;
                    on[goal.0 as usize] += weight;
                    *home = goal;
                    moved += 1;
                }
            }
        }
        (on, moved)
    }

    #[test]
    fn many_clients_are_even_within_ten_seconds_and_few_move_that_need_not() {
        for (weight, seed) in (0..50).map(|seed| (1 + seed % 3, seed)) {
            let (on, moved) = after_ten_seconds(&[36, 36, 0], weight, seed);
            assert!(on.iter().max().unwrap() * 2 <= on.iter().min().unwrap() * 3, "seed {seed}: {on:?}");
            assert!((20..=28).contains(&moved), "24 had to, {moved} did with seed {seed}");
        }
    }

    #[test]
    fn those_who_know_of_the_change_make_up_for_those_who_do_not() {
        for seed in 0..50 {
            let (on, moved) = after_ten_seconds_of(3, &[36, 36, 0], 1, seed);
            assert!(on.iter().max().unwrap() * 2 <= on.iter().min().unwrap() * 3, "seed {seed}: {on:?}");
            assert!(moved <= 24, "{moved} with seed {seed}");
        }
    }

    #[test]
    fn who_is_even_stays() {
        for clients in [&[24, 24, 24][..], &[1, 0, 0], &[2, 1, 1], &[7, 6, 6]] {
            for (weight, seed) in (0..20).map(|seed| (1 + seed % 3, seed)) {
                assert_eq!(after_ten_seconds(clients, weight, seed).1, 0, "{clients:?}");
            }
        }
    }

    #[test]
    fn a_lot_falls_within_ten_seconds_and_is_not_drawn_by_those_who_look() {
        let mut rng = StdRng::seed_from_u64(1);
        for wins in [true, false] {
            let mut evening = Evening::default();
            evening.met(TargetId(3), |_| wins, Duration::ZERO, &mut rng);
            assert_eq!(
                evening.take_goal(LOT_FALLS.start.saturating_sub(Duration::from_millis(1))),
                None,
                "it may only be flapping"
            );
            assert_eq!(evening.take_goal(Duration::from_secs(10)), wins.then_some(TargetId(3)));
            assert_eq!(evening.due(), None);
        }
        let mut evening = looking();
        evening.met(TargetId(3), |_| true, Duration::ZERO, &mut rng);
        assert_eq!(evening.take_goal(Duration::from_secs(10)), None);
        assert!(evening.due().unwrap() < FIRST_LOOK.end);
    }
}
