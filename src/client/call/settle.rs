//! What came of an attempt, and what that allows.

use std::sync::Arc;
use std::time::Duration;

use crate::failure::verdict::{self, Action};
use crate::failure::{CompletionStatus, Phase};
use crate::naming::{ErrorKind, NamingError};
use crate::protocol::{self, Fault, ProtocolError, RefusalReason, Reply};
use crate::transport::{TransportError, TransportErrorKind};

use super::super::fault;
use super::super::fleet::Fleet;
use super::super::invocation::{Next, unexpected};
use super::super::trail::{Outcome, Why};
use super::{Call, Current, Output};

impl Call {
    /// A whole reply came: the node answered.
    pub(super) fn replied(&mut self, fleet: &mut Fleet, now: Duration, reply: Reply) -> Output {
        let Some(current) = self.current.take() else { return self.advance(fleet, now) };
        fleet.end(current.target);
        self.keep(fleet, now, &current, &reply);
        let (reply, is_stale) = match reply {
            Reply::Stale(reply) => (*reply, true),
            reply => (reply, false),
        };
        self.is_stale = is_stale;
        if let Some(known) = &self.request.known {
            let is_refused = matches!(&reply, Reply::Failed(Fault { refusal: Some(_), .. }));
            if !is_stale && !is_refused && known.is_required {
                fleet.has_seen(current.target, current.extent);
            }
            if !known.is_required && !is_refused {
                fleet.session.answered(is_stale, now);
            }
        }
        let next = match reply {
            Reply::Stale(_) => Next::Fail(unexpected("one that is marked twice")),
            Reply::Done(answer) => {
                self.heard(fleet, &current, now);
                self.invocation.accept(answer)
            }
            Reply::Failed(fault) => match self.faulted(fleet, now, &current, fault) {
                Ok(next) => next,
                Err(output) => return output,
            },
        };
        let (outcome, why) = match &next {
            Next::Done(_, outcome) => (outcome.clone(), None),
            Next::Link(target) => (Outcome::Link(target.clone()), Some(Why::Link)),
            Next::More => (Outcome::Answered("answered in part"), Some(Why::More)),
            Next::Incomplete { answered, silent, not_context } => {
                let answer = self.invocation.answer_beside_silence(not_context.is_some());
                let (answered, silent) = (answered.clone(), silent.clone());
                (Outcome::Incomplete { answer, answered, silent }, Some(Why::MayKnowMore))
            }
            Next::Fail(error) => (Outcome::Fault(error.kind(), error.fields().message.as_str().into()), None),
        };
        let completion = match &next {
            Next::Fail(error) => error.fields().completion,
            _ => CompletionStatus::Yes,
        };
        self.note(&current, now, Phase::Answer, outcome, completion);
        if let Some(why) = why {
            self.trail.explain_next(why);
        }
        match next {
            Next::Done(product, _) => Output::Done(Ok(product)),
            Next::Link(_) | Next::More => {
                self.begin_hop(fleet);
                self.advance(fleet, now)
            }
            Next::Incomplete { silent, not_context, .. } => {
                self.not_context = not_context;
                self.request.operation = self.invocation.operation();
                self.ask_those_who_may_know_more(fleet, now, &silent)
            }
            Next::Fail(error) => {
                let error = if is_stale { stale(error) } else { error };
                let error = self.complete(error, completion);
                self.finish(fleet, now, error)
            }
        }
    }

    /// The node answered with a fault: a naming answer, a refusal, or word that it could not find out.
    fn faulted(&mut self, fleet: &mut Fleet, now: Duration, current: &Current, fault: Fault) -> Result<Next, Output> {
        if let Some(refusal) = &fault.refusal {
            fleet.refused(current.target, refusal, current.started, now);
            match refusal.reason {
                RefusalReason::Closed => self.rounds.facts.broken = true,
                RefusalReason::Behind if !self.settles => self.rounds.behind = true,
                _ => self.rounds.facts.refusing = true,
            }
            self.note(current, now, Phase::Answer, Outcome::Refused(refusal.reason), CompletionStatus::No);
            return Err(self.elsewhere(fleet, now, CompletionStatus::No));
        }
        self.heard(fleet, current, now);
        if let Some(next) = self.invocation.accept_fault(&fault) {
            return Ok(next);
        }
        let kind = ErrorKind::from_code(fault.code);
        let reads = !self.invocation.is_mutation();
        if kind == ErrorKind::ServiceUnavailable && !fault.silent.is_empty() && reads {
            self.partial(&fault);
            let not_context = fault.resolved_name;
            return Ok(Next::Incomplete { answered: fault.answered, silent: fault.silent, not_context });
        }
        let indefinite = matches!(kind, ErrorKind::ServiceUnavailable | ErrorKind::Communication | ErrorKind::TimeLimitExceeded);
        if !indefinite {
            return Ok(Next::Fail(fault::to_error(fault)));
        }
        let completion = fault.completion;
        self.rounds.facts.silent |= kind == ErrorKind::TimeLimitExceeded;
        self.rounds.facts.broken |= kind != ErrorKind::TimeLimitExceeded;
        let outcome = Outcome::Fault(kind, fault.message.as_str().into());
        self.note(current, now, Phase::Answer, outcome, completion);
        match verdict::action(completion, self.need(), true) {
            Action::Failover | Action::RetryLater if !self.invocation.is_pinned() => Err(self.elsewhere(fleet, now, completion)),
            _ => {
                let error = fault::to_error(fault);
                let error = self.complete(error, completion);
                Err(self.finish(fleet, now, error))
            }
        }
    }

    /// No usable reply came.
    pub(super) fn broke(&mut self, fleet: &mut Fleet, now: Duration, error: &TransportError, reused: bool) -> Output {
        let Some(current) = self.current.take() else { return self.advance(fleet, now) };
        fleet.end(current.target);
        let completion = completion_of(error);
        self.note(&current, now, error.phase, Outcome::Broke(error.kind.clone()), completion);
        if let TransportErrorKind::Protocol(too_long @ ProtocolError::MessageTooLong { .. }) = &error.kind {
            let error = NamingError::new(ErrorKind::LimitExceeded, too_long.to_string());
            let error = self.complete(error, CompletionStatus::No);
            return Output::Done(Err(error));
        }
        let repeatable = completion == CompletionStatus::No || self.need().idempotent;
        if reused && error.kind == TransportErrorKind::Lost && repeatable && !self.freshened.contains(&current.target) {
            self.freshened.push(current.target);
            fleet.forget_extent(current.target);
            self.fresh = Some(current.target);
            self.trail.explain_next(Why::Fresh);
            return self.advance(fleet, now);
        }
        fleet.broke(current.target, error, current.started, now);
        self.remember(error);
        if error.phase == Phase::Connect && matches!(error.kind, TransportErrorKind::TimedOut(_)) {
            // As RFC 8305 takes the families in turn: a network that swallows one of them does so whatever the address.
            self.rounds.doubted = fleet.family_of(current.target);
        }
        match verdict::action(completion, self.need(), true) {
            Action::Failover | Action::RetryLater if !self.invocation.is_pinned() => self.elsewhere(fleet, now, completion),
            Action::Success => self.ran_without_a_word(fleet, now, &current, error),
            _ if completion == CompletionStatus::No => self.nobody_left(fleet, now),
            _ => self.unsettled(fleet, now, &current, error, completion),
        }
    }

    /// The target answered. A request that it was asked to hold doesn't tell how fast it is.
    fn heard(&self, fleet: &mut Fleet, current: &Current, now: Duration) {
        if self.invocation.is_held().is_zero() {
            fleet.answered(current.target, current.started, now);
        } else {
            fleet.well(current.target, current.started, now);
        }
    }

    fn remember(&mut self, error: &TransportError) {
        match &error.kind {
            TransportErrorKind::Rejected(fault) => match &fault.refusal {
                Some(refusal) if refusal.reason != RefusalReason::Closed => self.rounds.facts.refusing = true,
                Some(_) => self.rounds.facts.broken = true,
                None => self.rejected = Some(fault.clone()),
            },
            TransportErrorKind::TimedOut(_) if error.phase >= Phase::Handshake => self.rounds.facts.silent = true,
            _ => self.rounds.facts.broken = true,
        }
    }

    /// Nobody has it, so far: others are asked, and those that were silent after all others.
    fn ask_those_who_may_know_more(&mut self, fleet: &mut Fleet, now: Duration, silent: &[Arc<str>]) -> Output {
        if let Some(set_aside) = &mut self.silent {
            let is_silent = |name: &Arc<str>| silent.contains(name);
            for target in fleet.targets().filter(|target| target.node_name.as_ref().is_some_and(is_silent)) {
                if !self.rounds.tried.contains(&target.id) {
                    self.rounds.tried.push(target.id);
                    set_aside.push(target.id);
                }
            }
        }
        self.incomplete = true;
        self.advance(fleet, now)
    }

    /// Another server may be asked.
    fn elsewhere(&mut self, fleet: &mut Fleet, now: Duration, completion: CompletionStatus) -> Output {
        if self.invocation.is_pinned() {
            return self.nobody_left(fleet, now);
        }
        self.trail.explain_next(match completion {
            CompletionStatus::No => Why::NotRun,
            _ if self.invocation.is_mutation() => Why::Recognised,
            _ => Why::ReadAgain,
        });
        self.advance(fleet, now)
    }

    /// It ran, as the header says, and the body is lost. No value is needed.
    fn ran_without_a_word(&mut self, fleet: &mut Fleet, now: Duration, current: &Current, error: &TransportError) -> Output {
        if let Some(protocol::Outcome::Failed(kind)) = error.outcome {
            let error = NamingError::new(kind, "the node's answer came without its details: only its kind is known");
            let error = self.complete(error, CompletionStatus::Yes);
            return self.finish(fleet, now, error);
        }
        let node = current.node.as_ref().unwrap_or(&current.label);
        match self.invocation.assumed(node) {
            Some(product) => Output::Done(Ok(product)),
            None => self.unsettled(fleet, now, current, error, CompletionStatus::Yes),
        }
    }
}

/// An error that may be none any longer.
fn stale(error: NamingError) -> NamingError {
    let message = format!("{} (stale: every server that answers lacks what this client has seen)", error.fields().message);
    error.with_message(message)
}

/// What is known of whether the request ran. A header that came without its body tells the outcome; where that is
/// no definite answer, it may as well have been a refusal.
fn completion_of(error: &TransportError) -> CompletionStatus {
    match error.outcome {
        Some(protocol::Outcome::Failed(
            ErrorKind::ServiceUnavailable
            | ErrorKind::Communication
            | ErrorKind::TimeLimitExceeded
            | ErrorKind::Internal
            | ErrorKind::Unknown(_),
        )) => CompletionStatus::Maybe,
        _ => error.completion(),
    }
}
