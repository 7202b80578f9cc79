//! Two nodes of one name: a restart, or a mistake?
//!
//! A node that was restarted comes back as a new incarnation, often before its death was noticed: it replaces the old at
//! once. Two different nodes that bear one name at the same time are a mistake in somebody's configuration: the later one
//! is refused. What tells them apart is whether the old one still answers after the new one has come.

use std::time::Duration;

use crate::protocol::{Fault, Introduction};
use crate::topology::{Member, MemberState};

use super::{Membership, refusal};

impl Membership {
    /// Whether `newcomer` may bear its name beside the members that are known. An old bearer that is evidently gone is
    /// buried.
    pub(super) fn contest(&mut self, now: Duration, newcomer: &Member) -> Result<(), Fault> {
        let bearer = self.peers.values().find(|peer| peer.member().name == newcomer.name && peer.member().id != newcomer.id);
        let Some(old) = bearer else {
            self.contested.remove(&newcomer.id);
            return Ok(());
        };
        let id = old.member().id;
        if old.member().endpoint == newcomer.endpoint || old.via == newcomer.endpoint {
            self.replace(now, id);
            self.contested.remove(&newcomer.id);
            return Ok(());
        }
        if old.link.is_none() {
            self.bury(now, id);
            self.contested.remove(&newcomer.id);
            return Ok(());
        }
        let since = *self.contested.entry(newcomer.id).or_insert(now);
        if old.heard > since {
            let fault = refusal::name_taken(old.member(), newcomer);
            self.warn(now, &newcomer.endpoint, &fault);
            return Err(fault);
        }
        let fault = refusal::name_in_question(old.member());
        if let Some(old) = self.peers.get_mut(&id) {
            old.next_beat = now;
        }
        Err(fault)
    }

    /// Another node bears this node's own name: the one that serves stays; of two that join, the lower incarnation.
    pub(super) fn contest_own_name(&mut self, now: Duration, them: &Introduction) -> Fault {
        let am_later =
            self.me.state == MemberState::Joining && (them.member.state != MemberState::Joining || them.member.id < self.me.id);
        if am_later {
            self.fail(refusal::name_taken(&them.member, &self.me));
            return refusal::name_in_question(&self.me);
        }
        let fault = refusal::name_taken(&self.me, &them.member);
        self.warn(now, &them.member.endpoint, &fault);
        fault
    }
}
