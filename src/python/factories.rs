//! The factories that this process registered. They are found by name or by class, and never by what came over the
//! wire.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyType};

use crate::naming::Reference;

use super::reference::{PyLinkRef, PyReference};

static OBJECT_FACTORIES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
static STATE_FACTORIES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Grows whenever an object factory is registered: what was looked up before may now become something else.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// Registers an object factory.
#[pyfunction]
pub fn register_object_factory(py: Python<'_>, name: &Bound<'_, PyString>, r#fn: &Bound<'_, PyAny>) -> PyResult<()> {
    callable(r#fn)?;
    table(py, &OBJECT_FACTORIES).set_item(name, r#fn)?;
    GENERATION.fetch_add(1, Ordering::AcqRel);
    Ok(())
}

/// Registers a state factory.
#[pyfunction]
pub fn register_state_factory(py: Python<'_>, cls: &Bound<'_, PyType>, r#fn: &Bound<'_, PyAny>) -> PyResult<()> {
    callable(r#fn)?;
    let values = [
        py.None().bind(py).get_type(),
        py.get_type::<PyBool>(),
        py.get_type::<PyInt>(),
        py.get_type::<PyFloat>(),
        py.get_type::<PyString>(),
        py.get_type::<PyBytes>(),
        py.get_type::<PyList>(),
        py.get_type::<PyDict>(),
        py.get_type::<PyReference>(),
        py.get_type::<PyLinkRef>(),
    ];
    if values.iter().any(|class| class.is(cls)) {
        return Err(PyTypeError::new_err(format!("a {} is a value already; it needs no state factory", cls.name()?)));
    }
    table(py, &STATE_FACTORIES).set_item(cls, r#fn)
}

/// The object that this process's factory makes of a reference; `None` where it has none of that name.
pub fn object<'py>(py: Python<'py>, reference: &Reference, made: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(name) = &reference.factory else { return Ok(None) };
    match table(py, &OBJECT_FACTORIES).get_item(name)? {
        Some(factory) => factory.call1((made,)).map(Some),
        None => Ok(None),
    }
}

/// The state factory for an object: that of the nearest class in its method resolution order.
pub fn state_factory<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let factories = table(object.py(), &STATE_FACTORIES);
    if factories.is_empty() {
        return Ok(None);
    }
    for class in object.get_type().mro() {
        if let Some(factory) = factories.get_item(class)? {
            return Ok(Some(factory));
        }
    }
    Ok(None)
}

fn table<'py>(py: Python<'py>, table: &'static PyOnceLock<Py<PyDict>>) -> &'py Bound<'py, PyDict> {
    table.get_or_init(py, || PyDict::new(py).unbind()).bind(py)
}

fn callable(function: &Bound<'_, PyAny>) -> PyResult<()> {
    if function.is_callable() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!("a factory is called; {} can't be", function.repr()?)))
}
