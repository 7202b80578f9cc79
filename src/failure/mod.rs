//! What a failed call means: did the request run, and may it be sent again?
//!
//! The words: a *completion status* says whether the request ran; a *phase* says how far an attempt came; an
//! *attempt* is one try at one target; an *action* is what the caller should do next. The rule that leads from the
//! one to the other stands once, in [`verdict`], for the HA context and for everything that classifies failures.

mod attempt;
mod completion;
pub mod verdict;

pub use attempt::{Attempt, Phase};
pub use completion::CompletionStatus;
pub use verdict::Action;
