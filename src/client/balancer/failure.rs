//! What a failure that was judged says: of the target, and of how far the attempt came.

use crate::failure::{Action, Category, CompletionStatus, Phase};

/// A failed attempt as a verdict tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it was.
    pub category: Category,
    /// Whether the request ran; `None` where there is no failure.
    pub completion: Option<CompletionStatus>,
    /// What the verdict allows for a call that must not run twice.
    pub action: Action,
    /// What it allows for one that may.
    pub action_if_idempotent: Action,
    /// What came back, in words.
    pub words: String,
}

/// What a failure says of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It answered.
    Well,
    /// It could not be reached, broke off, or has lost what was asked of it.
    Failed,
    /// It did not answer in time.
    Silent,
    /// It's leaving, or takes nothing now.
    Quiescing,
    /// It could not serve the request, and perhaps cannot serve others.
    Overloaded,
    /// Nothing: the fault lies with the request, the settings or this process.
    Nothing,
}

impl Failure {
    pub(super) fn sign(&self) -> Sign {
        match self.category {
            Category::NamingAnswer | Category::Application => Sign::Well,
            Category::NotConnected | Category::ConnectionLost | Category::ResultLost | Category::StaleReference => Sign::Failed,
            Category::NoResponse => Sign::Silent,
            Category::Quiescing => Sign::Quiescing,
            Category::AllUnavailable => Sign::Overloaded,
            Category::TransactionRolledBack
            | Category::WorkloadManagerFault
            | Category::Security
            | Category::Configuration
            | Category::Marshalling
            | Category::ResourceExhausted
            | Category::ClientShutdown
            | Category::NotAFailure
            | Category::Unknown => Sign::Nothing,
        }
    }

    /// Whether the request ran; what is not known may have.
    pub(super) fn completion(&self) -> CompletionStatus {
        self.completion.unwrap_or(CompletionStatus::Maybe)
    }

    /// How far the attempt came, as far as that can be told.
    pub(super) fn phase(&self) -> Phase {
        match self.category {
            Category::NotConnected | Category::Configuration => Phase::Connect,
            Category::Security => Phase::Handshake,
            Category::Quiescing
            | Category::AllUnavailable
            | Category::StaleReference
            | Category::TransactionRolledBack
            | Category::WorkloadManagerFault
            | Category::NamingAnswer
            | Category::Application => Phase::Answer,
            Category::ConnectionLost
            | Category::NoResponse
            | Category::ResultLost
            | Category::Marshalling
            | Category::ResourceExhausted
            | Category::ClientShutdown
            | Category::NotAFailure
            | Category::Unknown => match self.completion() {
                CompletionStatus::No => Phase::Send,
                CompletionStatus::Maybe => Phase::Wait,
                CompletionStatus::Yes => Phase::Receive,
            },
        }
    }
}
