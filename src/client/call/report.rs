//! How a call that failed is told.
//!
//! A message reads itself: what happened, what each node did, and whether it's safe to send the operation again.
//! `'orders': not answered in 5.0 s. n1: no such name; n3: silent. Safe to retry.`

use std::fmt::Write as _;
use std::time::Duration;

use crate::failure::{CompletionStatus, Phase};
use crate::naming::{Detail, ErrorKind, Listed, NamingError};
use crate::protocol::{Fault, RefusalReason, Scope};
use crate::transport::{TransportError, TransportErrorKind};

use super::super::fault;
use super::super::fleet::Fleet;
use super::super::rounds::Rounds;
use super::super::trail::Outcome;
use super::super::words::seconds;
use super::heard::Heard;
use super::{Call, Current, Output};

impl Call {
    /// Keeps what a listing had gathered where the node was not able to gather all.
    pub(super) fn partial(&mut self, fault: &Fault) {
        self.partial = [self.invocation.partial(), &fault.partial].concat();
    }

    /// Adds what every error of this call bears.
    pub(super) fn complete(&mut self, error: NamingError, completion: CompletionStatus) -> NamingError {
        if let Some(last) = self.trail.last_mut() {
            last.why_next = None;
        }
        let told = self.invocation.told(&error);
        let error = match self.invocation.concerned(&error) {
            Some(given) if error.fields().name.is_none() => error.with_name(given),
            _ => error,
        };
        let error = error.or_unresolved().with_message(told);
        let error = match self.invocation.seen_from_its_context(&error) {
            Some((resolved, remaining)) => error.with_resolution(resolved, remaining),
            None => error,
        };
        let error = match self.request.operation_id {
            Some(id) if completion == CompletionStatus::Maybe && self.request.scope == Scope::Cluster => {
                error.with_operation(id.to_string())
            }
            _ => error,
        };
        error.with_completion(completion).with_repeatable(!self.invocation.is_mutation()).with_attempts(self.trail.attempts())
    }

    /// The deadline has come.
    pub(super) fn out_of_time(&mut self, fleet: &mut Fleet, now: Duration) -> Output {
        Rounds::note_open(fleet, &mut self.trail);
        let what = if self.invocation.waits() { "not bound" } else { "not answered" };
        let message = format!("{what} in {}", seconds(self.timeout));
        let error = self.indefinite(fleet, ErrorKind::TimeLimitExceeded, &message, self.worst);
        self.last_known(fleet, now, error)
    }

    /// The caller gave up.
    pub(super) fn given_up(&mut self, fleet: &Fleet) -> NamingError {
        let completion = match self.worst {
            // It was asked whether the name is there; when it will be has no answer.
            CompletionStatus::Yes if self.invocation.waits() => CompletionStatus::Maybe,
            worst => worst,
        };
        self.indefinite(fleet, ErrorKind::Communication, "given up by the caller", completion)
    }

    /// The only node there is takes nothing any longer.
    pub(in super::super) fn refused_for_good(&mut self, fleet: &mut Fleet, now: Duration, reason: RefusalReason) -> NamingError {
        let Some(current) = self.current.take() else { return self.given_up(fleet) };
        fleet.end(current.target);
        self.note(&current, now, Phase::Answer, Outcome::Refused(reason), CompletionStatus::No);
        let node = current.node.as_ref().unwrap_or(&current.label);
        let error = if reason == RefusalReason::Closed {
            NamingError::new(ErrorKind::ContextClosed, format!("node {node} is closed"))
        } else {
            let message = format!("node {node} is {}. Safe to retry.", reason.as_str());
            NamingError::new(ErrorKind::ServiceUnavailable, message)
        };
        self.complete(error, CompletionStatus::No)
    }

    /// Nobody is left to ask.
    pub(super) fn nobody_left(&mut self, fleet: &mut Fleet, now: Duration) -> Output {
        let error = if let Some(rejection) = self.rejected.take_if(|_| !self.incomplete) {
            let error = fault::to_error(*rejection);
            self.complete(error, CompletionStatus::No)
        } else {
            let message = if self.incomplete {
                self.invocation.told_of_silence(self.not_context.as_deref())
            } else if self.trail.ended_in_silence() {
                "not answered".to_owned()
            } else {
                "no server can be reached".to_owned()
            };
            self.indefinite(fleet, ErrorKind::ServiceUnavailable, &message, self.worst)
        };
        self.finish(fleet, now, error)
    }

    /// A request left, or ran, and what came of it can't be known.
    pub(super) fn unsettled(
        &mut self,
        fleet: &mut Fleet,
        now: Duration,
        current: &Current,
        error: &TransportError,
        completion: CompletionStatus,
    ) -> Output {
        let timed_out = matches!(error.kind, TransportErrorKind::TimedOut(_));
        let error = if timed_out && now >= self.deadline {
            let message = format!("not answered in {}", seconds(self.timeout));
            self.indefinite(fleet, ErrorKind::TimeLimitExceeded, &message, completion)
        } else {
            let message = match completion {
                CompletionStatus::No | CompletionStatus::Yes => "it ran, and its answer is lost",
                CompletionStatus::Maybe if timed_out => {
                    return self.finish_unsettled(fleet, now, current, completion);
                }
                CompletionStatus::Maybe => "it was sent, and the connection broke before the answer",
            };
            self.indefinite(fleet, ErrorKind::Communication, message, completion)
        };
        self.finish(fleet, now, error)
    }

    fn finish_unsettled(&mut self, fleet: &mut Fleet, now: Duration, current: &Current, completion: CompletionStatus) -> Output {
        let waited = seconds(now.saturating_sub(current.started));
        let message = format!("it was sent, and not answered in {waited}");
        let error = self.indefinite(fleet, ErrorKind::Communication, &message, completion);
        self.finish(fleet, now, error)
    }

    /// An error that is nobody's answer: it says what each node did.
    fn indefinite(&mut self, fleet: &Fleet, kind: ErrorKind, what: &str, completion: CompletionStatus) -> NamingError {
        let mut message = self.invocation.others_undecided() + what;
        let heard = self.heard_of_each(fleet);
        if !heard.is_empty() {
            let told: Vec<String> = heard.iter().map(|heard| format!("{}: {}", heard.node, heard.words)).collect();
            let _ = write!(message, ". {}", told.join("; "));
        }
        let detail = self.silence(heard);
        let error = self.complete(NamingError::new(kind, ""), completion).with_detail(detail);
        message.push_str(advice(&error));
        error.with_message(message)
    }

    /// Who answered and who did not, and what was gathered.
    fn silence(&mut self, heard: Vec<Heard>) -> Detail {
        let partial: Vec<Listed> =
            if self.partial.is_empty() { self.invocation.partial().to_vec() } else { std::mem::take(&mut self.partial) };
        if heard.is_empty() && partial.is_empty() {
            return Detail::None;
        }
        let (silent, answered): (Vec<Heard>, Vec<Heard>) = heard.into_iter().partition(|heard| heard.is_silence);
        let nodes = |heard: Vec<Heard>| heard.into_iter().map(|heard| heard.node).collect();
        Detail::Silence { answered: nodes(answered), silent: nodes(silent), partial }
    }
}

/// The message's last words.
fn advice(error: &NamingError) -> &'static str {
    if error.safe_to_retry() {
        ". Safe to retry."
    } else if error.fields().completion == CompletionStatus::Maybe {
        ". It may have run: look before sending it again."
    } else {
        ". It ran: don't send it again."
    }
}
