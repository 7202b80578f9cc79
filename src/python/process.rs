//! What happens to the whole process: signals, and the end of the interpreter.
//!
//! *Signals.* Python's handlers run in its main thread, and only when that thread comes by: a call that waits asks from
//! time to time whether one is due, so that Ctrl-C ends it.
//!
//! *Exit.* The interpreter must not be entered by a thread that comes back from a call while the interpreter is being
//! taken down: such a thread waits for the end of the process instead, and nothing is printed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;

use arc_swap::ArcSwapOption;
use pyo3::prelude::*;

static EXITING: AtomicBool = AtomicBool::new(false);
static LAST_THREAD: ArcSwapOption<ThreadId> = ArcSwapOption::const_empty();

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
        stop_if_exiting();
        done
    })
}

/// The same for work that asks from time to time whether to give up, which it does when the handler of a signal raised
/// something.
pub fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce(&mut dyn FnMut() -> bool) -> T + Send) -> (T, Option<PyErr>) {
    without_interpreter(py, || {
        let mut raised = None;
        let done = work(&mut || {
            raised = pending_signal();
            raised.is_some()
        });
        (done, raised)
    })
}

/// What the handler of a signal raised, if one was due; to be asked by a thread that is without the interpreter.
fn pending_signal() -> Option<PyErr> {
    stop_if_exiting();
    match Python::try_attach(|py| py.check_signals().err()) {
        Some(raised) => raised,
        None => stop(),
    }
}

fn stop_if_exiting() {
    if EXITING.load(Ordering::Acquire) && LAST_THREAD.load().as_deref() != Some(&std::thread::current().id()) {
        stop();
    }
}

/// Waits for the end of the process.
fn stop() -> ! {
    loop {
        std::thread::park();
    }
}
