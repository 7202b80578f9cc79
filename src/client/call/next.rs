//! Who is asked next, and when.

use std::time::Duration;

use crate::protocol::Scope;

use super::super::cache::Cache;
use super::super::fleet::{Fleet, Reach};
use super::super::rounds::Turn;
use super::super::target::TargetId;
use super::super::trail::Why;
use super::{Call, Current, Output, Send};

/// The first server that is sent a change has this long, where another could be sent it too and would know it by its id. A
/// node waits 250 ms for one that is silent: whoever has not answered by then is silent itself.
const FIRST_CHANGE: Duration = Duration::from_millis(265);
/// It has so many times as long as it usually takes, all the same: who is far away or has much to do must not have more to do
/// for that.
const USUAL: u32 = 20;
/// A connection is to stand after this, where another server is well: until then nothing was sent, so the request may go there
/// whatever it asks. The kernel at the other end connects in one round trip, however busy its programs are; a network that
/// swallows what is sent (the other address family, often) would be waited for as long as a silent server. It's the shortest
/// delay that RFC 8305 advises between connects that race.
const CONNECTED: Duration = Duration::from_millis(100);
/// How often a name that is waited for is asked for.
const POLL: std::ops::RangeInclusive<Duration> = Duration::from_millis(5)..=Duration::from_millis(20);

impl Call {
    /// Sends the next request, or waits for when it can be sent, or gives up.
    pub(super) fn advance(&mut self, fleet: &mut Fleet, now: Duration) -> Output {
        if now >= self.deadline {
            return self.out_of_time(fleet, now);
        }
        if let Some(output) = self.recall(fleet, now) {
            return output;
        }
        if let Some(until) = self.rounds.still_waiting(fleet, now) {
            return Output::Wait { until };
        }
        if let Some(target) = self.fresh.take() {
            return self.send(fleet, now, target, true);
        }
        if let Some(preferred) = self.preferred(fleet, now) {
            fleet.budget.deposit();
            return self.send(fleet, now, preferred, false);
        }
        let reach = if self.incomplete { Reach::Known } else { self.rounds.reach() };
        match self.rounds.turn(fleet, reach, now, self.deadline) {
            Turn::Ask(target) => self.send(fleet, now, target, false),
            Turn::Wait(until) => Output::Wait { until },
            Turn::RoundOver => self.round_over(fleet, now),
            Turn::NobodyLeft => self.nobody_left(fleet, now),
        }
    }

    /// Who is asked first: for a change of the cluster tree its coordinator, which saves a hop; for a lookup whose answer
    /// is to be kept the node of which it's known when that ceases to be true.
    fn preferred(&self, fleet: &Fleet, now: Duration) -> Option<TargetId> {
        if self.request.scope != Scope::Cluster || !self.rounds.is_first() {
            return None;
        }
        match self.invocation.looks_up() {
            Some(_) => fleet.followed(now),
            None => fleet.owner_of(self.invocation.changes_under()?),
        }
    }

    fn send(&mut self, fleet: &mut Fleet, now: Duration, id: TargetId, fresh: bool) -> Output {
        let Some(target) = fleet.target(id) else {
            // It went while its fresh connection was due: whoever else is there is asked.
            return self.advance(fleet, now);
        };
        let (label, node) = (target.label.clone(), target.node_name.clone());
        let usual = target.latency.guess(now);
        let asked_at = fleet.cache.as_ref().map_or(0, Cache::moment);
        let extent = fleet.session.extent();
        let settles = self.settles || fleet.session.settles(now);
        self.request.known = fleet.known(id, self.invocation.is_mutation(), settles);
        if !fresh {
            self.rounds.asked(id);
        }
        let remaining = self.deadline.saturating_sub(now);
        let has_another = fleet.has_good_beside(&self.rounds.tried);
        let mut most = self.attempt_limit;
        let is_recognised = self.invocation.is_mutation() && self.need().idempotent;
        if let Some(usual) = usual.filter(|_| is_recognised && has_another && self.rounds.is_at_first()) {
            most = most.min(FIRST_CHANGE.max(usual * USUAL));
        }
        let mut limit = most.min(remaining);
        if !self.invocation.is_mutation() && limit > remaining / 2 && has_another {
            // Half of what is left, so that another server can still be asked.
            limit = remaining / 2;
        }
        let ends = now + limit;
        let is_elsewhere_possible = has_another && !self.invocation.is_pinned();
        let connects_within = if is_elsewhere_possible { CONNECTED.max(usual.unwrap_or_default() * USUAL) } else { limit };
        let hurried = limit < most;
        self.current = Some(Current { target: id, extent, label, node, started: now, limit, asked_at, hurried });
        self.request.time_left = self.told_limit(limit);
        fleet.begin(id);
        Output::Send(Send { target: id, connects_by: ends.min(now + connects_within), ends, fresh })
    }

    /// Everybody had his turn.
    fn round_over(&mut self, fleet: &mut Fleet, now: Duration) -> Output {
        if self.incomplete {
            // Who was silent to one node may well answer the client: it is asked before the error, once.
            let silent = self.silent.take().filter(|silent| !silent.is_empty() && !self.invocation.waits());
            let Some(silent) = silent else { return self.nobody_left(fleet, now) };
            self.rounds.tried.retain(|target| !silent.contains(target));
            return self.advance(fleet, now);
        }
        if self.rounds.behind && !self.settles {
            self.settles = true;
            self.trail.explain_next(Why::NobodyHasAll);
            self.rounds.again();
            return self.advance(fleet, now);
        }
        self.rounds.note_unresolvable(fleet, &mut self.trail);
        let facts = &self.rounds.facts;
        if !facts.refusing && !facts.silent && !facts.broken && self.rejected.is_some() {
            return self.nobody_left(fleet, now);
        }
        let Some(until) = self.rounds.next(fleet, now, self.deadline) else { return self.nobody_left(fleet, now) };
        self.trail.explain_next(Why::NextRound);
        self.freshened.clear();
        self.rejected = None;
        Output::Wait { until }
    }

    /// A name that is waited for isn't there yet, or nobody could say: asks again in a moment.
    pub(super) fn poll_again(&mut self, fleet: &mut Fleet, now: Duration) -> Output {
        use rand::RngExt as _;
        self.trail.explain_next(Why::Waiting);
        let worst = self.worst;
        self.begin_hop(fleet);
        self.worst = worst;
        let pause = fleet.rng.random_range(POLL);
        Output::Wait { until: self.rounds.pause(now + pause, self.deadline) }
    }
}
