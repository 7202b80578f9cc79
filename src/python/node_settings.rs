//! `serve`'s configuration file, read by the crate: one TOML for every Python.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::server::config_file::{self, Given};

use super::error::{self, entered};

/// The settings in a file's text, by their names: `str`, `list[str]` or `bool`. Raises `ConfigurationError`, which says
/// in which line and column something is wrong.
#[pyfunction]
pub fn read_settings<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    entered(|| {
        let settings = PyDict::new(py);
        for (name, given) in config_file::read(text).map_err(|wrong| error::raise(py, wrong))? {
            match given {
                Given::Text(text) => settings.set_item(name, text)?,
                Given::Texts(texts) => settings.set_item(name, texts)?,
                Given::Flag(flag) => settings.set_item(name, flag)?,
            }
        }
        Ok(settings)
    })
}
