//! What happens to the whole process: forks, and the end of the interpreter.
//!
//! *Fork.* A child has none of its parent's threads, and its sockets are also the parent's. Everything that would
//! use them remembers the generation in which it was made and compares.
//!
//! *Exit.* The interpreter must not be entered by a thread that comes back from a call while the interpreter is being
//! taken down: such a thread waits for the end of the process instead, and nothing is printed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::ThreadId;

use arc_swap::ArcSwapOption;
use pyo3::prelude::*;

static GENERATION: AtomicU64 = AtomicU64::new(0);
static EXITING: AtomicBool = AtomicBool::new(false);
static LAST_THREAD: ArcSwapOption<ThreadId> = ArcSwapOption::const_empty();

/// How many forks lie between this process and the one that imported hanaming.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// Called in the child of a fork.
#[pyfunction]
pub fn _after_fork() {
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// Called when the interpreter is about to be taken down, in the thread that does so.
#[pyfunction]
pub fn _at_exit() {
    LAST_THREAD.store(Some(std::sync::Arc::new(std::thread::current().id())));
    EXITING.store(true, Ordering::Release);
}

/// Lets other threads of Python run while `work` waits. Where the interpreter is gone when it is done, this does not
/// return.
pub fn without_interpreter<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let done = work();
        wait_for_the_end_if_exiting();
        done
    })
}

fn wait_for_the_end_if_exiting() {
    if EXITING.load(Ordering::Acquire) && LAST_THREAD.load().as_deref() != Some(&std::thread::current().id()) {
        loop {
            std::thread::park();
        }
    }
}
