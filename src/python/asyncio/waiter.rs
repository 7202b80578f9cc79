//! Who waits for a call, and what becomes of its product.

use std::sync::{Arc, Weak};
use std::time::Duration;

use pyo3::prelude::*;

use crate::client::{Product, Trail};
use crate::naming::{Name, NamingError};

use super::super::operation::Asking;
use super::super::product::Home;
use super::context::PyAioContext;
use super::session::{Options, Session};

/// Who waits for a call.
pub struct Waiter {
    pub(super) future: Py<PyAny>,
    /// The task that made the call; `None` where it was made outside of any.
    pub(super) task: Option<Py<PyAny>>,
    pub(super) asking: Asking,
    pub(super) rooted: Rooted,
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
            Ok(product) => self.asking.finish(py, &self.rooted, &product, took, &|| trail.attempts()),
            Err(error) => Err(self.asking.raise(py, error)),
        }
    }
}

/// Makes contexts over a session. The session isn't kept by this: a call that is under way doesn't keep a context that
/// nobody holds from being closed after it.
pub(super) struct Rooted {
    pub(super) session: Weak<Session>,
    pub(super) options: Arc<Options>,
}

impl Home for Rooted {
    fn subcontext<'py>(&self, py: Python<'py>, at: Name) -> PyResult<Bound<'py, PyAny>> {
        let session = match self.session.upgrade() {
            Some(session) => session,
            None => Session::again(py, &self.options)?,
        };
        PyAioContext::found(session, at).into_object(py)
    }
}
