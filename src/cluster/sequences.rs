//! Which of one client's operations ran, when their events are no longer kept: numbers, as ranges.
//!
//! A client has many operations under way at once, and they run in any order; so "all up to the highest that ran" would
//! say too much, and one that has not run yet would be taken for one that had. Of the last [`KEPT`] ranges it is known
//! exactly which numbers ran; of those before, that they may have.

use serde::{Deserialize, Serialize};

/// So many ranges are told apart.
const KEPT: usize = 1024;

/// A set of numbers. Below its floor, all are in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequences {
    floor: u64,
    /// First and last of each range, in order; none touches another, all lie above the floor.
    ranges: Vec<(u64, u64)>,
}

impl Sequences {
    /// Whether the number is in the set.
    pub fn has(&self, number: u64) -> bool {
        let at = self.ranges.partition_point(|&(_, last)| last < number);
        number <= self.floor || self.ranges.get(at).is_some_and(|&(first, _)| first <= number)
    }

    /// The highest number in the set; 0 where there is none.
    pub fn highest(&self) -> u64 {
        self.ranges.last().map_or(self.floor, |&(_, last)| last)
    }

    /// Puts a number into the set.
    pub fn add(&mut self, number: u64) {
        self.add_range(number, number);
    }

    /// Takes up all that another set has.
    pub fn join(&mut self, other: &Self) {
        self.raise(other.floor);
        for &(first, last) in &other.ranges {
            self.add_range(first, last);
        }
    }

    /// Whether all that another set has is in this one.
    pub fn includes(&self, other: &Self) -> bool {
        let is_floor_there = other.floor <= self.floor || other.floor == 0 || self.has_range(1, other.floor);
        is_floor_there && other.ranges.iter().all(|&(first, last)| self.has_range(first, last))
    }

    fn has_range(&self, first: u64, last: u64) -> bool {
        let first = first.max(self.floor + 1);
        let at = self.ranges.partition_point(|&(_, end)| end < first);
        last <= self.floor || self.ranges.get(at).is_some_and(|&(begin, end)| begin <= first && last <= end)
    }

    fn add_range(&mut self, first: u64, last: u64) {
        let first = first.max(self.floor + 1);
        if last < first {
            return;
        }
        // All ranges that it overlaps or touches become one with it.
        let from = self.ranges.partition_point(|&(_, end)| end + 1 < first);
        let to = self.ranges.partition_point(|&(begin, _)| begin <= last.saturating_add(1));
        let touched = &self.ranges[from..to.max(from)];
        let whole = (
            touched.first().map_or(first, |&(begin, _)| begin.min(first)),
            touched.last().map_or(last, |&(_, end)| end.max(last)),
        );
        self.ranges.splice(from..to.max(from), [whole]);
        if let Some(surplus) = self.ranges.len().checked_sub(KEPT).filter(|surplus| *surplus > 0) {
            self.raise(self.ranges[surplus - 1].1);
        } else if let Some(&(begin, end)) = self.ranges.first()
            && begin == self.floor + 1
        {
            self.raise(end);
        }
    }

    fn raise(&mut self, floor: u64) {
        if floor <= self.floor {
            return;
        }
        self.floor = floor;
        self.ranges.retain_mut(|(first, last)| {
            *first = (*first).max(floor + 1);
            *first <= *last
        });
        if let Some(&(begin, end)) = self.ranges.first()
            && begin == floor + 1
        {
            self.floor = end;
            self.ranges.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn of(numbers: impl IntoIterator<Item = u64>) -> Sequences {
        let mut sequences = Sequences::default();
        numbers.into_iter().for_each(|number| sequences.add(number));
        sequences
    }

    #[test]
    fn what_did_not_run_is_not_in_it_whatever_ran_later() {
        let ran = of([1, 2, 3, 9, 7]);
        assert_eq!(ran, Sequences { floor: 3, ranges: vec![(7, 7), (9, 9)] });
        assert!(ran.has(2) && ran.has(9) && !ran.has(4) && !ran.has(8) && !ran.has(10));
        assert_eq!((ran.highest(), of([]).highest()), (9, 0));
    }

    #[test]
    fn beyond_so_many_ranges_the_lowest_are_no_longer_told_apart() {
        let kept = KEPT as u64;
        let ran = of((1..=kept + 10).map(|number| 2 * number));
        assert_eq!((ran.floor, ran.ranges.len()), (20, KEPT));
        assert!(ran.has(1) && ran.has(19) && !ran.has(21));
    }

    proptest! {
        #[test]
        fn it_is_a_set(one in prop::collection::vec(1_u64..60, 0..40), other in prop::collection::vec(1_u64..60, 0..40)) {
            let set: BTreeSet<u64> = one.iter().copied().collect();
            let both: BTreeSet<u64> = one.iter().chain(&other).copied().collect();
            let (first, second) = (of(one.clone()), of(other.clone()));
            prop_assert_eq!((1..70).filter(|n| first.has(*n)).collect::<BTreeSet<_>>(), set.clone());
            let mut joined = first.clone();
            joined.join(&second);
            prop_assert_eq!(&joined, &of(other.iter().chain(&one).copied()));
            prop_assert!(joined.includes(&first) && joined.includes(&second));
            prop_assert_eq!(first.includes(&joined), set == both);
        }
    }
}
