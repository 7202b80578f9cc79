//! The one place where an error becomes a Python exception.
//!
//! The exceptions are written in Python (`hanaming/exceptions.py`) and chosen by the error's code, never by its text.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::naming::{Detail, ErrorKind, NamingError};

use super::attempts::{attempts, texts};
use super::imports::{Imported, completion};

/// The exception of an error.
pub fn raise(py: Python<'_>, error: NamingError) -> PyErr {
    raise_with(py, error, |_, _| Ok(()))
}

/// The exception of an error whose details `rows` makes fields of, where they are rows of a listing.
pub fn raise_with(py: Python<'_>, error: NamingError, rows: impl FnOnce(&Detail, &Bound<'_, PyDict>) -> PyResult<()>) -> PyErr {
    build(py, error, rows).unwrap_or_else(|failed| failed)
}

fn build(py: Python<'_>, error: NamingError, rows: impl FnOnce(&Detail, &Bound<'_, PyDict>) -> PyResult<()>) -> PyResult<PyErr> {
    static FROM_CODE: Imported = Imported::new("hanaming.exceptions", "_from_code");
    static EXC_INFO: Imported = Imported::new("sys", "exc_info");
    let error = error.or_unresolved();
    let message = error.to_string();
    let safe_to_retry = error.safe_to_retry();
    let told = error.into_fields();
    let fields = PyDict::new(py);
    fields.set_item("name", told.name)?;
    fields.set_item("resolved_name", told.resolved_name)?;
    fields.set_item("remaining_name", told.remaining_name)?;
    fields.set_item("completion", completion(py, told.completion)?)?;
    fields.set_item("safe_to_retry", safe_to_retry)?;
    fields.set_item("operation_id", told.operation)?;
    match &told.detail {
        Detail::None | Detail::Existing(_) => {}
        Detail::Chain(chain) => fields.set_item("chain", chain)?,
        Detail::Silence { answered, silent, .. } => {
            fields.set_item("answered", texts(py, answered)?)?;
            fields.set_item("silent", texts(py, silent)?)?;
        }
    }
    rows(&told.detail, &fields)?;
    let attempts = attempts(py, &told.attempts)?;
    let exception = FROM_CODE.get(py)?.call1((told.kind.code(), message, fields, attempts))?;
    // The interpreter notes what was being handled for what Python raises, and not for what comes from elsewhere.
    let handled = EXC_INFO.get(py)?.call0()?.get_item(1)?;
    if !handled.is_none() {
        exception.setattr("__context__", handled)?;
    }
    Ok(PyErr::from_value(exception))
}

/// Runs `work`; a panic in it becomes `InternalError`, which is an ordinary exception.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, NamingError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let what = told_by_panic(payload.as_ref());
        NamingError::new(ErrorKind::Internal, format!("a fault of hanaming's own, please report it: {what}"))
            .with_completion(crate::failure::CompletionStatus::Maybe)
    })
}

/// Where Python enters: a panic in `work`, also in what reads the arguments and makes the result, becomes
/// `InternalError`. pyo3 by itself would raise what is no `Exception`, which ends threads and event loops.
pub fn entered<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    guarded(work).unwrap_or_else(|fault| Python::attach(|py| Err(raise(py, fault))))
}

/// Panics where any entry could, so that a test sees what becomes of it.
#[pyfunction]
pub fn _panic() -> PyResult<()> {
    entered(|| {
        #[expect(clippy::panic, reason = "that is what it is for")]
        {
            panic!("on purpose")
        }
    })
}

fn told_by_panic(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&'static str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}
