//! The failure detector: SWIM by `foca`, in the engine's own time, its packets carried by the engine's own exchanges.
//!
//! Every 300 ms one member is asked whether it lives, in turn and in a random order. If its answer doesn't come within
//! 100 ms three others are asked to ask it. Who isn't vouched for is suspected, everybody is told, and it is dead if it
//! does not deny that within 900 ms. What is learned of members travels with those questions, and on its own, to three
//! members at a time, as long as it is news. So what a node sends does not depend on how many nodes there are.
//!
//! A dead member stays so under its *life*: one that lives on hears of it from whoever it speaks to, and takes up its next.
//!
//! `foca` only ever sees time pass in [`Swim::tick`], so time that a node slept through can be taken out of it
//! ([`Swim::slept`]).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::{NonZeroU8, NonZeroUsize};
use std::time::Duration;

use bytes::Bytes;
use foca::{
    AccumulatingRuntime, Foca, Identity, NoCustomBroadcast, OwnedNotification, PeriodicParams, PostcardCodec, State, Timer,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde::{Deserialize, Serialize};

use crate::topology::{Endpoint, Member, NodeId};

use super::config::Detection;

/// The longest packet. Three contacts with the longest host names fit into one.
const PACKET: NonZeroUsize = NonZeroUsize::new(1400).unwrap();

/// To how many members a packet about nobody in particular goes.
const FEW: NonZeroUsize = NonZeroUsize::new(3).unwrap();

/// How often a node passes on what it learned: enough for some hundred members, at three a time.
const PASSED_ON: NonZeroU8 = NonZeroU8::new(8).unwrap();

/// How long the dead are remembered: so long they are sought out.
const REMEMBERED: Duration = Duration::from_secs(3600);

/// A member as the failure detector knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Contact {
    pub(super) id: NodeId,
    /// Counts how often this incarnation was called dead and was not.
    life: u32,
    pub(super) endpoint: Endpoint,
}

impl Contact {
    fn of(member: &Member) -> Self {
        Self { id: member.id, life: 0, endpoint: member.endpoint.clone() }
    }
}

impl Identity for Contact {
    type Addr = NodeId;

    fn renew(&self) -> Option<Self> {
        Some(Self { life: self.life.checked_add(1)?, ..self.clone() })
    }

    fn addr(&self) -> NodeId {
        self.id
    }

    fn win_addr_conflict(&self, adversary: &Self) -> bool {
        self.life > adversary.life
    }
}

/// What has changed since it was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    /// Somebody has come, died, or taken up another life.
    pub(super) members: bool,
    /// This node was called dead, and has taken up its next life.
    pub(super) revived: bool,
}

/// The failure detector of one node.
pub(super) struct Swim {
    foca: Foca<Contact, PostcardCodec, StdRng, NoCustomBroadcast>,
    runtime: AccumulatingRuntime<Contact>,
    suspicion: Duration,
    /// By when they are due; of those due at once in `foca`'s order, then in ours.
    timers: BTreeSet<(Duration, Timer<Contact>, u64)>,
    serial: u64,
    alive: BTreeMap<NodeId, Contact>,
    dead: BTreeMap<NodeId, Contact>,
    news: News,
}

impl Swim {
    pub(super) fn new(me: &Member, detection: &Detection, seed: u64) -> Self {
        let often = |frequency, num_members| Some(PeriodicParams { frequency, num_members });
        let config = foca::Config {
            probe_period: detection.probe,
            probe_rtt: detection.round_trip,
            num_indirect_probes: FEW,
            max_transmissions: PASSED_ON,
            suspect_to_down_after: detection.suspicion,
            remove_down_after: Some(REMEMBERED),
            max_packet_size: PACKET,
            notify_down_members: true,
            periodic_announce: often(detection.announce, NonZeroUsize::MIN),
            periodic_announce_to_down_members: often(detection.announce_to_dead, FEW),
            periodic_gossip: often(detection.gossip, FEW),
        };
        Self {
            foca: Foca::new(Contact::of(me), config, StdRng::seed_from_u64(seed), PostcardCodec),
            runtime: AccumulatingRuntime::new(),
            suspicion: detection.suspicion,
            timers: BTreeSet::new(),
            serial: 0,
            alive: BTreeMap::new(),
            dead: BTreeMap::new(),
            news: News::default(),
        }
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now: Duration) {
        while self.timers.first().is_some_and(|(due, ..)| *due <= now)
            && let Some((_, timer, _)) = self.timers.pop_first()
        {
            let forgets = matches!(timer, Timer::RemoveDown(_));
            note(self.foca.handle_timer(timer, &mut self.runtime));
            self.digest(now, forgets);
        }
    }

    /// The node stood still for so long: for the failure detector that time was not, and suspicions begin anew, as what
    /// would end them may have come meanwhile.
    pub(super) fn slept(&mut self, now: Duration, lateness: Duration) {
        let timers = std::mem::take(&mut self.timers).into_iter().map(|(due, timer, serial)| {
            let anew = matches!(timer, Timer::ChangeSuspectToDown { .. }).then(|| now + self.suspicion);
            (anew.unwrap_or(due + lateness), timer, serial)
        });
        self.timers = timers.collect();
    }

    /// A packet has come.
    pub(super) fn take(&mut self, now: Duration, packet: &[u8]) {
        note(self.foca.handle_data(packet, &mut self.runtime));
        self.digest(now, false);
    }

    /// This node can speak with that member: each shall hear that the other lives, and what it has missed.
    pub(super) fn greet(&mut self, now: Duration, member: &Member) {
        let known = self.alive.get(&member.id).or_else(|| self.dead.get(&member.id));
        let contact = known.cloned().unwrap_or_else(|| Contact::of(member));
        note(self.foca.announce(contact, &mut self.runtime));
        self.digest(now, false);
    }

    /// That member is certainly gone; everybody is told.
    pub(super) fn bury(&mut self, now: Duration, id: NodeId) {
        if let Some(contact) = self.alive.get(&id).cloned() {
            let update = std::iter::once(foca::Member::down(contact));
            note(self.foca.apply_many(update, true, &mut self.runtime));
            self.digest(now, false);
        }
    }

    /// This node leaves; three are told, who pass it on.
    pub(super) fn leave(&mut self, now: Duration) {
        note(self.foca.leave_cluster(&mut self.runtime));
        self.digest(now, false);
    }

    /// Whether that member was called dead, and has not denied it.
    pub(super) fn is_dead(&self, id: NodeId) -> bool {
        self.dead.contains_key(&id)
    }

    /// Whether others vouch for that member, or it answered this node's detector.
    pub(super) fn is_vouched_for(&self, id: NodeId) -> bool {
        self.foca.iter_members().any(|member| member.id().id == id && member.state() == State::Alive)
    }

    /// Who is believed alive.
    pub(super) fn alive(&self) -> impl Iterator<Item = &Contact> {
        self.alive.values()
    }

    /// What has changed since this was last asked.
    pub(super) fn news(&mut self) -> News {
        std::mem::take(&mut self.news)
    }

    /// The packets that are to be sent, and to whom.
    pub(super) fn packets(&mut self) -> impl Iterator<Item = (NodeId, Bytes)> {
        std::iter::from_fn(|| self.runtime.to_send()).map(|(to, packet)| (to.id, packet))
    }

    /// Takes what `foca` wants scheduled and has noticed.
    fn digest(&mut self, now: Duration, forgets: bool) {
        while let Some((after, timer)) = self.runtime.to_schedule() {
            self.serial += 1;
            self.timers.insert((now + after, timer, self.serial));
        }
        let mut is_changed = forgets;
        while let Some(notification) = self.runtime.to_notify() {
            match notification {
                OwnedNotification::MemberUp(_) | OwnedNotification::MemberDown(_) | OwnedNotification::Rename(..) => {
                    is_changed = true;
                    self.news.members = true;
                }
                OwnedNotification::Rejoin(_) => self.news.revived = true,
                OwnedNotification::Active | OwnedNotification::Idle | OwnedNotification::Defunct => {}
            }
        }
        if is_changed {
            let all = self.foca.iter_membership_state();
            let (dead, alive): (Vec<_>, Vec<_>) = all.partition(|member| member.state() == State::Down);
            let by_id = |members: Vec<&foca::Member<Contact>>| members.into_iter().map(|m| (m.id().id, m.id().clone())).collect();
            (self.alive, self.dead) = (by_id(alive), by_id(dead));
        }
    }
}

/// A packet that can't be read, or is not for this node, is as one that was lost.
fn note(result: Result<(), foca::Error>) {
    if let Err(error) = result {
        tracing::debug!("membership: {error}");
    }
}

impl fmt::Debug for Swim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Swim")
            .field("me", self.foca.identity())
            .field("alive", &self.alive)
            .field("dead", &self.dead)
            .finish_non_exhaustive()
    }
}
