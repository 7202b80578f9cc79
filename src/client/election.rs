//! The targets that all contexts of a process have elected together, a cluster each.
//!
//! One registry lives as long as the process. It is read and replaced as a whole and never locked, so that a fork can't
//! leave it locked for good.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, LazyLock};

use arc_swap::ArcSwap;

use crate::discovery::Source;
use crate::topology::{ClusterId, Endpoint, NodeId};

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

/// A registry of elections.
#[derive(Debug, Default)]
pub struct Elections {
    held: ArcSwap<Vec<(Electorate, Elected)>>,
    lots: RandomState,
}

impl Elections {
    /// An empty registry.
    pub fn new() -> Arc<Self> {
        Arc::default()
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
        let drawn = self.lots.hash_one(endpoint) % u64::try_from(among.max(1)).unwrap_or(u64::MAX);
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
}
