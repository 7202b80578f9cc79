//! What a failed call means: did the request run, and may it be sent again?
//!
//! The words: a *completion status* says whether the request ran; a *phase* says how far an attempt came; an
//! *attempt* is one try at one target; an *action* is what the caller should do next. The rule that leads from the
//! one to the other stands once, in [`verdict`], for the HA context and for everything that classifies failures.
//!
//! Classification goes three steps. An exception object, a description or text becomes a [`Chain`] of what was
//! [`Thrown`]; the [`tables`] give each of them a [`Meaning`]; [`classify_chain`] decides which one counts, and whose
//! completion status.

mod advice;
mod attempt;
mod category;
mod chain;
mod classify;
mod completion;
mod connecting;
pub mod corba;
mod decision;
mod description;
mod finding;
pub mod log;
mod minor;
mod rule;
pub mod tables;
pub mod verdict;

pub use attempt::{Attempt, Phase};
pub use category::{Category, Fault};
pub use chain::{Chain, Link, Thrown};
pub use classify::classify_chain;
pub use completion::CompletionStatus;
pub use description::Description;
pub use log::{Event, LogReader, classify_text};
pub use minor::{Minor, VENDORS, Vendor};
pub use rule::{Meaning, Rule, Weight};
pub use verdict::{Action, Verdict};
