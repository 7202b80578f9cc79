//! The attempts of a call, as Python sees them.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::failure::Attempt;

use super::imports::{Imported, completion};

/// A list of strings.
pub fn texts<'py>(py: Python<'py>, all: &[Arc<str>]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, all.iter().map(AsRef::as_ref).map(|text: &str| PyString::new(py, text)))
}

/// `Attempt`.
pub fn attempt<'py>(py: Python<'py>, made: &Attempt) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Attempt");
    let completion = completion(py, made.completion)?;
    let why_next = made.why_next.as_deref();
    let fields =
        (made.target.as_str(), made.phase.as_str(), made.outcome.as_str(), completion, made.elapsed.as_secs_f64(), why_next);
    CLASS.get(py)?.call1(fields)
}

/// `Attempts`, a list.
pub fn attempts<'py>(py: Python<'py>, made: &[Attempt]) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Attempts");
    let built = made.iter().map(|one| attempt(py, one)).collect::<PyResult<Vec<_>>>()?;
    CLASS.get(py)?.call1((built,))
}
