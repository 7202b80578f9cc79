//! Who has seen which writes: dots, version vectors, and what was seen beyond them.
//!
//! A *dot* names one write: an actor and the how-manieth write of that actor it was. An actor's writes are numbered
//! without a gap, so "the first *n* writes of this actor" is said by one number; a [`Vector`] says that for each
//! actor. Fan-out brings writes out of order, and a node must not claim what it lacks; so [`Seen`] keeps, beside the
//! vector, the dots that lie beyond a gap until the gap is filled.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::naming::Version as Dot;

/// The author of writes: drawn at random for every start without data, kept with the data otherwise.
pub type Actor = u128;

/// For each actor, how many of its writes are covered, from the first one on without a gap.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Vector(Vec<(Actor, u64)>);

impl Vector {
    /// How many writes of `actor` are covered.
    pub fn get(&self, actor: Actor) -> u64 {
        self.place(actor).map_or(0, |at| self.0[at].1)
    }

    /// Whether the write is covered.
    pub fn covers(&self, dot: Dot) -> bool {
        dot.sequence <= self.get(dot.actor)
    }

    /// Whether all that `other` covers is covered.
    pub fn includes(&self, other: &Self) -> bool {
        other.iter().all(|dot| self.covers(dot))
    }

    /// Covers the write, and all that its actor wrote before.
    pub fn raise(&mut self, dot: Dot) {
        match self.place(dot.actor) {
            Ok(at) => self.0[at].1 = self.0[at].1.max(dot.sequence),
            Err(at) => {
                if self.0.is_empty() {
                    // At most names one actor writes, and a tree has many names.
                    self.0.reserve_exact(1);
                }
                self.0.insert(at, (dot.actor, dot.sequence));
            }
        }
    }

    /// Covers all that `other` covers.
    pub fn join(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            self.0.shrink_to_fit();
            return;
        }
        for dot in other.iter() {
            self.raise(dot);
        }
    }

    /// The last covered write of each actor, in the actors' order.
    pub fn iter(&self) -> impl Iterator<Item = Dot> + '_ {
        self.0.iter().map(|&(actor, sequence)| Dot { actor, sequence })
    }

    /// What both cover.
    pub fn meet(&self, other: &Self) -> Self {
        let both = self.0.iter().map(|&(actor, sequence)| (actor, sequence.min(other.get(actor))));
        Self(both.filter(|&(_, sequence)| sequence > 0).collect())
    }

    /// Of how many actors anything is covered.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is covered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, actor: Actor) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| known.cmp(&actor))
    }
}

impl FromIterator<Dot> for Vector {
    fn from_iter<I: IntoIterator<Item = Dot>>(dots: I) -> Self {
        let mut vector = Self::default();
        for dot in dots {
            vector.raise(dot);
        }
        vector
    }
}

impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw::serialize(self.iter(), serializer)
    }
}

/// In order, whatever order it was sent in.
impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        raw::deserialize(deserializer)
    }
}

impl fmt::Debug for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Shown)).finish()
    }
}

/// All that a node has seen: a vector, and single writes beyond it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    vector: Vector,
    #[serde(with = "raw::set")]
    beyond: BTreeSet<Dot>,
}

impl Seen {
    /// What is seen without a gap.
    pub fn vector(&self) -> &Vector {
        &self.vector
    }

    /// The single writes seen beyond a gap.
    pub fn beyond(&self) -> impl Iterator<Item = Dot> + '_ {
        self.beyond.iter().copied()
    }

    /// Whether the write was seen.
    pub fn has(&self, dot: Dot) -> bool {
        self.vector.covers(dot) || (!self.beyond.is_empty() && self.beyond.contains(&dot))
    }

    /// Whether all that `other` has was seen.
    pub fn includes(&self, other: &Self) -> bool {
        self.vector.includes(&other.vector) && other.beyond().all(|dot| self.has(dot))
    }

    /// The highest number that was seen of an actor, gaps or not.
    pub fn highest(&self, actor: Actor) -> u64 {
        let (first, last) = (Dot { actor, sequence: 0 }, Dot { actor, sequence: u64::MAX });
        let beyond = self.beyond.range(first..=last).next_back().map_or(0, |dot| dot.sequence);
        beyond.max(self.vector.get(actor))
    }

    /// Whether more writes of `actor` were seen than it has made.
    pub fn has_more_of(&self, actor: Actor, made: u64) -> bool {
        self.highest(actor) > made
    }

    /// How many writes were seen.
    pub fn count(&self) -> u64 {
        let beyond = u64::try_from(self.beyond.len()).unwrap_or(u64::MAX);
        self.vector.iter().map(|last| last.sequence).fold(beyond, u64::saturating_add)
    }

    /// Marks one write as seen.
    pub fn add(&mut self, dot: Dot) {
        if self.has(dot) {
            return;
        }
        if dot.sequence == self.vector.get(dot.actor) + 1 {
            self.vector.raise(dot);
            self.close_gap(dot.actor);
        } else {
            self.beyond.insert(dot);
        }
    }

    /// Marks all that `other` has as seen.
    pub fn join(&mut self, other: &Self) {
        self.vector.join(&other.vector);
        self.beyond.extend(other.beyond());
        if !self.beyond.is_empty() {
            let actors: BTreeSet<Actor> = self.beyond.iter().map(|dot| dot.actor).collect();
            for actor in actors {
                self.close_gap(actor);
            }
        }
    }

    /// Takes into the vector what lies beyond it without a gap, and drops what it covers.
    fn close_gap(&mut self, actor: Actor) {
        let range = Dot { actor, sequence: 0 }..=Dot { actor, sequence: u64::MAX };
        while let Some(&next) = self.beyond.range(range.clone()).next() {
            if next.sequence > self.vector.get(actor) + 1 {
                break;
            }
            self.beyond.remove(&next);
            self.vector.raise(next);
        }
    }
}

/// What a client has seen of the cluster tree, as it tells a node that may lack some of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// All that it has seen.
    pub seen: Seen,
    /// A node that lacks some of it catches up or refuses; otherwise it answers all the same, and says so
    /// ([`Reply::Stale`](super::Reply::Stale)).
    pub is_required: bool,
}

/// What a client has seen with the replies that follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
    /// All that it may have seen.
    pub seen: Seen,
    /// The node that says so has all of it; otherwise another one made the change that is replied to.
    pub is_here: bool,
}

impl Brought {
    /// Adds it to others that no one has taken yet.
    pub fn add_to(self, others: &mut Vec<Self>) {
        match others.iter_mut().find(|other| other.is_here == self.is_here) {
            Some(other) => other.seen.join(&self.seen),
            None => others.push(self),
        }
    }
}

impl From<Vector> for Seen {
    fn from(vector: Vector) -> Self {
        Self { vector, beyond: BTreeSet::new() }
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.vector)?;
        if !self.beyond.is_empty() {
            f.write_str(" and ")?;
            f.debug_set().entries(self.beyond().map(Shown)).finish()?;
        }
        Ok(())
    }
}

/// Dots on the wire: an actor is drawn at random, so all its bytes count.
mod raw {
    use super::{Deserialize, Deserializer, Dot, Serializer};

    pub fn serialize<S: Serializer>(dots: impl Iterator<Item = Dot>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(dots.map(|dot| (dot.actor.to_le_bytes(), dot.sequence)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>, T: FromIterator<Dot>>(deserializer: D) -> Result<T, D::Error> {
        let dot = |(actor, sequence)| Dot { actor: u128::from_le_bytes(actor), sequence };
        Ok(Vec::<([u8; 16], u64)>::deserialize(deserializer)?.into_iter().map(dot).collect())
    }

    pub mod set {
        use std::collections::BTreeSet;

        use super::{Deserializer, Dot, Serializer};

        pub fn serialize<S: Serializer>(dots: &BTreeSet<Dot>, serializer: S) -> Result<S::Ok, S::Error> {
            super::serialize(dots.iter().copied(), serializer)
        }

        pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<Dot>, D::Error> {
            super::deserialize(deserializer)
        }
    }
}

/// A dot as `actor.sequence`, the actor in short.
struct Shown(Dot);

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(actor: Actor, sequence: u64) -> Dot {
        Dot { actor, sequence }
    }

    #[test]
    fn a_gap_is_not_claimed_and_closes_when_it_is_filled() {
        let mut seen = Seen::default();
        seen.add(dot(1, 1));
        seen.add(dot(1, 3));
        seen.add(dot(1, 4));
        assert!(seen.has(dot(1, 3)) && !seen.has(dot(1, 2)));
        assert_eq!(seen.vector().get(1), 1);
        assert_eq!(seen.highest(1), 4);
        seen.add(dot(1, 2));
        assert_eq!(seen.vector().get(1), 4);
        assert_eq!(seen.beyond().count(), 0);
    }

    #[test]
    fn joining_takes_up_what_the_vector_reaches() {
        let mut seen = Seen::default();
        seen.add(dot(1, 3));
        seen.add(dot(2, 9));
        seen.join(&Seen::from(Vector::from_iter([dot(1, 2)])));
        assert_eq!(seen.vector().get(1), 3);
        assert_eq!(seen.beyond().collect::<Vec<_>>(), [dot(2, 9)]);
        assert!(!seen.includes(&Seen::from(Vector::from_iter([dot(2, 9)]))));
    }

    #[test]
    fn meeting_keeps_what_both_cover() {
        let (a, b) = (Vector::from_iter([dot(1, 5), dot(2, 1)]), Vector::from_iter([dot(1, 3), dot(3, 1)]));
        assert_eq!(a.meet(&b), Vector::from_iter([dot(1, 3)]));
    }
}
