//! Watching names: what is bound at them, and each change, however many servers fail meanwhile.
//!
//! ```text
//! watch        what a program listens to
//!  ├ follower  pure: what to ask, what was told of each name, what is to be told (news)
//!  ├ pause     how long it waits where all servers fail
//!  ├ asker     carries a question to some server: a client of its own that stays with one, or a node of this process
//!  └ watches   all watches of a context, which end with it
//! ```
//!
//! Questions are asked on the keeper's thread, one after the other for each watch, and only while somebody listens: where
//! more waits to be told than is good, nothing is asked.

mod asker;
mod event;
mod follower;
mod news;
mod pause;
#[expect(clippy::module_inception, reason = "a watch is what this module is about")]
mod watch;
mod watches;

pub use asker::{Asker, Unanswered};
pub use event::{Event, EventKind, Told};
pub use follower::Follower;
pub use pause::Pause;
pub use watch::{Listened, Watch};
pub use watches::Watches;
