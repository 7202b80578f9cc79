//! What a node answers.
//!
//! [`dispatch`] says which operation is answered by what; each group of operations has a file. Answers that the node's
//! own trees suffice for are given at once; the others ask [the other nodes](super::peers).

mod await_name;
mod change;
mod check;
mod dispatch;
pub mod fault;
mod intent;
mod listing;
mod lookup;
pub mod merge;
mod mutation;
mod own;
mod sight;
mod status;
mod survey;
mod upkeep;
mod watch;

pub use sight::Answered;
