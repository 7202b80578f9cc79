//! One try at one target, as it is told to the user.

use std::time::Duration;

use super::CompletionStatus;

/// How far an attempt came. The phase decides the completion status where no answer came (see
/// [`Phase::completion`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The target's host name was being resolved.
    Resolve,
    /// The connection was being made.
    Connect,
    /// The connection stood; the server had not yet taken us.
    Handshake,
    /// The request frame had not left completely.
    Send,
    /// The request frame had left completely; no whole reply header had come.
    Wait,
    /// The reply's header had come; its body had not, or was broken.
    Receive,
    /// The reply came whole: the node answered.
    Answer,
}

impl Phase {
    /// The word used in messages and on the Python side, e.g. `"connect"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Handshake => "handshake",
            Self::Send => "send",
            Self::Wait => "wait",
            Self::Receive => "receive",
            Self::Answer => "answer",
        }
    }

    /// The phase of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Resolve, Self::Connect, Self::Handshake, Self::Send, Self::Wait, Self::Receive, Self::Answer]
            .into_iter()
            .find(|phase| phase.as_str() == word)
    }

    /// The completion status of an attempt that broke in this phase. A request that had left completely may have
    /// run; one that had not cannot have.
    pub fn completion(self) -> CompletionStatus {
        match self {
            Self::Resolve | Self::Connect | Self::Handshake | Self::Send => CompletionStatus::No,
            Self::Wait => CompletionStatus::Maybe,
            Self::Receive | Self::Answer => CompletionStatus::Yes,
        }
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One try of a call at one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The target as `host:port`.
    pub target: String,
    /// How far it came.
    pub phase: Phase,
    /// What came back, in words: `"connection refused"`, `"no answer in 0.25 s"`, `"no such name"`, `"found"`.
    pub outcome: String,
    /// Whether the request ran at this target.
    pub completion: CompletionStatus,
    /// How long the attempt took.
    pub elapsed: Duration,
    /// Why another attempt was made after this one; `None` for the last.
    pub why_next: Option<String>,
    /// What came back is from a node that lacks some of what this client has seen.
    pub is_stale: bool,
}
