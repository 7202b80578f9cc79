//! Settings of older naming systems: text in, plain data out. `hanaming.jndi` makes records of it.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::discovery::environment::{self, Environment};
use crate::discovery::properties::{self, Origin, Property};
use crate::discovery::provider_url::{self, ProviderError, ProviderUrl};
use crate::naming::{ErrorKind, NamingError};

use super::error::{self, entered};

/// A property as Python has it: key, value, line (0 where it comes from no text), and whether `-D` set it.
type Row = (String, String, usize, bool);

/// A provider URL: its scheme, endpoints, path and warnings.
#[pyfunction]
pub fn read_provider_url<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    entered(|| match provider_url::read(text, None) {
        Ok(url) => shown(py, &url),
        Err(wrong) => Err(refused(py, &wrong)),
    })
}

/// The properties that a text sets, in order.
#[pyfunction]
pub fn read_properties(text: &str) -> Vec<Row> {
    let rows = properties::read(text).into_iter();
    rows.map(|property| (property.key, property.value, property.line, property.origin == Origin::Define)).collect()
}

/// What properties mean: the provider, why it can't be used, the options that they amount to, and the warnings.
#[pyfunction]
pub fn read_environment(py: Python<'_>, rows: Vec<Row>) -> PyResult<Bound<'_, PyDict>> {
    entered(|| {
        let property = |(key, value, line, define)| {
            let origin = if define { Origin::Define } else { Origin::Entry };
            Property { key, value, line, origin }
        };
        let properties: Vec<_> = rows.into_iter().map(property).collect();
        let Environment { provider, options, warnings } = environment::read(&properties);
        let read = PyDict::new(py);
        match provider {
            Some(Ok(url)) => read.set_item("provider", shown(py, &url)?)?,
            Some(Err(wrong)) => read.set_item("problem", wrong.to_string())?,
            None => {}
        }
        let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs_f64());
        read.set_item("cluster", options.cluster)?;
        read.set_item("connect_timeout", seconds(options.connect_timeout))?;
        read.set_item("read_timeout", seconds(options.read_timeout))?;
        read.set_item("always_resolve", options.always_resolve)?;
        read.set_item("warnings", warnings)?;
        Ok(read)
    })
}

fn shown<'py>(py: Python<'py>, url: &ProviderUrl) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let rows = url.endpoints.iter().map(|e| (&e.scheme, &e.host, e.port, e.version.as_deref(), e.defaulted, e.multi_address));
    fields.set_item("scheme", &url.scheme)?;
    fields.set_item("endpoints", rows.collect::<Vec<_>>())?;
    fields.set_item("path", url.path.as_deref())?;
    fields.set_item("warnings", &url.warnings)?;
    Ok(fields)
}

fn refused(py: Python<'_>, wrong: &ProviderError) -> PyErr {
    error::raise(py, NamingError::new(ErrorKind::Configuration, wrong.to_string()))
}
