//! Whether a request ran at the server.

use serde::{Deserialize, Serialize};

/// Did the request run?
///
/// The order is that of what a caller must fear: the *worst* of several attempts is their maximum
/// (`No < Yes < Maybe`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CompletionStatus {
    /// The request certainly did not run.
    No,
    /// The request ran, and its outcome is known.
    Yes,
    /// The request left and no outcome came back: it may have run.
    Maybe,
}

impl CompletionStatus {
    /// The word used in messages and on the Python side: `"YES"`, `"NO"` or `"MAYBE"`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::No => "NO",
            Self::Yes => "YES",
            Self::Maybe => "MAYBE",
        }
    }

    /// The status of a word as it is printed: `NO`, `No`, `COMPLETED_NO`, `CORBA.COMPLETED_NO`.
    pub fn from_word(word: &str) -> Option<Self> {
        let word = word.trim().rsplit(['.', ':']).next().unwrap_or_default().to_ascii_uppercase();
        let bare = word.strip_prefix("COMPLETED_").unwrap_or(&word);
        [Self::No, Self::Yes, Self::Maybe].into_iter().find(|status| status.as_str() == bare)
    }

    /// The status that several attempts of one call have together: the worst of theirs.
    pub fn worst(self, other: Self) -> Self {
        self.max(other)
    }
}

impl std::fmt::Display for CompletionStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
