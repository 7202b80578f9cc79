//! The rule that leads from a completion status to what may be done next.
//!
//! This is the only place where the rule stands. A request that did not run may go to another server; one that ran
//! must not; one that may have run is repeated only where repeating does no harm.

use super::CompletionStatus;

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

/// What a call needs, as far as the decision depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Running it twice does no harm: a read, or a mutation that carries an operation id the server recognises.
    pub idempotent: bool,
    /// The caller needs the value that the reply carries (a lookup does, an unbind does not).
    pub value: bool,
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
