//! A network that loses, repeats, delays, reorders and splits.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::random::Dice;

/// How bad the network is.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Of a thousand messages, how many are lost.
    pub loss: u64,
    /// Of a thousand messages, how many arrive twice.
    pub repeats: u64,
    /// Of a thousand messages, how many are late.
    pub late: u64,
    /// The usual delay, at most.
    pub delay: Duration,
    /// The delay of a late message, at most.
    pub lateness: Duration,
}

/// Who can reach whom, and when a message arrives.
pub struct Network {
    dice: Dice,
    weather: Weather,
    cuts: BTreeSet<(usize, usize)>,
    calm: bool,
}

impl Network {
    /// A network in which everybody reaches everybody.
    pub fn new(dice: Dice, weather: Weather) -> Self {
        Self { dice, weather, cuts: BTreeSet::new(), calm: false }
    }

    /// Cuts one direction.
    pub fn cut(&mut self, from: usize, to: usize) {
        self.cuts.insert((from, to));
    }

    /// Splits the nodes in two: those in `side` and the others.
    pub fn split(&mut self, nodes: usize, side: u32) {
        self.cuts.clear();
        for from in 0..nodes {
            for to in 0..nodes {
                if (side >> from) & 1 != (side >> to) & 1 {
                    self.cuts.insert((from, to));
                }
            }
        }
    }

    /// Everybody reaches everybody again: the directions that were cut.
    pub fn heal(&mut self) -> BTreeSet<(usize, usize)> {
        std::mem::take(&mut self.cuts)
    }

    /// From now on nothing is lost, repeated or late.
    pub fn calm(&mut self) {
        self.heal();
        self.calm = true;
    }

    /// Whether a message would get through now.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        !self.cuts.contains(&(from, to))
    }

    /// After which delays a message arrives: not at all, once, or twice.
    pub fn delays(&mut self, from: usize, to: usize) -> impl Iterator<Item = Duration> + use<> {
        let weather = self.weather;
        let lost = !self.reaches(from, to) || (!self.calm && self.dice.chance(weather.loss));
        let twice = !self.calm && self.dice.chance(weather.repeats);
        let arrivals = [(!lost).then(|| self.delay()), (!lost && twice).then(|| self.delay())];
        arrivals.into_iter().flatten()
    }

    fn delay(&mut self) -> Duration {
        let late = !self.calm && self.dice.chance(self.weather.late);
        let most = if late { self.weather.lateness } else { self.weather.delay };
        Duration::from_micros(100 + self.dice.below(u64::try_from(most.as_micros()).unwrap().max(1)))
    }
}
