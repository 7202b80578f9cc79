//! Processes that fork.
//!
//! A child has its parent's memory and none of its threads: a lock that some other thread held stays locked for good, a
//! background thread is gone, and a socket is shared with the parent. So whatever holds locks, threads or sockets bears
//! the *generation* of the process it was made in, and is made anew where the generation is another.

use std::sync::atomic::{AtomicU64, Ordering};

static GENERATION: AtomicU64 = AtomicU64::new(0);

/// This process's generation.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// To be called in the child, first of all, after each fork.
pub fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
