//! Leases that are given back while a context is closed: waited for in a thread, since the loop must not wait.

use std::sync::{Mutex, PoisonError};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

use crate::client::Releasing;

use super::super::imports::Imported;
use super::super::process;

/// A future of the running loop, done when they are given back.
pub(super) fn in_thread(py: Python<'_>, releasing: Releasing) -> PyResult<Bound<'_, PyAny>> {
    static RUNNING: Imported = Imported::new("asyncio", "get_running_loop");
    let releasing = Mutex::new(Some(releasing));
    let wait = PyCFunction::new_closure(py, None, None, move |arguments, _| {
        let under_way = releasing.lock().unwrap_or_else(PoisonError::into_inner).take();
        process::without_interpreter(arguments.py(), || under_way.map(Releasing::wait));
    })?;
    RUNNING.get(py)?.call0()?.call_method1(intern!(py, "run_in_executor"), (py.None(), wait))
}
