//! Objects of the Python package that Rust needs, imported once and kept.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::failure::CompletionStatus;

/// A class or function of a Python module, imported at its first use.
pub struct Imported {
    module: &'static str,
    name: &'static str,
    cell: PyOnceLock<Py<PyAny>>,
}

impl Imported {
    /// `name` of `module`.
    pub const fn new(module: &'static str, name: &'static str) -> Self {
        Self { module, name, cell: PyOnceLock::new() }
    }

    /// The object.
    pub fn get<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let object = self.cell.get_or_try_init(py, || Ok::<_, PyErr>(py.import(self.module)?.getattr(self.name)?.unbind()))?;
        Ok(object.bind(py))
    }
}

/// `hanaming.CompletionStatus.YES`, `NO` or `MAYBE`.
pub fn completion(py: Python<'_>, status: CompletionStatus) -> PyResult<Bound<'_, PyAny>> {
    static STATUS: Imported = Imported::new("hanaming.failure", "CompletionStatus");
    static MEMBERS: PyOnceLock<[Py<PyAny>; 3]> = PyOnceLock::new();
    let members = MEMBERS.get_or_try_init(py, || {
        let class = STATUS.get(py)?;
        let member = |status: CompletionStatus| Ok::<_, PyErr>(class.getattr(status.as_str())?.unbind());
        Ok::<_, PyErr>([member(CompletionStatus::No)?, member(CompletionStatus::Yes)?, member(CompletionStatus::Maybe)?])
    })?;
    Ok(members[status as usize].bind(py).clone())
}
