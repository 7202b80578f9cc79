//! The exception of an operation's error: with the rows that it tells of, named as the caller would.

use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::naming::{Detail, Listed, Name, NamingError};

use super::{error, records};

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

/// The exception of an operation's error.
pub fn raise(py: Python<'_>, error: NamingError, Asked { given, listing }: Asked<'_>) -> PyErr {
    // Of a rename it may be the other name.
    let concerned = error.fields().name.as_deref().and_then(|name| Name::parse(name).ok());
    let concerned = concerned.as_ref().unwrap_or(given);
    error::raise_with(py, error, |detail, fields| match (detail, listing) {
        (Detail::Existing(row), _) => fields.set_item("existing", existing(py, row, concerned)?),
        (Detail::Silence { partial, .. }, Some(rows)) => fields.set_item("partial", gathered(py, partial, given, rows)?),
        _ => Ok(()),
    })
}

fn existing<'py>(py: Python<'py>, row: &Listed, concerned: &Name) -> PyResult<Bound<'py, PyAny>> {
    // Where a link led elsewhere, the entry's own component is what is known of its name.
    let is_own = concerned.suffix(concerned.len().saturating_sub(1)).as_str() == row.component;
    let name = if is_own { concerned.as_str() } else { &row.component };
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
