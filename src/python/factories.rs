//! The factories that this process registered. They are found by name or by class, and never by what came over the
//! wire.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyType};

use crate::failure::CompletionStatus;
use crate::naming::{ErrorKind, NamingError, Reference};

use super::argument;
use super::error::entered;
use super::imports::{self, Imported};
use super::parameter::{FactoryName, text};
use super::reference::{PyLinkRef, PyReference};

static OBJECT_FACTORIES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
static STATE_FACTORIES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
static FAILURE: Imported = Imported::new("hanaming.exceptions", "FactoryError");
static GENERATION: AtomicU64 = AtomicU64::new(0);

/// Grows whenever an object factory is registered: what was looked up before may now become something else.
pub fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// Registers an object factory.
#[pyfunction]
pub fn register_object_factory(
    py: Python<'_>,
    #[pyo3(from_py_with = text::<FactoryName>)] name: &str,
    r#fn: &Bound<'_, PyAny>,
) -> PyResult<()> {
    entered(|| {
        callable(r#fn)?;
        table(py, &OBJECT_FACTORIES).set_item(name, r#fn)?;
        GENERATION.fetch_add(1, Ordering::AcqRel);
        Ok(())
    })
}

/// Registers a state factory.
#[pyfunction]
pub fn register_state_factory(py: Python<'_>, cls: &Bound<'_, PyAny>, r#fn: &Bound<'_, PyAny>) -> PyResult<()> {
    entered(|| {
        let cls = cls.cast::<PyType>().map_err(|_| argument::wrong_type("cls", "a class", cls))?;
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
    })
}

/// The object that this process's factory makes of a reference that is bound at `name`; `None` where it has none that is
/// called so.
pub fn object<'py>(
    py: Python<'py>,
    reference: &Reference,
    made: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(factory) = &reference.factory else { return Ok(None) };
    let Some(registered) = table(py, &OBJECT_FACTORIES).get_item(factory)? else { return Ok(None) };
    let made = registered.call1((made,));
    made.map(Some).map_err(|raised| {
        let what = format!(
            "the object factory {}",
            PyString::new(py, factory).repr().map_or_else(|_| String::new(), |shown| shown.to_string())
        );
        failed(py, raised, &what, name, CompletionStatus::Yes)
    })
}

/// Whether this is a `FactoryError`.
pub fn is_failure(py: Python<'_>, raised: &PyErr) -> bool {
    FAILURE.get(py).is_ok_and(|class| raised.is_instance(py, class))
}

/// A `FactoryError`: `what` raised, while an operation of `name` had come as far as `completion` says. What is no
/// `Exception` (Ctrl-C, an exit) comes out as it is.
pub fn failed(py: Python<'_>, raised: PyErr, what: &str, name: &str, completion: CompletionStatus) -> PyErr {
    if !raised.is_instance_of::<PyException>(py) {
        return raised;
    }
    let build = || {
        let class = argument::class_name(raised.value(py))?;
        let text = raised.value(py).str().map_or_else(|_| String::new(), |text| format!(": {}", text.to_string_lossy()));
        let error = NamingError::new(ErrorKind::Internal, format!("{what} raised {class}{text}")).with_name(name);
        let (resolved, remaining) = if completion == CompletionStatus::Yes { (name, "") } else { ("", name) };
        let fields = PyDict::new(py);
        fields.set_item("name", name)?;
        fields.set_item("resolved_name", resolved)?;
        fields.set_item("remaining_name", remaining)?;
        fields.set_item("completion", imports::completion(py, completion)?)?;
        fields.set_item("safe_to_retry", completion == CompletionStatus::No)?;
        Ok(PyErr::from_value(FAILURE.get(py)?.call((error.to_string(),), Some(&fields))?))
    };
    match build() {
        Ok(error) => {
            error.set_cause(py, Some(raised));
            error
        }
        Err(other) => other,
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
    Err(argument::wrong_type("fn", "something that can be called", function))
}
