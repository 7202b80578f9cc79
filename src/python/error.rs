//! The one place where an error becomes a Python exception.
//!
//! The exceptions are written in Python (`hanaming/exceptions.py`) and chosen by the error's code, never by its text.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::naming::{Detail, ErrorKind, Listed, Name, NamingError};

use super::imports::{Imported, completion};
use super::records;

/// What the caller asked for, so that an error speaks of that and not of what it became on the way.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// The name, as the context that was asked has it.
    pub given: &'a Name,
    /// The rows of a listing that failed, if it was one.
    pub listing: Option<Rows>,
}

/// What a listing's rows become in Python.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// `NameEntry`.
    Entries,
    /// `Binding`.
    Bindings,
    /// `Instance`.
    Instances,
}

/// The exception of an error that is not about a name of some context.
pub fn raise(py: Python<'_>, error: NamingError) -> PyErr {
    build(py, error, None).unwrap_or_else(|failed| failed)
}

/// The exception of an operation's error.
pub fn raise_for(py: Python<'_>, error: NamingError, asked: Asked<'_>) -> PyErr {
    build(py, error, Some(asked)).unwrap_or_else(|failed| failed)
}

fn build(py: Python<'_>, error: NamingError, asked: Option<Asked<'_>>) -> PyResult<PyErr> {
    static FROM_CODE: Imported = Imported::new("hanaming.exceptions", "_from_code");
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
    match told.detail {
        Detail::None => {}
        Detail::Existing(row) => fields.set_item("existing", existing(py, &row, asked)?)?,
        Detail::Chain(chain) => fields.set_item("chain", chain)?,
        Detail::Silence { answered, silent, partial } => {
            fields.set_item("answered", records::texts(py, &answered)?)?;
            fields.set_item("silent", records::texts(py, &silent)?)?;
            if let Some(Asked { given, listing: Some(rows), .. }) = asked {
                fields.set_item("partial", gathered(py, &partial, given, rows)?)?;
            }
        }
    }
    let attempts = records::attempts(py, &told.attempts)?;
    let exception = FROM_CODE.get(py)?.call1((told.kind.code(), message, fields, attempts))?;
    Ok(PyErr::from_value(exception))
}

fn existing<'py>(py: Python<'py>, row: &Listed, asked: Option<Asked<'_>>) -> PyResult<Bound<'py, PyAny>> {
    // Where a link or a rename led elsewhere, the entry's own component is what is known of its name.
    let name = match asked.map(|asked| asked.given) {
        Some(given) if given.suffix(given.len().saturating_sub(1)).as_str() == row.component => given.as_str(),
        _ => &row.component,
    };
    records::name_entry(py, name, row)
}

fn gathered<'py>(py: Python<'py>, rows: &[Listed], given: &Name, kind: Rows) -> PyResult<Bound<'py, PyList>> {
    let built = PyList::empty(py);
    for row in rows {
        let name = given.child_from_text(&row.component);
        match kind {
            Rows::Entries => built.append(records::name_entry(py, name.as_str(), row)?)?,
            Rows::Bindings => built.append(records::binding_without_context(py, name.as_str(), row)?)?,
            Rows::Instances => {
                if let Some(instance) = records::instance(py, row)? {
                    built.append(instance)?;
                }
            }
        }
    }
    Ok(built)
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
