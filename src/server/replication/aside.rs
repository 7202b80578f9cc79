//! Long steps, such as taking up a copy of a large tree: the node's other tasks go on meanwhile.
//!
//! A node has few threads. One that steps the engine for seconds, with those that wait for its lock, would leave none to
//! answer other nodes, and these would hold it for dead. So they tell the runtime, which lets other threads take their
//! places. That costs too much for a step of the usual length.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::cluster::message::Message;

/// A step that changes more names than this is long.
const MANY: usize = 1000;

/// How many long steps are under way.
#[derive(Debug, Default)]
pub(super) struct LongSteps(AtomicUsize);

impl LongSteps {
    /// Does what takes long, where it does.
    pub fn step_where<T>(&self, is_long: bool, work: impl FnOnce() -> T) -> T {
        if !is_long {
            return work();
        }
        self.0.fetch_add(1, Ordering::Relaxed);
        let done = aside(work);
        self.0.fetch_sub(1, Ordering::Relaxed);
        done
    }

    /// Whether one is under way.
    pub fn are_under_way(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Waits for something that is held during steps.
    pub fn wait<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.0.load(Ordering::Relaxed) == 0 { work() } else { aside(work) }
    }
}

/// Whether taking it takes long, for who has seen so many writes: the last part of a copy takes up all of them, and who asks
/// for a copy lacks many.
pub(super) fn is_long(message: &Message, seen: impl FnOnce() -> u64) -> bool {
    match message {
        Message::Part(part) => part.total > 1,
        Message::Pull(request) => seen().saturating_sub(request.seen.count()) > MANY as u64,
        _ => false,
    }
}

/// Whether showing so many changes takes long.
pub(super) fn are_many(changes: usize) -> bool {
    changes > MANY
}

fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => block_in_place(work),
        _ => work(),
    }
}
