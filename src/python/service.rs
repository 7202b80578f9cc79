//! `ctx.service("orders")`: a registered service as a source of a `Balancer`'s targets.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::client::balancer::Service;
use crate::client::{Driver, Subject, closed_context};
use crate::naming::{ErrorKind, Name, NamingError};

use super::{error, name};

/// The instances of a service that are registered in a cluster, for a `Balancer` to use: it looks them up in the
/// background, again and again, and keeps the last ones that it found. Made by `HAContext.service()`.
#[pyclass(name = "Service", module = "hanaming._native", frozen)]
pub struct PyService {
    pub service: Service,
    name: Name,
    /// Whom it asks, as its context's repr says.
    reach: String,
}

#[pymethods]
impl PyService {
    /// The service's name, from the root.
    #[getter]
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn __repr__(&self) -> String {
        format!("<Service '{}' {}>", self.name, self.reach)
    }
}

/// The service at `given`, within the context at `base`, whose servers `driver` leads to.
pub fn found(
    base: &Name,
    given: &Bound<'_, PyAny>,
    is_closed: bool,
    reach: String,
    driver: impl FnOnce() -> Result<Arc<dyn Driver>, NamingError>,
) -> PyResult<PyService> {
    let subject = Subject::new(base, &name::extract(given, "name")?);
    let name = subject.full().clone();
    let usable = || {
        if name.is_empty() || name.iter().any(str::is_empty) {
            return Err(NamingError::new(ErrorKind::InvalidName, "it is no service's name: it has an empty component"));
        }
        if is_closed { Err(closed_context()) } else { driver() }
    };
    let driver = usable().map_err(|error| error::raise(given.py(), error.with_name(subject.given().as_str())))?;
    Ok(PyService { service: Service::new(driver, name.clone()), name, reach })
}
