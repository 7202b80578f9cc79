//! How a call that failed is told.
//!
//! A message reads itself: what happened, what each node did, and whether it's safe to send the operation again.
//! `'orders': not answered in 5.0 s. n1: no such name; n3: silent. Safe to retry.`

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use crate::failure::{CompletionStatus, Phase};
use crate::naming::{Detail, ErrorKind, Listed, NamingError};
use crate::protocol::{Fault, RefusalReason};
use crate::transport::{TransportError, TransportErrorKind};

use super::super::fault;
use super::super::fleet::Fleet;
use super::super::trail::{Outcome, Try};
use super::super::words::seconds;
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
        let error = error.with_message(told);
        let error = match error.fields().resolved_name.as_deref().and_then(|full| self.invocation.relative(full)) {
            Some(resolved) => {
                let remaining = error.fields().remaining_name.clone().unwrap_or_default();
                error.with_resolution(resolved, remaining)
            }
            None => error,
        };
        error.with_completion(completion).with_repeatable(!self.invocation.is_mutation()).with_attempts(self.trail.attempts())
    }

    /// The deadline has come.
    pub(super) fn out_of_time(&mut self, _fleet: &mut Fleet) -> Output {
        let what = if self.invocation.waits() { "not bound" } else { "not answered" };
        let message = format!("{what} in {}", seconds(self.timeout));
        Output::Done(Err(self.indefinite(ErrorKind::TimeLimitExceeded, &message, self.worst)))
    }

    /// The caller gave up.
    pub(super) fn given_up(&mut self) -> NamingError {
        self.indefinite(ErrorKind::Communication, "given up by the caller", self.worst)
    }

    /// The only node there is takes nothing any longer.
    pub(in super::super) fn refused_for_good(&mut self, fleet: &mut Fleet, now: Duration, reason: RefusalReason) -> NamingError {
        let Some(current) = self.current.take() else { return self.given_up() };
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
        let error = if let Some(rejection) = self.rejected.take_if(|_| self.incomplete.is_none()) {
            let error = fault::to_error(*rejection);
            self.complete(error, CompletionStatus::No)
        } else {
            let message = match &self.incomplete {
                Some(_) => self.invocation.told_of_silence(),
                None => "no server can be reached".to_owned(),
            };
            self.indefinite(ErrorKind::ServiceUnavailable, &message, self.worst)
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
            self.indefinite(ErrorKind::TimeLimitExceeded, &format!("not answered in {}", seconds(self.timeout)), completion)
        } else {
            let message = match completion {
                CompletionStatus::No | CompletionStatus::Yes => "it ran, and its answer is lost",
                CompletionStatus::Maybe if timed_out => {
                    return self.finish_unsettled(fleet, now, current, completion);
                }
                CompletionStatus::Maybe => "it was sent, and the connection broke before the answer",
            };
            self.indefinite(ErrorKind::Communication, message, completion)
        };
        self.finish(fleet, now, error)
    }

    fn finish_unsettled(&mut self, fleet: &mut Fleet, now: Duration, current: &Current, completion: CompletionStatus) -> Output {
        let waited = seconds(now.saturating_sub(current.started));
        let error = self.indefinite(ErrorKind::Communication, &format!("it was sent, and not answered in {waited}"), completion);
        self.finish(fleet, now, error)
    }

    /// An error that is nobody's answer: it says what each node did.
    fn indefinite(&mut self, kind: ErrorKind, what: &str, completion: CompletionStatus) -> NamingError {
        let mut message = self.invocation.others_undecided() + what;
        let words = self.words_of_each();
        if !words.is_empty() {
            let told: Vec<String> = words.iter().map(|(name, words)| format!("{name}: {words}")).collect();
            let _ = write!(message, ". {}", told.join("; "));
        }
        let detail = self.silence();
        let error = self.complete(NamingError::new(kind, ""), completion).with_detail(detail);
        message.push_str(advice(&error));
        error.with_message(message)
    }

    /// Each node's last word, in the order of their first.
    fn words_of_each(&self) -> Vec<(Arc<str>, String)> {
        // A node that answered and missed others' words is listed with those others, below.
        let mut words = self.trail.last_words(|attempt| !matches!(attempt.outcome, Outcome::Incomplete(..)));
        let mut say = |name: &Arc<str>, said: String| match words.iter_mut().find(|(known, _)| known == name) {
            Some((_, before)) => *before = said,
            None => words.push((Arc::clone(name), said)),
        };
        if let Some(incomplete) = &self.incomplete {
            incomplete.answered.iter().for_each(|node| say(node, self.invocation.answer_beside_silence().to_owned()));
            incomplete.silent.iter().for_each(|node| say(node, "silent".to_owned()));
        }
        words
    }

    /// Who answered and who did not, over all attempts.
    fn silence(&mut self) -> Detail {
        let mut answered: Vec<Arc<str>> = Vec::new();
        let mut silent: Vec<Arc<str>> = Vec::new();
        let partial: Vec<Listed> =
            if self.partial.is_empty() { self.invocation.partial().to_vec() } else { std::mem::take(&mut self.partial) };
        if let Some(incomplete) = &self.incomplete {
            answered.clone_from(&incomplete.answered);
            silent.clone_from(&incomplete.silent);
        }
        for attempt in self.trail.tries() {
            let name = attempt.name();
            if answered.contains(name) || silent.contains(name) {
                continue;
            }
            if is_silence(attempt) {
                silent.push(Arc::clone(name));
            } else if attempt.phase == Phase::Answer && !matches!(attempt.outcome, Outcome::Incomplete(..)) {
                answered.push(Arc::clone(name));
            }
        }
        if answered.is_empty() && silent.is_empty() && partial.is_empty() {
            return Detail::None;
        }
        Detail::Silence { answered, silent, partial }
    }
}

fn is_silence(attempt: &Try) -> bool {
    attempt.phase != Phase::Answer
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
