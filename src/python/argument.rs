//! Arguments: those that may be left out although `None` would be wrong, and what is said of those that are of no type
//! that will do.

use std::convert::Infallible;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString};

use super::text;

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

/// `TypeError`: the argument, or the part of it, at `place` must be `wanted`.
pub fn wrong_type(place: &str, wanted: &str, given: &Bound<'_, PyAny>) -> PyErr {
    match class_name(given) {
        Ok(class) => PyTypeError::new_err(format!("{place} must be {wanted}, not {class}")),
        Err(failed) => failed,
    }
}

/// The class of an object, as messages name it.
pub fn class_name(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(object.get_type().fully_qualified_name()?.to_string())
}

/// The items of the argument at `place`, which must be a collection of what is `wanted`: a single string is none.
pub fn each<'py>(given: &Bound<'py, PyAny>, place: &str, wanted: &str) -> PyResult<Bound<'py, PyIterator>> {
    let collection = || wrong_type(place, &format!("a list of {wanted}"), given);
    if given.is_instance_of::<PyString>() {
        return Err(collection());
    }
    given.try_iter().map_err(|failed| if failed.is_instance_of::<PyTypeError>(given.py()) { collection() } else { failed })
}

/// The texts of the argument at `place`, which must be a list of what is `wanted`.
pub fn texts(given: &Bound<'_, PyAny>, place: &str, wanted: &str) -> PyResult<Vec<String>> {
    let mut all = Vec::new();
    for (index, one) in each(given, place, wanted)?.enumerate() {
        let one = one?;
        let place = format!("{place}[{index}]");
        let Ok(string) = one.cast::<PyString>() else { return Err(wrong_type(&place, "a str", &one)) };
        all.push(text::of(string, &place)?.to_owned());
    }
    Ok(all)
}
