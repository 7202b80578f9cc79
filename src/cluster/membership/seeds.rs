//! The seeds as they were configured: host names among them are resolved again and again.

use std::time::Duration;

use crate::topology::{Endpoint, NodeId};

use super::book::{Book, Origin};
use super::{Membership, Output};

/// How often host names are resolved again.
const RESOLVE_EVERY: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Seeds {
    seeds: Vec<Seed>,
    own: Endpoint,
}

#[derive(Debug)]
struct Seed {
    given: Endpoint,
    /// `None` until it was resolved, or failed to be.
    addresses: Option<Vec<Endpoint>>,
    next: Duration,
}

impl Seeds {
    /// The node's own address is none of its seeds.
    pub(super) fn new(given: Vec<Endpoint>, own: &Endpoint) -> Self {
        let mut seeds: Vec<Seed> = Vec::new();
        for given in given {
            if given != *own && seeds.iter().all(|seed| seed.given != given) {
                seeds.push(Seed { given, addresses: None, next: Duration::ZERO });
            }
        }
        Self { seeds, own: own.clone() }
    }

    /// Those that were not resolved yet.
    pub(super) fn unresolved(&self) -> impl Iterator<Item = &Endpoint> {
        self.seeds.iter().filter(|seed| seed.addresses.is_none()).map(|seed| &seed.given)
    }

    /// Whether the addresses of all are known.
    pub(super) fn are_resolved(&self) -> bool {
        self.seeds.iter().all(|seed| seed.addresses.as_ref().is_some_and(|found| !found.is_empty()))
    }

    /// Those that never answered, at none of their addresses.
    pub(super) fn unanswered<'a>(&'a self, book: &'a Book) -> impl Iterator<Item = &'a Endpoint> {
        let answered = |address: &Endpoint| *address == self.own || book.has_answered(address);
        self.seeds.iter().filter(move |seed| !seed.addresses.iter().flatten().any(answered)).map(|seed| &seed.given)
    }

    /// Whether every seed is this node itself.
    pub(super) fn are_only(&self, book: &Book, me: NodeId) -> bool {
        self.are_resolved() && book.seeds().all(|(_, entry)| entry.answered == Some(me))
    }
}

impl Membership {
    /// Asks for the addresses of seeds whose time has come; an IP literal is its own address.
    pub(super) fn resolve_seeds(&mut self, now: Duration) {
        let mut literals = Vec::new();
        for seed in &mut self.seeds.seeds {
            if seed.given.socket_addr().is_some() {
                if seed.addresses.is_none() {
                    literals.push(seed.given.clone());
                }
            } else if seed.next <= now {
                seed.next = now + RESOLVE_EVERY;
                self.outputs.push(Output::Resolve { seed: seed.given.clone() });
            }
        }
        for literal in literals {
            self.resolved(now, &literal, vec![literal.clone()]);
        }
    }

    /// Takes a seed's addresses. A failed or empty answer removes nothing.
    pub(super) fn resolved(&mut self, now: Duration, given: &Endpoint, mut addresses: Vec<Endpoint>) {
        let own = self.seeds.own.clone();
        let Some(seed) = self.seeds.seeds.iter_mut().find(|seed| seed.given == *given) else { return };
        if addresses.is_empty() {
            seed.addresses.get_or_insert_default();
            return;
        }
        addresses.retain(|address| *address != own);
        for address in &addresses {
            self.book.note(now, address, Origin::Seed, false);
        }
        seed.addresses = Some(if addresses.is_empty() { vec![own] } else { addresses });
        let named: Vec<&Endpoint> = self.seeds.seeds.iter().flat_map(|seed| seed.addresses.iter().flatten()).collect();
        self.book.demote_seeds(|address| named.contains(&address));
    }
}
