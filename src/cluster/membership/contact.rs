//! What is heard from other nodes: hellos, links, gossip.

use std::time::Duration;

use crate::naming::ErrorKind;
use crate::protocol::{Fault, Gossip, Introduction};
use crate::topology::{Endpoint, NodeId};

use super::book::Origin;
use super::forming::{Identity, Meeting};
use super::{DEPARTED, DialFailure, LinkId, Membership, Output, Peer, Rule, refusal};

impl Identity {
    pub(super) fn of(introduction: &Introduction) -> Self {
        Self { id: introduction.cluster_id, firm: introduction.firm }
    }
}

impl Membership {
    /// Somebody dialled us. A node that is admitted is dialled in turn.
    pub(super) fn hello(&mut self, now: Duration, them: &Introduction) -> Result<(), Fault> {
        let id = them.member.id;
        if id == self.me.id || self.departed.contains(&id) {
            return Ok(());
        }
        if them.cluster != self.cluster {
            let fault = refusal::other_cluster(&self.me, &self.cluster, them);
            self.warn(now, &them.member.endpoint, &fault);
            return Err(fault);
        }
        if them.member.name == self.me.name {
            return Err(self.contest_own_name(now, them));
        }
        self.contest(now, &them.member)?;
        if self.meet(now, them) == Meeting::Clash {
            return Err(self.clash(now, them));
        }
        self.book.note(now, &them.member.endpoint, Origin::Hearsay, true);
        Ok(())
    }

    pub(super) fn opened(&mut self, now: Duration, link: LinkId, them: Introduction) {
        let id = them.member.id;
        let address = self.book.dialled(link).map(|(address, _)| address);
        let Some(address) = address.filter(|_| !self.has_left && !self.failed) else {
            self.outputs.push(Output::Close { link });
            return;
        };
        // Whoever was reached at this address before is not there any more.
        let before = self.peers.values().filter(|peer| peer.via == address && peer.link.is_none() && peer.member().id != id);
        let before: Vec<NodeId> = before.map(|peer| peer.member().id).collect();
        for gone in before {
            self.replace(now, gone);
        }
        let welcome = if id == self.me.id { Ok(false) } else { self.welcome(now, &address, &them) };
        if let Some(entry) = self.book.get_mut(&address) {
            match &welcome {
                Ok(_) => entry.opened(id),
                Err(fault) => entry.rejected(now, &self.timing, fault.clone()),
            }
        }
        if welcome != Ok(true) {
            self.outputs.push(Output::Close { link });
            return;
        }
        self.warnings.clear(&address);
        self.warnings.clear(&them.member.endpoint);
        let peer = Peer {
            edition: None,
            shared_id: None,
            is_settled: false,
            link: Some(link),
            via: address,
            heard: now,
            next_beat: now,
            has: None,
            beheld: 0,
            sees_us: false,
            refusals: 0,
            introduction: them,
        };
        if self.rules.hold(Rule::DeadAreGreeted) || !self.swim.is_dead(id) {
            self.swim.greet(now, peer.member());
        }
        self.peers.insert(id, peer);
    }

    /// Judges who answered at `address`: whether it becomes a member by this link (`false`: it is linked already).
    fn welcome(&mut self, now: Duration, address: &Endpoint, them: &Introduction) -> Result<bool, Fault> {
        if them.cluster != self.cluster {
            let fault = refusal::other_cluster(&self.me, &self.cluster, them);
            self.warn(now, address, &fault);
            return Err(fault);
        }
        if them.member.name == self.me.name {
            return Err(self.contest_own_name(now, them));
        }
        if self.departed.contains(&them.member.id) {
            return Err(refusal::leaving(&them.member));
        }
        self.contest(now, &them.member)?;
        match self.meet(now, them) {
            Meeting::Clash => return Err(self.clash(now, them)),
            Meeting::Adopt(identity) => self.adopt(now, identity),
            Meeting::Keep => {}
        }
        Ok(self.peers.get(&them.member.id).is_none_or(|peer| peer.link.is_none()))
    }

    pub(super) fn not_opened(&mut self, now: Duration, link: LinkId, failure: DialFailure) {
        let Some((address, entry)) = self.book.dialled(link) else { return };
        match failure {
            DialFailure::Rejected(fault) => {
                entry.rejected(now, &self.timing, (*fault).clone());
                if fault.code == ErrorKind::Configuration.code() {
                    self.warn(now, &address, &fault);
                }
            }
            DialFailure::Unreachable => entry.failed(now, &self.timing),
            DialFailure::Refused => {
                entry.failed(now, &self.timing);
                let broken = self.peers.values_mut().find(|peer| peer.via == address && peer.link.is_none());
                if let Some(peer) = broken {
                    peer.refusals += 1;
                    if peer.refusals >= 2 && self.rules.hold(Rule::RefusedTwiceDies) {
                        let id = peer.member().id;
                        self.bury(now, id);
                    }
                }
            }
        }
    }

    pub(super) fn lost(&mut self, now: Duration, link: LinkId) {
        if let Some(peer) = self.peers.values_mut().find(|peer| peer.link == Some(link)) {
            peer.link = None;
            peer.refusals = 0;
            self.book.lost(now, &peer.via);
        }
    }

    pub(super) fn answered(&mut self, now: Duration, link: LinkId, gossip: Gossip) {
        if let Some(peer) = self.peers.values_mut().find(|peer| peer.link == Some(link)) {
            peer.heard = now;
            self.hear(now, gossip);
        }
    }

    /// Takes gossip, whoever began to speak.
    pub(super) fn hear(&mut self, now: Duration, gossip: Gossip) {
        let Gossip { speaker: id, edition, introduction, has, beheld, sees_you, leaving, settled, packets } = gossip;
        if id == self.me.id || self.departed.contains(&id) || self.has_left {
            return;
        }
        if leaving {
            self.depart(now, id);
            return;
        }
        // Who it is must be known; what it has changed is told in the end by `has`.
        let is_told = introduction.is_some();
        let known = introduction.or_else(|| self.peers.get(&id).map(|peer| Box::new(peer.introduction.clone())));
        let Some(them) = known.filter(|them| them.cluster == self.cluster && them.member.name != self.me.name) else { return };
        let meeting = self.meet(now, &them);
        if let Some(peer) = self.peers.get_mut(&id) {
            if meeting == Meeting::Clash {
                self.clash(now, &them);
                self.bury(now, id);
                return;
            }
            if is_told {
                peer.introduction = *them;
                peer.edition = Some(edition);
            }
            peer.is_settled = settled;
            peer.beheld = beheld;
            peer.sees_us = sees_you;
            peer.has = has;
            if let Meeting::Adopt(identity) = meeting {
                self.adopt(now, identity);
            }
        } else if meeting == Meeting::Clash {
            return;
        } else {
            // It speaks, so it lives: it may have been taken for dead.
            self.book.note(now, &them.member.endpoint, Origin::Hearsay, true);
        }
        for packet in packets {
            self.swim.take(now, &packet);
        }
    }

    /// The rule of [`forming`](super::forming), with its exception: mates follow each other.
    fn meet(&self, now: Duration, them: &Introduction) -> Meeting {
        let theirs = Identity::of(them);
        let meeting = self.identity.meet(&self.me, theirs, &them.member);
        if meeting != Meeting::Clash {
            return meeting;
        }
        let was_mate = self.peers.get(&them.member.id).is_some_and(|peer| peer.shared_id == self.identity.id);
        if was_mate {
            return Meeting::Adopt(theirs);
        }
        // We moved, and this mate of before has not heard of it yet.
        let follows = |(id, when): (_, Duration)| theirs.id == Some(id) && now < when + self.timing.silent;
        if self.left_behind.is_some_and(follows) { Meeting::Keep } else { Meeting::Clash }
    }

    fn clash(&mut self, now: Duration, them: &Introduction) -> Fault {
        let ids = [self.identity.id, them.cluster_id];
        let fault = refusal::other_id(&self.me, &self.cluster, ids, &them.member);
        self.warn(now, &them.member.endpoint, &fault);
        fault
    }

    fn adopt(&mut self, now: Duration, identity: Identity) {
        if let Some(old) = self.identity.id.filter(|old| Some(*old) != identity.id) {
            self.left_behind = Some((old, now));
        }
        self.identity = identity;
        self.telling.is_news = true;
    }

    /// Another process is where a member was: that one is gone for certain.
    pub(super) fn replace(&mut self, now: Duration, id: NodeId) {
        if self.rules.hold(Rule::ReplacedDies) {
            self.swim.bury(now, id);
            self.bury(now, id);
        }
    }

    /// A member is dead. Its address is dialled on: after a split it may be there again.
    pub(super) fn bury(&mut self, now: Duration, id: NodeId) {
        let Some(peer) = self.peers.remove(&id) else { return };
        if let Some(link) = peer.link {
            self.outputs.push(Output::Close { link });
        }
        if self.rules.hold(Rule::DeadAreDialled) {
            self.book.lost(now, &peer.via);
        } else {
            self.book.forget(&peer.via);
        }
    }

    /// A member has left.
    fn depart(&mut self, now: Duration, id: NodeId) {
        self.swim.bury(now, id);
        if self.departed.len() == DEPARTED {
            self.departed.pop_front();
        }
        self.departed.push_back(id);
        let Some(peer) = self.peers.remove(&id) else { return };
        if let Some(link) = peer.link {
            self.outputs.push(Output::Close { link });
        }
        self.book.forget(&peer.via);
        self.book.forget(&peer.member().endpoint);
    }
}
