//! Rounds: in each of them every server has its turn once, those in good health first. What comes after a round, and how
//! many there are, depends on what the round has brought.
//!
//! The rules stand here once, for the calls of an HA context ([`super::call`]) and for those that a program makes with
//! another library ([`super::balancer`]): where every server refused the connection there is one more round after the
//! first backoff; where some are silent, rounds go on with growing pauses; where some take nothing *now*, the call waits
//! until they will. The first request pays into the budget, the first retry is free, each further one draws on it, unless
//! the servers themselves have asked for it.

use std::sync::Arc;
use std::time::Duration;

use crate::failure::{CompletionStatus, Phase};

use super::backoff;
use super::fleet::{Fleet, Pick, Reach};
use super::target::TargetId;
use super::trail::{Outcome, Trail, Try};

/// No wait is shorter: a server that asks for less is asked again after this.
const SHORTEST_WAIT: Duration = Duration::from_millis(10);
/// Where every server refused, so many rounds are made.
const ROUNDS_OF_REFUSALS: u32 = 2;
/// So long news of other servers is waited for where all that are known refused: a name is asked for once a second at most,
/// and its name servers answer soon or not in time.
const FOR_NEWS: Duration = Duration::from_millis(1250);

/// What a round has brought so far, as far as it decides what comes after the round.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Somebody said that he takes nothing now: he will, later.
    pub(super) refusing: bool,
    /// Somebody took the request and was silent: he may wake up.
    pub(super) silent: bool,
    /// Somebody could not be reached, or broke off.
    pub(super) broken: bool,
}

/// Why a call waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    /// For a server to be well again: news of one ends it.
    Servers(Duration),
    /// For its time: nothing else ends it.
    Time(Duration),
    /// For a list of servers that is being asked for again: its news end it, whatever they are.
    News(Duration),
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// This one's.
    Ask(TargetId),
    /// Nobody's before then, unless something changes.
    Wait(Duration),
    /// Everybody had his.
    RoundOver,
    /// Nobody's any longer.
    NobodyLeft,
}

/// The rounds of one request.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    waiting: Option<Waiting>,
    /// When it first was somebody's turn: what was listed before may be outdated.
    began: Option<Duration>,
    /// Until when news of other servers is worth waiting for, once it was waited for.
    news_by: Option<Duration>,
    /// Who had his turn in this round.
    pub(super) tried: Vec<TargetId>,
    /// Where a connection was not made in time, all targets of that address family: they have their turn after the others.
    pub(super) doubted: Vec<TargetId>,
    /// Rounds that are over.
    over: u32,
    /// Requests sent.
    sends: u32,
    /// This round was asked for by the servers themselves: its attempts draw on no budget.
    invited: bool,
    /// Somebody lacks what this client has seen.
    pub(super) behind: bool,
    pub(super) facts: Facts,
    /// In the round before this one nobody was silent, or would take it later.
    refused_before: bool,
}

impl Rounds {
    /// Makes ready for another request.
    pub(super) fn begin(&mut self) {
        self.tried.clear();
        self.doubted.clear();
        self.began = None;
        self.news_by = None;
        self.over = 0;
        self.sends = 0;
        self.invited = false;
        self.behind = false;
        self.facts = Facts::default();
        self.refused_before = false;
    }

    /// Asks all once more, for something that they may answer now. It draws on no budget.
    pub(super) fn again(&mut self) {
        self.tried.clear();
        self.invited = true;
        self.behind = false;
        self.facts = Facts::default();
    }

    /// Until when nothing is to be done yet.
    pub(super) fn still_waiting(&mut self, fleet: &Fleet, now: Duration) -> Option<Duration> {
        let (until, over) = match self.waiting? {
            Waiting::Servers(until) => (until, now >= until || fleet.has_good_beside(&self.tried)),
            Waiting::Time(until) => (until, now >= until),
            Waiting::News(until) => (until, now >= until || fleet.has_good_beside(&self.tried) || !self.expects_news(fleet, now)),
        };
        if over {
            self.waiting = None;
            return None;
        }
        Some(until)
    }

    /// Whom this round may still ask.
    pub(super) fn reach(&self) -> Reach {
        if self.over == 0 { Reach::Anybody } else { Reach::Patient }
    }

    /// Whose turn it is. No wait goes beyond `deadline`.
    pub(super) fn turn(&mut self, fleet: &mut Fleet, reach: Reach, now: Duration, deadline: Duration) -> Turn {
        self.began.get_or_insert(now);
        match self.pick(fleet, reach, now) {
            Pick::Target(target) => match self.pay(fleet, now) {
                Ok(()) => Turn::Ask(target),
                Err(_) if self.refused_before && self.all_refused() => {
                    self.for_news(fleet, now, deadline).map_or(Turn::NobodyLeft, Turn::Wait)
                }
                Err(at) => Turn::Wait(self.wait(Waiting::Time(at), deadline)),
            },
            Pick::NotYet => {
                self.facts.refusing = true;
                Turn::RoundOver
            }
            Pick::Soon(at) => Turn::Wait(at.min(deadline)),
            // Whatever is heard of the names, it's looked at anew.
            Pick::Unsettled => Turn::Wait(deadline),
            Pick::Nobody => Turn::RoundOver,
        }
    }

    /// One of those in good health whose addresses are of a family in which connections are made, else anybody.
    fn pick(&self, fleet: &mut Fleet, reach: Reach, now: Duration) -> Pick {
        if !self.doubted.is_empty() {
            let others: Vec<TargetId> = self.tried.iter().chain(&self.doubted).copied().collect();
            if let Pick::Target(target) = fleet.pick(&others, Reach::Good, now) {
                return Pick::Target(target);
            }
        }
        fleet.pick(&self.tried, reach, now)
    }

    /// Whether this is the first request, so that whose turn it is may be decided otherwise.
    pub(super) fn is_first(&self) -> bool {
        self.sends == 0
    }

    /// Whether it is the first server's turn, again perhaps.
    pub(super) fn is_at_first(&self) -> bool {
        self.over == 0 && self.tried.len() <= 1
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

    /// Whether one more request could be sent at once.
    pub(super) fn affords_another(&self, fleet: &mut Fleet, now: Duration) -> bool {
        self.sends < 2 || self.invited || fleet.budget.available(now) > 0
    }

    /// This one is asked: it has had its turn.
    pub(super) fn asked(&mut self, target: TargetId) {
        self.tried.push(target);
        self.sends += 1;
    }

    /// Waits until then, whatever happens, and gives until when.
    pub(super) fn pause(&mut self, until: Duration, deadline: Duration) -> Duration {
        self.wait(Waiting::Time(until), deadline)
    }

    fn wait(&mut self, waiting: Waiting, deadline: Duration) -> Duration {
        let (Waiting::Servers(until) | Waiting::Time(until) | Waiting::News(until)) = waiting;
        let until = until.min(deadline);
        self.waiting = Some(match waiting {
            Waiting::Servers(_) => Waiting::Servers(until),
            Waiting::Time(_) => Waiting::Time(until),
            Waiting::News(_) => Waiting::News(until),
        });
        until
    }

    /// Everybody had his turn: until when to wait before the next round, or `None` where there is none.
    pub(super) fn next(&mut self, fleet: &mut Fleet, now: Duration, deadline: Duration) -> Option<Duration> {
        self.over += 1;
        if self.all_refused() && self.over >= ROUNDS_OF_REFUSALS {
            return self.for_news(fleet, now, deadline);
        }
        let until = if self.facts.refusing {
            self.invited = true;
            fleet.next_refusal_over().unwrap_or(now + backoff::FIRST).max(now + SHORTEST_WAIT)
        } else {
            self.invited = false;
            let nth = if self.facts.silent { self.over } else { 1 };
            now + backoff::delay(nth, &mut fleet.rng)
        };
        self.refused_before = self.all_refused();
        self.tried.clear();
        self.facts = Facts::default();
        Some(self.wait(Waiting::Servers(until), deadline))
    }

    /// All that are known refuse, and who else there may be is being asked: until when to wait for that, or `None` where
    /// the list is as new as can be. The round after it is free: it's not the same servers that are asked again.
    fn for_news(&mut self, fleet: &Fleet, now: Duration, deadline: Duration) -> Option<Duration> {
        let until = *self.news_by.get_or_insert(now + FOR_NEWS);
        if now >= until || !self.expects_news(fleet, now) {
            return None;
        }
        self.invited = true;
        self.tried.clear();
        self.facts = Facts::default();
        Some(self.wait(Waiting::News(until), deadline))
    }

    fn expects_news(&self, fleet: &Fleet, now: Duration) -> bool {
        self.began.is_some_and(|began| fleet.is_about_to_know(began, now))
    }

    /// Whether nobody has refused with the prospect of taking it later, and nobody was silent.
    fn all_refused(&self) -> bool {
        !self.facts.refusing && !self.facts.silent
    }

    /// Lists that nobody has told yet, for a call that runs out of time.
    pub(super) fn note_open(fleet: &Fleet, trail: &mut Trail) {
        for question in fleet.open_questions() {
            trail.push(unresolved(
                question.subject().into(),
                format!("{question}: no answer yet{}", fleet.asked_whom(question)).into_boxed_str(),
            ));
        }
    }

    /// Host names without an address count as servers that could not be reached.
    pub(super) fn note_unresolvable(&mut self, fleet: &Fleet, trail: &mut Trail) {
        for (host, why) in fleet.unresolvable() {
            self.facts.broken = true;
            trail.push(unresolved(host, why.into()));
        }
    }
}

fn unresolved(label: Arc<str>, why: Box<str>) -> Try {
    Try {
        label,
        node: None,
        phase: Phase::Resolve,
        outcome: Outcome::Unresolvable(why),
        completion: CompletionStatus::No,
        elapsed: Duration::ZERO,
        hurried: false,
        why_next: None,
        is_stale: false,
    }
}
