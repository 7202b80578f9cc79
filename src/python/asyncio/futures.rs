//! The futures of one event loop, made and completed in as few steps as Python has.
//!
//! asyncio's own loop makes a future in a Python function, and a bound method is an object of its own: both cost as much
//! as the rest. Where the loop's futures are asyncio's, the class and its methods are called themselves.

use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::super::imports::Imported;

static FUTURE: Imported = Imported::new("asyncio", "Future");
static BASE_LOOP: Imported = Imported::new("asyncio", "BaseEventLoop");
static CURRENT_TASK: Imported = Imported::new("asyncio", "current_task");

/// The futures of one event loop.
pub(super) struct Futures {
    maker: Maker,
    /// `Future.set_result` and `Future.done`, where the loop's futures are asyncio's.
    own: Option<(Py<PyAny>, Py<PyAny>)>,
    /// The loop, as the arguments of a call.
    event_loop: Py<PyTuple>,
}

enum Maker {
    /// The class, and its keyword arguments.
    Class(Py<PyAny>, Py<PyDict>),
    /// The loop's own method.
    Method(Py<PyAny>),
}

impl Futures {
    pub(super) fn of(event_loop: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = event_loop.py();
        let create_future = event_loop.getattr(intern!(py, "create_future"))?;
        let class = FUTURE.get(py)?;
        let is_asyncios = create_future.call0()?.get_type().is(class);
        let own = if is_asyncios { Some((class.getattr("set_result")?.unbind(), class.getattr("done")?.unbind())) } else { None };
        let inherited = BASE_LOOP.get(py)?.getattr(intern!(py, "create_future"))?;
        let is_inherited = create_future.getattr("__func__").is_ok_and(|function| function.is(&inherited));
        let maker = if is_asyncios && is_inherited {
            let arguments = PyDict::new(py);
            arguments.set_item("loop", event_loop)?;
            Maker::Class(class.clone().unbind(), arguments.unbind())
        } else {
            Maker::Method(create_future.unbind())
        };
        Ok(Self { maker, own, event_loop: PyTuple::new(py, [event_loop])?.unbind() })
    }

    /// A new one.
    pub(super) fn make<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.maker {
            Maker::Class(class, arguments) => class.bind(py).call((), Some(arguments.bind(py))),
            Maker::Method(method) => method.bind(py).call0(),
        }
    }

    /// Completes one. An error where it's done already.
    pub(super) fn complete(&self, future: &Bound<'_, PyAny>, result: Bound<'_, PyAny>) -> PyResult<()> {
        let py = future.py();
        match &self.own {
            Some((set_result, _)) => set_result.bind(py).call1((future, result)),
            None => future.call_method1(intern!(py, "set_result"), (result,)),
        }
        .map(drop)
    }

    /// Fails one. An error where it's done already.
    pub(super) fn fail(future: &Bound<'_, PyAny>, error: PyErr) -> PyResult<()> {
        let py = future.py();
        let set_exception = intern!(py, "set_exception");
        let exception = error.into_value(py);
        let Err(refused) = future.call_method1(set_exception, (&exception,)) else { return Ok(()) };
        if !exception.bind(py).is_instance_of::<PyStopIteration>() {
            return Err(refused);
        }
        // No future takes a StopIteration: it would end the wrong loop.
        let wrapped = PyRuntimeError::new_err("a factory raised StopIteration");
        wrapped.set_cause(py, Some(PyErr::from_value(exception.into_bound(py).into_any())));
        future.call_method1(set_exception, (wrapped.into_value(py),)).map(drop)
    }

    /// Whether one was cancelled, or completed by somebody else.
    pub(super) fn is_done(&self, future: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = future.py();
        match &self.own {
            Some((_, done)) => done.bind(py).call1((future,)),
            None => future.call_method0(intern!(py, "done")),
        }?
        .extract()
    }

    /// The task that runs now, if one does.
    pub(super) fn task<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let task = CURRENT_TASK.get(py)?.call1(self.event_loop.bind(py))?;
        Ok(if task.is_none() { None } else { Some(task) })
    }
}
