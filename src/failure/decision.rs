//! What is decided of a failure, before it is put in words.

use super::finding::Finding;
use super::{Category, CompletionStatus, Meaning};

/// What was decided, and by what.
pub struct Decision<'a> {
    /// The exception that decided.
    pub finding: Finding<'a>,
    /// Its meaning, as its rule has it.
    pub meaning: Meaning,
    /// The category, with all that is known.
    pub category: Category,
    /// The finer word.
    pub detail: &'static str,
    /// The completion status.
    pub completion: CompletionStatus,
    /// Where the status comes from.
    pub source: Source,
    /// How sure all this is, in percent.
    pub trust: u8,
}

/// Where a completion status comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is printed.
    Printed,
    /// It is printed, but the ORB is known to print it wrongly.
    Liar,
    /// The rule gives it.
    Rule,
    /// The worst of the parts.
    Parts,
}
