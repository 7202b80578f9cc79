//! Texts that are kept: strings in UTF-8.

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::naming::{ErrorKind, NamingError};

use super::error;

/// The text of a string; `place` is what an error calls it.
pub fn of<'a>(string: &'a Bound<'_, PyString>, place: &str) -> PyResult<&'a str> {
    utf8(string, "the str")
        .map_err(|wrong| error::raise(string.py(), NamingError::new(ErrorKind::InvalidValue, format!("{place}: {wrong}"))))
}

/// The text of a string, or why there is none; `what` is what that calls it.
pub fn utf8<'a>(string: &'a Bound<'_, PyString>, what: &str) -> Result<&'a str, String> {
    string.to_str().map_err(|_| format!("{what} has a lone surrogate, which no text in UTF-8 has"))
}
