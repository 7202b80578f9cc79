//! One call's attempts: who is called, what comes after, and when it's over.
//!
//! A state machine without I/O. Whoever drives it asks [`next`](Attempts::next) for a target, has the call made, and tells
//! [`succeeded`](Attempts::succeeded), [`failed`](Attempts::failed) or [`abandoned`](Attempts::abandoned). A target that was
//! given is told back exactly once, however its call ends.

use std::sync::Arc;
use std::time::Duration;

use crate::failure::verdict::{self, Need};
use crate::failure::{Action, Category, CompletionStatus, Phase};
use crate::naming::{ErrorKind, NamingError};
use crate::protocol::RefusalReason;

use super::super::config::LONGEST;
use super::super::fleet::Fleet;
use super::super::rounds::{Rounds, Turn};
use super::super::target::TargetId;
use super::super::trail::{Outcome, Trail, Try, Why};
use super::super::words::seconds;
use super::failure::{Failure, Sign};

/// What to do next.
#[derive(Debug)]
pub enum Step {
    /// Call this target.
    Call(TargetId),
    /// Wait until then, or until something changes in the fleet, and ask again.
    Wait {
        /// The time to wait for, in the driver's time.
        until: Duration,
    },
    /// There is no further attempt. The last failure comes out; this error where no attempt was made at all.
    Over(Option<NamingError>),
}

/// What comes after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequel {
    /// Another one.
    Again,
    /// The failure comes out.
    Raise,
    /// Nothing: it ran, and its reply isn't needed.
    Success,
}

/// The attempt under way.
#[derive(Debug)]
struct Current {
    target: TargetId,
    label: Arc<str>,
    started: Duration,
}

/// One call's attempts.
#[derive(Debug)]
pub struct Attempts {
    need: Need,
    timeout: Duration,
    deadline: Duration,
    rounds: Rounds,
    trail: Trail,
    current: Option<Current>,
    /// Whose turn it is, once that is settled.
    picked: Option<TargetId>,
    /// Targets were called.
    calls: u32,
}

impl Attempts {
    /// A call that begins at `now` and has `timeout` in all. What it needs decides what its failures allow.
    pub fn new(need: Need, now: Duration, timeout: Duration) -> Self {
        let timeout = timeout.min(LONGEST);
        Self {
            need,
            timeout,
            deadline: now.saturating_add(timeout),
            rounds: Rounds::default(),
            trail: Trail::default(),
            current: None,
            picked: None,
            calls: 0,
        }
    }

    /// When it ends at the latest: no attempt is begun after this.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// The attempts made so far.
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// Whom to call now. An attempt that is under way is given up by this.
    pub fn next(&mut self, fleet: &mut Fleet, now: Duration) -> Step {
        self.abandoned(fleet, now);
        match self.look(fleet, now) {
            Step::Call(id) => {
                self.picked = None;
                self.begin(fleet, id, now)
            }
            step => step,
        }
    }

    /// Whose turn it is. That stays settled until [`begin`](Self::begin).
    fn look(&mut self, fleet: &mut Fleet, now: Duration) -> Step {
        if now >= self.deadline {
            Rounds::note_open(fleet, &mut self.trail);
            return Step::Over(self.never_called(ErrorKind::TimeLimitExceeded));
        }
        if let Some(id) = self.picked {
            return Step::Call(id);
        }
        if let Some(until) = self.rounds.still_waiting(fleet, now) {
            return Step::Wait { until };
        }
        let reach = self.rounds.reach();
        match self.rounds.turn(fleet, reach, now, self.deadline) {
            Turn::Ask(id) => {
                self.picked = Some(id);
                Step::Call(id)
            }
            Turn::Wait(until) => Step::Wait { until },
            Turn::RoundOver => {
                self.rounds.note_unresolvable(fleet, &mut self.trail);
                match self.rounds.next(fleet, now, self.deadline) {
                    Some(until) => {
                        self.trail.explain_next(Why::NextRound);
                        Step::Wait { until }
                    }
                    None => Step::Over(self.never_called(ErrorKind::ServiceUnavailable)),
                }
            }
            Turn::NobodyLeft => Step::Over(self.never_called(ErrorKind::ServiceUnavailable)),
        }
    }

    fn begin(&mut self, fleet: &mut Fleet, id: TargetId, now: Duration) -> Step {
        let Some(target) = fleet.target(id) else {
            // It went after its turn was settled: whoever else is there is called.
            return self.next(fleet, now);
        };
        self.current = Some(Current { target: id, label: Arc::clone(&target.label), started: now });
        self.calls += 1;
        self.rounds.asked(id);
        // A call of another library may open a connection each time.
        fleet.connecting(id, now);
        fleet.begin(id);
        Step::Call(id)
    }

    /// The call came back as it should.
    pub fn succeeded(&mut self, fleet: &mut Fleet, now: Duration) {
        let Some(current) = self.current.take() else { return };
        fleet.end(current.target);
        fleet.answered(current.target, current.started, now);
        self.note(&current, now, Phase::Answer, Outcome::Answered("done"), CompletionStatus::Yes);
    }

    /// The call failed.
    pub fn failed(&mut self, fleet: &mut Fleet, now: Duration, failure: Failure) -> Sequel {
        let Some(current) = self.current.take() else { return Sequel::Raise };
        fleet.end(current.target);
        let (id, started) = (current.target, current.started);
        match failure.sign() {
            Sign::Well => fleet.well(id, started, now),
            Sign::Failed => {
                self.rounds.facts.broken = true;
                fleet.fail(id, started, now);
            }
            Sign::Silent => {
                self.rounds.facts.silent = true;
                fleet.silent(id, started, now);
            }
            Sign::Quiescing => {
                self.rounds.facts.refusing = true;
                fleet.turned_away(id, RefusalReason::Quiescing, started, now);
            }
            Sign::Overloaded => {
                self.rounds.facts.refusing = true;
                fleet.turned_away(id, RefusalReason::Overloaded, started, now);
            }
            Sign::Nothing => {}
        }
        let completion = failure.completion();
        let action = self.action(&failure);
        self.note(&current, now, failure.phase(), Outcome::Failed(failure.words.into()), completion);
        match action {
            Action::Success => Sequel::Success,
            Action::Failover => {
                self.trail.explain_next(if completion == CompletionStatus::No { Why::NotRun } else { Why::Idempotent });
                match self.look(fleet, now) {
                    Step::Over(_) => Sequel::Raise,
                    Step::Call(_) | Step::Wait { .. } => Sequel::Again,
                }
            }
            Action::RetryLater | Action::Surface | Action::Ignore => Sequel::Raise,
        }
    }

    /// What the verdict allows this call.
    fn action(&self, failure: &Failure) -> Action {
        match if self.need.idempotent { failure.action_if_idempotent } else { failure.action } {
            // A verdict supposes that no value is missed.
            Action::Success if self.need.value => verdict::action(failure.completion(), self.need, true),
            // "Later" is for when nobody is left: this one refused, and the others were not asked.
            Action::RetryLater if failure.category == Category::Quiescing => Action::Failover,
            action => action,
        }
    }

    /// The call was given up: whether it ran is not known, and it says nothing of the target.
    pub fn abandoned(&mut self, fleet: &mut Fleet, now: Duration) {
        let Some(current) = self.current.take() else { return };
        fleet.end(current.target);
        self.note(&current, now, Phase::Wait, Outcome::Abandoned, CompletionStatus::Maybe);
    }

    /// The error of a call that could not even be begun.
    fn never_called(&mut self, kind: ErrorKind) -> Option<NamingError> {
        if self.calls > 0 {
            return None;
        }
        let what = match kind {
            ErrorKind::TimeLimitExceeded => format!("no server was known in {}", seconds(self.timeout)),
            _ => "no server is known".to_owned(),
        };
        let told: Vec<String> = self.trail.last_words().iter().map(|(name, words)| format!("{name}: {words}")).collect();
        let told = if told.is_empty() { String::new() } else { format!(". {}", told.join("; ")) };
        let error = NamingError::new(kind, format!("{what}{told}. Safe to retry."));
        Some(error.with_completion(CompletionStatus::No).with_repeatable(true).with_attempts(self.trail.attempts()))
    }

    fn note(&mut self, current: &Current, now: Duration, phase: Phase, outcome: Outcome, completion: CompletionStatus) {
        self.trail.push(Try {
            label: Arc::clone(&current.label),
            node: None,
            phase,
            outcome,
            completion,
            elapsed: now.saturating_sub(current.started),
            hurried: false,
            why_next: None,
            is_stale: false,
        });
    }
}
