//! A synchronous call inside a running event loop works, and holds up everything else in that loop: said once.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyRuntimeWarning;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

static SAID: AtomicBool = AtomicBool::new(false);

/// Warns, the first time, if this thread runs an event loop. Not in a notebook, where every cell runs in one.
pub fn warn_once(py: Python<'_>) -> PyResult<()> {
    if SAID.load(Ordering::Relaxed) || !is_running(py)? || is_notebook(py)? {
        return Ok(());
    }
    SAID.store(true, Ordering::Relaxed);
    let message =
        c"a synchronous hanaming call inside a running event loop holds up all of the loop's tasks; use hanaming.aio there";
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), message, 1)
}

fn is_running(py: Python<'_>) -> PyResult<bool> {
    static RUNNING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let running = match RUNNING.get(py) {
        Some(running) => running,
        None => match modules(py)?.get_item(intern!(py, "asyncio.events"))? {
            Some(events) => {
                RUNNING.get_or_try_init(py, || Ok::<_, PyErr>(events.getattr(intern!(py, "_get_running_loop"))?.unbind()))?
            }
            // Nothing runs a loop where nothing has imported asyncio.
            None => return Ok(false),
        },
    };
    Ok(!running.bind(py).call0()?.is_none())
}

fn is_notebook(py: Python<'_>) -> PyResult<bool> {
    match modules(py)?.get_item(intern!(py, "IPython"))? {
        Some(ipython) => Ok(!ipython.call_method0(intern!(py, "get_ipython"))?.is_none()),
        None => Ok(false),
    }
}

fn modules(py: Python<'_>) -> PyResult<&Bound<'_, PyDict>> {
    static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let modules = MODULES.get_or_try_init(py, || {
        let modules = py.import(intern!(py, "sys"))?.getattr(intern!(py, "modules"))?;
        Ok::<_, PyErr>(modules.cast_into::<PyDict>()?.unbind())
    })?;
    Ok(modules.bind(py))
}
