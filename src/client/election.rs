//! The targets that all contexts of a process have elected together, a cluster each.
//!
//! Whether they go over to another, so that the load is even, one of them at a time finds out for all. How many they are
//! is their weight.
//!
//! One registry lives as long as the process. It is read and replaced as a whole and never locked, so that a fork can't
//! leave it locked for good.

use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};
use std::sync::{Arc, LazyLock, Weak};

use arc_swap::ArcSwap;

use crate::discovery::Source;
use crate::topology::{ClusterId, Endpoint, NodeId};

use super::fork;

/// Which cluster an election is for. Two clusters may bear one name; where the id is known it counts alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Electorate {
    /// The cluster of this id.
    Id(ClusterId),
    /// The cluster of this name, whose id is not known yet.
    Name(String),
    /// The servers of the service of this name.
    Service(Arc<str>),
    /// Whatever cluster stands behind these sources, in order.
    Providers(Vec<Source>),
}

/// Who was elected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elected {
    /// Where it's reached.
    pub endpoint: Endpoint,
    /// Which node it is, where that's known: contexts may reach one node in different ways.
    pub node: Option<NodeId>,
}

/// A context's vote. What a forked child has of its parent's contexts votes no longer.
#[derive(Debug)]
pub(super) struct Voter {
    generation: u64,
}

impl Voter {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { generation: fork::generation() })
    }
}

/// Those who elect together.
#[derive(Clone, Debug)]
struct Voters {
    electorate: Electorate,
    all: Vec<Weak<Voter>>,
    /// Who looks for all of them just now.
    looks: Weak<Voter>,
}

fn is_alive(voter: &Weak<Voter>) -> bool {
    voter.upgrade().is_some_and(|voter| voter.generation == fork::generation())
}

/// A registry of elections.
#[derive(Debug, Default)]
pub struct Elections {
    held: ArcSwap<Vec<(Electorate, Elected)>>,
    voters: ArcSwap<Vec<Voters>>,
    seed: u64,
}

impl Elections {
    /// An empty registry.
    pub fn new() -> Arc<Self> {
        Self::seeded(RandomState::new().hash_one(0))
    }

    /// An empty registry whose lots follow from `seed`.
    pub fn seeded(seed: u64) -> Arc<Self> {
        Arc::new(Self { seed, ..Self::default() })
    }

    /// This process's registry.
    pub fn of_process() -> Arc<Self> {
        static PROCESS: LazyLock<Arc<Elections>> = LazyLock::new(Elections::new);
        Arc::clone(&PROCESS)
    }

    /// Who is elected in a cluster.
    pub fn elected(&self, electorate: &Electorate) -> Option<Elected> {
        self.held.load().iter().find(|(known, _)| known == electorate).map(|(_, elected)| elected.clone())
    }

    /// Some elected one that `suits`: for a context that does not know its cluster yet.
    pub fn any(&self, suits: impl Fn(&Elected) -> bool) -> Option<Elected> {
        self.held.load().iter().find(|(_, elected)| suits(elected)).map(|(_, elected)| elected.clone())
    }

    /// A number below `among`, drawn once for each endpoint: what all contexts of a process decide alike.
    pub fn lot(&self, endpoint: &Endpoint, among: usize) -> usize {
        let mut hasher = DefaultHasher::new();
        (self.seed, endpoint).hash(&mut hasher);
        let drawn = hasher.finish() % u64::try_from(among.max(1)).unwrap_or(u64::MAX);
        usize::try_from(drawn).unwrap_or(usize::MAX)
    }

    /// Those who elected as `before` are known to be part of `after`: their choice becomes that of all, where there is none
    /// yet, and `before` is forgotten.
    pub fn merge(&self, before: &Electorate, after: &Electorate) {
        self.held.rcu(|elections| {
            let mut elections = elections.to_vec();
            if let Some(at) = elections.iter().position(|(known, _)| known == before) {
                let (_, elected) = elections.swap_remove(at);
                if !elections.iter().any(|(known, _)| known == after) {
                    elections.push((after.clone(), elected));
                }
            }
            elections
        });
    }

    /// Elects `chosen` in place of `before`. Where somebody else was faster, theirs holds. Gives the one that holds.
    pub fn elect(&self, electorate: &Electorate, before: Option<&Elected>, chosen: &Elected) -> Elected {
        let mut holds = chosen.clone();
        self.held.rcu(|elections| {
            let mut elections = elections.to_vec();
            match elections.iter_mut().find(|(known, _)| known == electorate) {
                Some((_, elected)) if Some(&*elected) == before => *elected = chosen.clone(),
                Some((_, elected)) => {
                    holds = elected.clone();
                    return elections;
                }
                None => elections.push((electorate.clone(), chosen.clone())),
            }
            holds = chosen.clone();
            elections
        });
        holds
    }

    /// Votes here from now on.
    pub(super) fn enrol(&self, electorate: &Electorate, voter: &Arc<Voter>) {
        self.update(electorate, |voters| voters.all.push(Arc::downgrade(voter)));
    }

    /// Whether this one looks for all who elect here; else another does already.
    pub(super) fn begin_look(&self, electorate: &Electorate, voter: &Arc<Voter>) -> bool {
        let mut begun = false;
        self.update(electorate, |voters| {
            begun = !is_alive(&voters.looks);
            if begun {
                voters.looks = Arc::downgrade(voter);
            }
        });
        begun
    }

    /// It has looked. Gives for how many.
    pub(super) fn end_look(&self, electorate: &Electorate, voter: &Arc<Voter>) -> u64 {
        let mut weight = 1;
        self.update(electorate, |voters| {
            if voters.looks.ptr_eq(&Arc::downgrade(voter)) {
                voters.looks = Weak::new();
            }
            weight = voters.all.len().max(1) as u64;
        });
        weight
    }

    fn update(&self, electorate: &Electorate, mut change: impl FnMut(&mut Voters)) {
        self.voters.rcu(|known| {
            let mut known = known.to_vec();
            for voters in &mut known {
                voters.all.retain(is_alive);
            }
            known.retain(|voters| !voters.all.is_empty() || is_alive(&voters.looks));
            if !known.iter().any(|voters| voters.electorate == *electorate) {
                known.push(Voters { electorate: electorate.clone(), all: Vec::new(), looks: Weak::new() });
            }
            known.iter_mut().filter(|voters| voters.electorate == *electorate).for_each(&mut change);
            known
        });
    }
}
