//! What follows from what is known: deaths by silence, the cluster's id, readiness, the view, whom to dial and to tell.

use std::time::Duration;

use crate::protocol::Fault;
use crate::topology::{Member, MemberState, NodeId, View};

use super::book::Origin;
use super::forming::Identity;
use super::{LinkId, Membership, Output, Peer, Rule};

impl Membership {
    pub(super) fn tick(&mut self, now: Duration) {
        let lateness = self.tick_due.map_or(Duration::ZERO, |due| now.saturating_sub(due));
        self.tick_due = Some(now + self.timing.tick);
        if lateness > self.timing.late && self.rules.hold(Rule::LateDiscards) {
            self.started += lateness;
            self.swim.slept(now, lateness);
            for peer in self.peers.values_mut() {
                peer.heard = now;
            }
        }
        if !self.has_left {
            self.swim.tick(now);
        }
        self.drop_the_silent(now);
        self.warnings.expire(now, self.timing.warning);
        self.contested.retain(|_, since| now.saturating_sub(*since) < self.timing.warning);
        self.book.tidy();
    }

    /// Closes links on which nothing is answered, and lets go of members that can't be reached.
    fn drop_the_silent(&mut self, now: Duration) {
        for peer in self.peers.values_mut().filter(|peer| now.saturating_sub(peer.heard) >= self.timing.silent) {
            if let Some(link) = peer.link.take() {
                peer.refusals = 0;
                self.outputs.push(Output::Close { link });
                self.book.lost(now, &peer.via);
            }
        }
        let mut given_up = Vec::new();
        for peer in self.peers.values() {
            let (silence, id) = (now.saturating_sub(peer.heard), peer.member().id);
            let is_unreached = silence >= self.timing.unreached && self.rules.hold(Rule::UnreachedLeaves);
            let is_lost = || self.rules.hold(Rule::SilentNeedsVouching) && !self.swim.is_vouched_for(id);
            if is_unreached || silence >= self.timing.silent && is_lost() {
                given_up.push(id);
            }
        }
        for id in given_up {
            self.bury(now, id);
        }
    }

    /// Draws the conclusions from whatever happened, and gives what is to be done.
    pub(super) fn settle(&mut self, now: Duration) -> Vec<Output> {
        if !self.has_left && !self.failed {
            self.follow(now);
            self.resolve_seeds(now);
            self.found(now);
            self.harden(now);
            self.serve(now);
            self.give_up(now);
            self.dial(now);
        }
        self.renew_view();
        self.tell(now);
        std::mem::take(&mut self.outputs)
    }

    /// Acts on what the failure detector found out.
    fn follow(&mut self, now: Duration) {
        let news = self.swim.news();
        if (news.members || news.revived) && self.rules.hold(Rule::DeadAreGreeted) {
            for peer in self.peers.values().filter(|peer| peer.link.is_some()) {
                if news.revived || self.swim.is_dead(peer.member().id) {
                    self.swim.greet(now, peer.member());
                }
            }
        }
        let is_met = |id: NodeId| self.peers.contains_key(&id) || self.departed.contains(&id);
        for contact in self.swim.alive().filter(|contact| contact.endpoint != self.me.endpoint && !is_met(contact.id)) {
            self.book.note(now, &contact.endpoint, Origin::Hearsay, false);
        }
    }

    /// Founds a cluster where there is nobody to meet, or nobody was met for long enough.
    fn found(&mut self, now: Duration) {
        let is_alone = self.seeds.are_only(&self.book, self.me.id) && !self.is_expecting(now);
        if self.identity.id.is_none() && (is_alone || !self.is_patient(now)) {
            self.identity = Identity::proposed_by(&self.me);
            self.telling.is_news = true;
        }
    }

    /// Whether nobody whom this node should know is unheard of: each seed is in its cluster, was so once, or is of another
    /// for good.
    pub(super) fn is_settled(&self) -> bool {
        let is_known = |id: NodeId| match self.peers.get(&id) {
            Some(peer) => Some(peer.identity().id == self.identity.id),
            None => (id == self.me.id).then_some(true),
        };
        self.seeds.are_resolved()
            && self
                .book
                .seeds()
                .all(|(_, entry)| entry.answered.and_then(is_known).unwrap_or(entry.was_united || entry.refusal().is_some()))
    }

    /// Whether that member has stopped forming a cluster with this node: nobody is unheard of, on neither side.
    fn is_formed_with(&self, peer: &Peer, beheld: u64) -> bool {
        peer.is_settled && peer.sees_us && self.is_one_view_with(peer, beheld)
    }

    /// Whether that member is in this node's cluster and believes the same nodes alive.
    fn is_one_view_with(&self, peer: &Peer, beheld: u64) -> bool {
        peer.identity().id == self.identity.id && peer.beheld == beheld
    }

    /// Makes the id firm: the cluster has another member, and has stopped forming. That is so when all members have met each
    /// other and each of them is settled: a node that is still unheard of might bring a cluster of its own.
    fn harden(&mut self, now: Duration) {
        let id = self.identity.id;
        for peer in self.peers.values_mut().filter(|peer| peer.identity().id == id) {
            peer.shared_id = id;
        }
        let peers = &self.peers;
        self.book.note_united(|seed| peers.get(&seed).is_some_and(|peer| peer.identity().id == id));
        if self.identity.firm || self.peers.is_empty() {
            self.company_since = None;
            return;
        }
        let since = *self.company_since.get_or_insert(now);
        let beheld = self.beheld();
        let is_formed = self.is_settled() && self.peers.values().all(|peer| self.is_formed_with(peer, beheld));
        if is_formed || now.saturating_sub(since) >= self.timing.firm_after {
            self.identity.firm = true;
            self.telling.is_news = true;
        }
    }

    fn serve(&mut self, now: Duration) {
        if self.me.state != MemberState::Joining {
            return;
        }
        if !self.joining.met && self.unmet(now).is_none() {
            self.joining.met = true;
            self.outputs.push(Output::Met);
        }
        if self.joining.met && self.joining.has_tree {
            self.set_state(MemberState::Live);
            self.outputs.push(Output::Ready);
            let missed: Vec<_> = self.missed_seeds().map(Output::Warned).collect();
            self.outputs.extend(missed);
        }
    }

    /// The seeds for whose silence this node is alone, in words: a mistyped one would else make a cluster of its own unseen.
    pub(super) fn missed_seeds(&self) -> impl Iterator<Item = String> {
        let missed = self.seeds.unanswered(&self.book).filter(|_| self.peers.is_empty());
        missed.map(|seed| format!("seed {seed} has never answered: until it does this node is a cluster of its own"))
    }

    /// Why this node is not ready, in words; `None` where it is.
    pub fn unready(&self, now: Duration) -> Option<String> {
        if self.me.state != MemberState::Joining {
            return None;
        }
        if self.joining.met {
            return Some("the cluster tree is not yet copied from the other nodes".to_owned());
        }
        self.unmet(now)
    }

    /// Whom this node has still to meet, in words; `None` where nobody is left.
    fn unmet(&self, now: Duration) -> Option<String> {
        if self.identity.id.is_none() {
            return Some("no seed has answered yet".to_owned());
        }
        let patient = self.is_patient(now);
        if let Some(seed) = self.seeds.unresolved().next().filter(|_| patient) {
            return Some(format!("the host name of seed {seed} is being resolved"));
        }
        if self.past.needs_others && self.peers.is_empty() {
            return Some("its data was given up, and no other node is met from which it could be copied".to_owned());
        }
        let beheld = self.beheld();
        self.book.awaited().find_map(|(address, entry)| match entry.answered {
            Some(id) => self.peers.get(&id).and_then(|peer| {
                if !peer.sees_us {
                    let own = &self.me.endpoint;
                    return Some(format!("node {} at {address} does not see this node: can it reach {own}?", peer.member().name));
                }
                let name = &peer.member().name;
                (patient && !self.is_one_view_with(peer, beheld))
                    .then(|| format!("node {name} sees other members than this node does"))
            }),
            None if patient && (entry.is_open_question() || self.peers.is_empty()) => {
                Some(format!("{} {address} has not answered yet", entry.what()))
            }
            None => None,
        })
    }

    /// Gives up joining where every seed that is there does not want this node.
    fn give_up(&mut self, now: Duration) {
        if self.me.state != MemberState::Joining || !self.peers.is_empty() {
            return;
        }
        let is_open = self.seeds.unresolved().next().is_some() || self.book.seeds().any(|(_, e)| e.is_open_question());
        let rejected = self.book.seeds().find_map(|(_, entry)| entry.refusal().cloned());
        if let Some(fault) = rejected.filter(|_| !is_open || !self.is_patient(now)) {
            self.fail(fault);
        }
    }

    pub(super) fn fail(&mut self, fault: Fault) {
        if !self.failed {
            self.failed = true;
            self.outputs.push(Output::Failed(fault));
        }
    }

    fn dial(&mut self, now: Duration) {
        let (peers, me) = (&self.peers, self.me.id);
        let last_link = &mut self.last_link;
        let due = self.book.due(
            now,
            |address, entry| {
                let is_answered = |id: NodeId| id == me || peers.get(&id).is_some_and(|peer| peer.link.is_some());
                let mut linked = peers.values().filter(|peer| peer.link.is_some());
                entry.answered.is_some_and(is_answered)
                    || linked.any(|peer| peer.via == *address || peer.member().endpoint == *address)
            },
            || {
                *last_link += 1;
                LinkId(*last_link)
            },
        );
        self.outputs.extend(due.into_iter().map(|(link, to)| Output::Dial { link, to }));
    }

    /// The members beside this node: whom it can reach, and nobody has called dead.
    pub(super) fn others(&self) -> impl Iterator<Item = &Member> {
        self.peers.values().map(Peer::member).filter(|member| !self.swim.is_dead(member.id))
    }

    fn renew_view(&mut self) {
        let shown = |member: &Member| self.view.member(member.id) == Some(member);
        let is_same = self.view.members().len() == self.others().count() + 1
            && self.view.cluster_id() == self.identity.id
            && shown(&self.me)
            && self.others().all(shown);
        if is_same {
            return;
        }
        let members = self.others().cloned().chain([self.me.clone()]);
        let view = View::new(self.cluster.clone(), self.identity.id, members.collect());
        self.view = view.clone();
        self.telling.is_news = true;
        self.outputs.push(Output::View(view));
    }

    /// Whether those who may know this node from before still have time to dial it.
    fn is_expecting(&self, now: Duration) -> bool {
        self.past.may_be_known && now.saturating_sub(self.started) < self.timing.known_after
    }

    /// Whether seeds that are silent are still waited for.
    fn is_patient(&self, now: Duration) -> bool {
        now.saturating_sub(self.started) < self.timing.found_after
    }
}
