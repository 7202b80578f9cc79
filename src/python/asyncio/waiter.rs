//! Who waits for a call, and what becomes of its product.

use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;

use crate::client::{Product, Trail};
use crate::naming::NamingError;

use super::super::operation::Asking;
use super::super::product::Home;

/// Who waits for a call.
pub struct Waiter {
    pub(super) future: Py<PyAny>,
    /// The task that made the call; `None` where it was made outside of any.
    pub(super) task: Option<Py<PyAny>>,
    pub(super) asking: Asking,
    /// Where the contexts are made that it may find.
    pub(super) home: Arc<dyn Home + Send + Sync>,
    /// When the call was made, by its driver's clock.
    pub(super) began: Duration,
}

impl Waiter {
    /// What the caller gets.
    pub(super) fn outcome<'py>(
        &self,
        py: Python<'py>,
        result: Result<Product, NamingError>,
        took: Duration,
        trail: &Trail,
    ) -> PyResult<Bound<'py, PyAny>> {
        match result {
            Ok(product) => self.asking.finish(py, &*self.home, &product, took, &|| trail.attempts()),
            Err(error) => Err(self.asking.raise(py, error)),
        }
    }
}
