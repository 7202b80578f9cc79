//! What kind of failure it was, and whom the fault lies with.

/// What kind of failure it was. Each word says what a caller can do about it; a finer `detail` stands beside it in a
/// verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Never reached a server: refused, unreachable, name resolution, connect timed out.
    NotConnected,
    /// Refused before running: draining, overloaded, not started.
    Quiescing,
    /// Every candidate was tried.
    AllUnavailable,
    /// The connection broke after the request had left.
    ConnectionLost,
    /// Timed out waiting for the reply.
    NoResponse,
    /// It ran; the reply was lost or unreadable.
    ResultLost,
    /// The target object is gone: resolve again.
    StaleReference,
    /// The transaction is undone: redo the whole of it.
    TransactionRolledBack,
    /// The workload manager itself is broken.
    WorkloadManagerFault,
    /// Authentication, permission, TLS.
    Security,
    /// URL, provider, protocol mismatch.
    Configuration,
    /// A definite answer: not found, already bound, ….
    NamingAnswer,
    /// The target's own exception.
    Application,
    /// Arguments or results could not be written or read.
    Marshalling,
    /// This process, or the ORB for it, ran out of something.
    ResourceExhausted,
    /// The client itself was being shut down.
    ClientShutdown,
    /// No failure at all.
    NotAFailure,
    /// In the shape of a failure, and no rule knows it.
    Unknown,
}

/// Whom the fault lies with: what decides whether another server can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One server, or the way to it: another one may do better.
    Endpoint,
    /// All servers, or a resource that time brings back: later may do better.
    Everywhere,
    /// The request or the settings: each server would say the same.
    Deterministic,
    /// There is none.
    None,
}

impl Category {
    /// All of them, in the order of the contract.
    pub const ALL: [Self; 18] = [
        Self::NotConnected,
        Self::Quiescing,
        Self::AllUnavailable,
        Self::ConnectionLost,
        Self::NoResponse,
        Self::ResultLost,
        Self::StaleReference,
        Self::TransactionRolledBack,
        Self::WorkloadManagerFault,
        Self::Security,
        Self::Configuration,
        Self::NamingAnswer,
        Self::Application,
        Self::Marshalling,
        Self::ResourceExhausted,
        Self::ClientShutdown,
        Self::NotAFailure,
        Self::Unknown,
    ];

    /// The word on the Python side, e.g. `"not_connected"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotConnected => "not_connected",
            Self::Quiescing => "quiescing",
            Self::AllUnavailable => "all_unavailable",
            Self::ConnectionLost => "connection_lost",
            Self::NoResponse => "no_response",
            Self::ResultLost => "result_lost",
            Self::StaleReference => "stale_reference",
            Self::TransactionRolledBack => "transaction_rolled_back",
            Self::WorkloadManagerFault => "workload_manager_fault",
            Self::Security => "security",
            Self::Configuration => "configuration",
            Self::NamingAnswer => "naming_answer",
            Self::Application => "application",
            Self::Marshalling => "marshalling",
            Self::ResourceExhausted => "resource_exhausted",
            Self::ClientShutdown => "client_shutdown",
            Self::NotAFailure => "not_a_failure",
            Self::Unknown => "unknown",
        }
    }

    /// Whom the fault lies with.
    pub fn fault(self) -> Fault {
        match self {
            Self::NotConnected
            | Self::Quiescing
            | Self::ConnectionLost
            | Self::NoResponse
            | Self::ResultLost
            | Self::StaleReference => Fault::Endpoint,
            Self::AllUnavailable | Self::ResourceExhausted => Fault::Everywhere,
            Self::TransactionRolledBack
            | Self::WorkloadManagerFault
            | Self::Security
            | Self::Configuration
            | Self::NamingAnswer
            | Self::Application
            | Self::Marshalling
            | Self::ClientShutdown
            | Self::Unknown => Fault::Deterministic,
            Self::NotAFailure => Fault::None,
        }
    }
}

impl std::fmt::Display for Category {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
