//! The address book: whom to dial, and what came of it.
//!
//! Seeds stay for good. Other addresses come from hellos, from gossip and from members that were lost; they go after
//! enough failures, and at most [`MOST`] are kept.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::naming::ErrorKind;
use crate::protocol::Fault;
use crate::topology::{Endpoint, NodeId};

use super::config::Timing;
use super::event::LinkId;

/// The most addresses kept beside the seeds'.
const MOST: usize = 256;

/// The most links that are being opened at once.
const DIALS: usize = 16;

/// So often an address that was only heard of is tried.
const HEARSAY_TRIES: u32 = 3;

/// So often the address of a lost member is tried: about an hour.
const FORMER_TRIES: u32 = 1800;

/// How an address came into the book: the later ones weigh more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Another node named it.
    Hearsay,
    /// A member was reached there: after a split it may be again.
    Former,
    /// A member was there in this node's last life: at first it is waited for.
    Known,
    /// The configuration names it.
    Seed,
}

#[derive(Debug)]
pub(super) struct Entry {
    origin: Origin,
    /// When it is dialled next.
    next: Duration,
    dialling: Option<LinkId>,
    /// When it was dialled last: pauses count from there, so that silence costs no more time than a refusal.
    dialled: Duration,
    failures: u32,
    /// Who answered there last.
    pub(super) answered: Option<NodeId>,
    /// Why the last that answered did not want us.
    rejected: Option<Fault>,
    /// The node there was once seen in this node's cluster.
    pub(super) was_united: bool,
}

#[derive(Debug, Default)]
pub(super) struct Book {
    entries: BTreeMap<Endpoint, Entry>,
}

impl Book {
    pub(super) fn get_mut(&mut self, address: &Endpoint) -> Option<&mut Entry> {
        self.entries.get_mut(address)
    }

    /// Whether somebody ever answered there, if only with a refusal.
    pub(super) fn has_answered(&self, address: &Endpoint) -> bool {
        self.entries.get(address).is_some_and(|entry| entry.was_united || entry.answered.is_some() || entry.rejected.is_some())
    }

    /// The seeds' addresses.
    pub(super) fn seeds(&self) -> impl Iterator<Item = (&Endpoint, &Entry)> {
        self.entries.iter().filter(|(_, entry)| entry.origin == Origin::Seed)
    }

    /// Where somebody should be: the seeds, and where the members of this node's last life were.
    pub(super) fn awaited(&self) -> impl Iterator<Item = (&Endpoint, &Entry)> {
        self.entries.iter().filter(|(_, entry)| entry.origin >= Origin::Known)
    }

    /// Notes which seeds are in this node's cluster.
    pub(super) fn note_united(&mut self, is_united: impl Fn(NodeId) -> bool) {
        for entry in self.entries.values_mut().filter(|entry| entry.origin == Origin::Seed) {
            entry.was_united |= entry.answered.is_some_and(&is_united);
        }
    }

    /// Enters an address to be dialled at once; one that is there is only dialled earlier where `hurry` says so.
    pub(super) fn note(&mut self, now: Duration, address: &Endpoint, origin: Origin, hurry: bool) {
        if let Some(entry) = self.entries.get_mut(address) {
            entry.origin = entry.origin.max(origin);
            if hurry {
                entry.next = entry.next.min(now);
                entry.failures = 0;
            }
            return;
        }
        if self.entries.len() >= MOST && origin != Origin::Seed && !self.evict() {
            return;
        }
        let entry = Entry {
            origin,
            next: now,
            dialling: None,
            dialled: now,
            failures: 0,
            answered: None,
            rejected: None,
            was_united: false,
        };
        self.entries.insert(address.clone(), entry);
    }

    /// Makes room: the address that failed most goes, seeds never.
    fn evict(&mut self) -> bool {
        let worst = self.entries.iter().filter(|(_, entry)| entry.origin != Origin::Seed && entry.dialling.is_none());
        let worst = worst.max_by_key(|(_, entry)| (entry.failures, std::cmp::Reverse(entry.origin)));
        let worst = worst.map(|(address, _)| address.clone());
        worst.is_some_and(|address| self.entries.remove(&address).is_some())
    }

    /// The addresses to be dialled now that `is_covered` doesn't say are needless, and notes that they are.
    pub(super) fn due(
        &mut self,
        now: Duration,
        is_covered: impl Fn(&Endpoint, &Entry) -> bool,
        mut new_link: impl FnMut() -> LinkId,
    ) -> Vec<(LinkId, Endpoint)> {
        let mut room = DIALS.saturating_sub(self.entries.values().filter(|entry| entry.dialling.is_some()).count());
        let mut due = Vec::new();
        for (address, entry) in &mut self.entries {
            if room > 0 && entry.dialling.is_none() && entry.next <= now && !is_covered(address, entry) {
                let link = new_link();
                entry.dialling = Some(link);
                entry.dialled = now;
                room -= 1;
                due.push((link, address.clone()));
            }
        }
        due
    }

    /// The address that was dialled under that id; it is no longer being dialled.
    pub(super) fn dialled(&mut self, link: LinkId) -> Option<(Endpoint, &mut Entry)> {
        let (address, entry) = self.entries.iter_mut().find(|(_, entry)| entry.dialling == Some(link))?;
        entry.dialling = None;
        Some((address.clone(), entry))
    }

    /// A link from there has ended: dial again at once.
    pub(super) fn lost(&mut self, now: Duration, address: &Endpoint) {
        self.note(now, address, Origin::Former, true);
        if let Some(entry) = self.entries.get_mut(address) {
            entry.answered = None;
        }
    }

    /// A member there left, or its address has another owner: nothing more is sought there, unless it is a seed.
    pub(super) fn forget(&mut self, address: &Endpoint) {
        if let Some(entry) = self.entries.get_mut(address) {
            entry.answered = None;
            if entry.origin != Origin::Seed {
                self.entries.remove(address);
            }
        }
    }

    /// A seed's host name no longer has these addresses: they are as any other where somebody was met.
    pub(super) fn demote_seeds(&mut self, is_named: impl Fn(&Endpoint) -> bool) {
        for (address, entry) in &mut self.entries {
            if entry.origin == Origin::Seed && !is_named(address) {
                entry.origin = Origin::Former;
            }
        }
    }

    /// Drops what has not answered for too long.
    pub(super) fn tidy(&mut self) {
        self.entries.retain(|_, entry| match entry.origin {
            Origin::Hearsay => entry.failures < HEARSAY_TRIES,
            Origin::Former | Origin::Known => entry.failures < FORMER_TRIES,
            Origin::Seed => true,
        });
    }
}

impl Entry {
    /// Somebody answered.
    pub(super) fn opened(&mut self, by: NodeId) {
        self.failures = 0;
        self.answered = Some(by);
        self.rejected = None;
    }

    /// Nobody answered, or somebody who did not want us: try again later.
    pub(super) fn failed(&mut self, now: Duration, timing: &Timing) {
        self.answered = None;
        // A seed that was restarted does not know whom to dial: it must be found soon.
        let hopeful = if self.origin == Origin::Seed { 240 } else { 8 };
        self.next =
            now.max(self.dialled + (timing.redial * 2_u32.pow((self.failures / hopeful).min(8))).min(timing.slowest_redial));
        self.failures = self.failures.saturating_add(1);
    }

    /// Somebody is there and does not want us.
    pub(super) fn rejected(&mut self, now: Duration, timing: &Timing, fault: Fault) {
        self.failed(now, timing);
        let is_final = fault.code == ErrorKind::Configuration.code();
        self.rejected = is_final.then_some(fault);
    }

    /// Why whoever answered last did not want us, where that is final.
    pub(super) fn refusal(&self) -> Option<&Fault> {
        self.rejected.as_ref()
    }

    /// What is there, in words.
    pub(super) fn what(&self) -> &'static str {
        if self.origin == Origin::Seed { "seed" } else { "the member that was known at" }
    }

    /// Whether it was never answered and never failed.
    pub(super) fn is_open_question(&self) -> bool {
        self.failures == 0 && self.answered.is_none()
    }
}
