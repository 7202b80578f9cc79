//! The rule that leads from what is known of a failed call to what may be done next.
//!
//! This is the only place where the rule stands, for the HA context and for everything that classifies failures. A
//! request that did not run may go to another server; one that ran must not; one that may have run is repeated only
//! where repeating does no harm. And where each server would say the same, none is asked again.

use super::{Category, CompletionStatus, Fault};

/// What the caller should do with a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Send it to another server.
    Failover,
    /// No candidate is left now: try again later.
    RetryLater,
    /// Raise it to the caller.
    Surface,
    /// The call succeeded although its reply was lost, and no value is needed.
    Success,
    /// There is no failure here.
    Ignore,
}

impl Action {
    /// The word on the Python side, e.g. `"retry_later"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Failover => "failover",
            Self::RetryLater => "retry_later",
            Self::Surface => "surface",
            Self::Success => "success",
            Self::Ignore => "ignore",
        }
    }
}

impl std::fmt::Display for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a call needs, as far as the decision depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Running it twice does no harm: a read, or a mutation that carries an operation id the server recognises.
    pub idempotent: bool,
    /// The caller needs the value that the reply carries (a lookup does, an unbind does not).
    pub value: bool,
}

impl Need {
    /// Of a call that must not run twice and whose reply is not missed: what a verdict's `action` assumes.
    pub const EFFECT: Self = Self { idempotent: false, value: false };
    /// Of a call that may run twice and whose reply is wanted: what a verdict's `action_if_idempotent` assumes.
    pub const VALUE: Self = Self { idempotent: true, value: true };
}

/// The action for an attempt that broke with `completion` at an endpoint, where `candidates` says whether another
/// server is left to try.
pub fn action(completion: CompletionStatus, need: Need, candidates: bool) -> Action {
    let elsewhere = if candidates { Action::Failover } else { Action::RetryLater };
    match completion {
        CompletionStatus::No => elsewhere,
        CompletionStatus::Yes if !need.value => Action::Success,
        CompletionStatus::Yes | CompletionStatus::Maybe if need.idempotent => elsewhere,
        CompletionStatus::Yes | CompletionStatus::Maybe => Action::Surface,
    }
}

/// The action for a classified failure: [`action`] where the fault is an endpoint's. A list of candidates that is
/// exhausted leaves nothing but later, whatever became of its parts.
pub fn action_for(category: Category, completion: CompletionStatus, need: Need, candidates: bool) -> Action {
    match category.fault() {
        Fault::Endpoint => action(completion, need, candidates),
        Fault::Everywhere if category == Category::AllUnavailable => Action::RetryLater,
        Fault::Everywhere => action(completion, need, false),
        // What was not understood on the way back may be elsewhere; where it certainly did not run, the arguments are wrong.
        Fault::Deterministic if category == Category::Marshalling && completion == CompletionStatus::Maybe => {
            action(completion, need, candidates)
        }
        Fault::Deterministic => Action::Surface,
        Fault::None => Action::Ignore,
    }
}

/// What a failure means, and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What kind of failure it was.
    pub category: Category,
    /// A finer word: `connect_refused`, `tls_trust`, ….
    pub detail: &'static str,
    /// Whether the request ran; `None` where there is no failure.
    pub completion: Option<CompletionStatus>,
    /// What to do with a call that must not run twice.
    pub action: Action,
    /// What to do with one that may.
    pub action_if_idempotent: Action,
    /// A sentence for a person: what to do.
    pub advice: String,
    /// A sentence for a person: why.
    pub reason: String,
    /// The line or field that decided.
    pub evidence: String,
    /// How sure the rules are, from 0 to 1.
    pub confidence: f64,
}
