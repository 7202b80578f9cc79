//! Who is asked next, and when.

use std::time::Duration;

use crate::failure::{CompletionStatus, Phase};

use super::super::backoff;
use super::super::fleet::{Fleet, Pick, Reach};
use super::super::target::TargetId;
use super::super::trail::{Outcome, Try, Why};
use super::{Call, Current, Facts, Output, Send, Waiting};

/// How often a name that is waited for is asked for.
const POLL: std::ops::RangeInclusive<Duration> = Duration::from_millis(5)..=Duration::from_millis(20);
/// No wait is shorter: a server that asks for less is asked again after this.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);
/// Where every server refused, so many rounds are made.
const ROUNDS_OF_REFUSALS: u32 = 2;

impl Call {
    /// Sends the next request, or waits for when it can be sent, or gives up.
    pub(super) fn advance(&mut self, fleet: &mut Fleet, now: Duration) -> Output {
        if now >= self.deadline {
            return self.out_of_time(fleet);
        }
        if let Some(waiting) = self.waiting {
            let (until, over) = match waiting {
                Waiting::ForServers(until) => (until, now >= until || fleet.has_good_beside(&self.tried)),
                Waiting::ForTime(until) => (until, now >= until),
            };
            if !over {
                return Output::Wait { until };
            }
            self.waiting = None;
        }
        if let Some(target) = self.fresh.take() {
            return self.send(fleet, now, target, true);
        }
        let reach = match (&self.incomplete, self.rounds) {
            (Some(_), _) => Reach::Good,
            (None, 0) => Reach::Anybody,
            (None, _) => Reach::Patient,
        };
        match fleet.pick(&self.tried, reach, now) {
            Pick::Target(target) => match self.pay(fleet, now) {
                Ok(()) => self.send(fleet, now, target, false),
                Err(_) if self.rounds > 0 && self.all_refused() => self.nobody_left(fleet, now),
                Err(at) => self.wait(Waiting::ForTime(at)),
            },
            Pick::NotYet => {
                self.facts.refusing = true;
                self.round_over(fleet, now)
            }
            // Whatever is heard of the names, it's looked at anew.
            Pick::Unsettled => Output::Wait { until: self.deadline },
            Pick::Nobody => self.round_over(fleet, now),
        }
    }

    /// The first request pays into the budget, the first retry is free, each further one draws on it.
    fn pay(&mut self, fleet: &mut Fleet, now: Duration) -> Result<(), Duration> {
        match self.sends {
            0 => fleet.budget.deposit(),
            1 => {}
            _ if self.invited => {}
            _ => fleet.budget.draw(now)?,
        }
        Ok(())
    }

    fn send(&mut self, fleet: &mut Fleet, now: Duration, id: TargetId, fresh: bool) -> Output {
        let Some(target) = fleet.target(id) else {
            // It went while its fresh connection was due: whoever else is there is asked.
            return self.advance(fleet, now);
        };
        self.current = Some(Current { target: id, label: target.label.clone(), node: target.node_name.clone(), started: now });
        if !fresh {
            self.tried.push(id);
            self.sends += 1;
        }
        let remaining = self.deadline.saturating_sub(now);
        let mut limit = self.attempt_limit.min(remaining);
        if !self.invocation.is_mutation() && limit > remaining / 2 && fleet.has_good_beside(&self.tried) {
            // Half of what is left, so that another server can still be asked.
            limit = remaining / 2;
        }
        let ends = now + limit;
        self.request.time_left = u32::try_from(limit.as_micros()).unwrap_or(u32::MAX).max(1);
        fleet.begin(id);
        Output::Send(Send { target: id, ends, fresh })
    }

    fn wait(&mut self, waiting: Waiting) -> Output {
        let (Waiting::ForServers(until) | Waiting::ForTime(until)) = waiting;
        let until = until.min(self.deadline);
        self.waiting = Some(match waiting {
            Waiting::ForServers(_) => Waiting::ForServers(until),
            Waiting::ForTime(_) => Waiting::ForTime(until),
        });
        Output::Wait { until }
    }

    /// Everybody had his turn.
    fn round_over(&mut self, fleet: &mut Fleet, now: Duration) -> Output {
        if self.incomplete.is_some() {
            return self.nobody_left(fleet, now);
        }
        self.note_unresolvable(fleet);
        if !self.facts.refusing && !self.facts.silent && !self.facts.broken && self.facts.rejected.is_some() {
            return self.nobody_left(fleet, now);
        }
        self.rounds += 1;
        if self.all_refused() && self.rounds >= ROUNDS_OF_REFUSALS {
            return self.nobody_left(fleet, now);
        }
        let until = if self.facts.refusing {
            self.invited = true;
            fleet.next_refusal_over().unwrap_or(now + backoff::FIRST).max(now + SHORTEST_WAIT)
        } else {
            self.invited = false;
            let nth = if self.facts.silent { self.rounds } else { 1 };
            now + backoff::delay(nth, &mut fleet.rng)
        };
        if let Some(last) = self.trail.last_mut() {
            last.why_next = Some(Why::NextRound);
        }
        self.tried.clear();
        self.freshened.clear();
        self.facts = Facts::default();
        self.wait(Waiting::ForServers(until))
    }

    /// Whether nobody has refused with the prospect of taking it later, and nobody was silent.
    fn all_refused(&self) -> bool {
        !self.facts.refusing && !self.facts.silent
    }

    fn note_unresolvable(&mut self, fleet: &Fleet) {
        for (host, why) in fleet.unresolvable() {
            self.facts.broken = true;
            self.trail.push(Try {
                label: host.to_string().into(),
                node: None,
                phase: Phase::Resolve,
                outcome: Outcome::Unresolvable(why.into()),
                completion: CompletionStatus::No,
                elapsed: Duration::ZERO,
                why_next: None,
            });
        }
    }

    /// A name that is waited for isn't there yet, or nobody could say: asks again in a moment.
    pub(super) fn poll_again(&mut self, fleet: &mut Fleet, now: Duration) -> Output {
        use rand::RngExt as _;
        if let Some(last) = self.trail.last_mut() {
            last.why_next = Some(Why::Waiting);
        }
        let worst = self.worst;
        self.begin_hop(fleet);
        self.worst = worst;
        let pause = fleet.rng.random_range(POLL);
        self.wait(Waiting::ForTime(now + pause))
    }
}
