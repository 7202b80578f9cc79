//! Arguments that may be left out although `None` would be wrong.

use std::convert::Infallible;

use pyo3::prelude::*;
use pyo3::types::PyString;

/// An argument of any type, or none at all.
pub enum Argument<'py> {
    /// It was left out.
    Absent,
    /// It was given; `None` counts.
    Given(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Argument<'py> {
    type Error = Infallible;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Self::Given(object.to_owned()))
    }
}

impl<'py> Argument<'py> {
    /// The argument, if it was given.
    pub fn into_given(self) -> Option<Bound<'py, PyAny>> {
        match self {
            Self::Absent => None,
            Self::Given(object) => Some(object),
        }
    }

    /// The name given, else `""`: the context itself.
    pub fn or_here(self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self {
            Self::Absent => PyString::new(py, "").into_any(),
            Self::Given(object) => object,
        }
    }
}
