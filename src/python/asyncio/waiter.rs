//! Who waits for a call, and what its product is to become.

use pyo3::prelude::*;

use crate::client::Trail;
use crate::client::invocation::Product;
use crate::naming::{Name, NamingError};

use super::super::product::Becomes;
use super::context::AioContext;

/// Who waits for a call, and what its product is to become.
#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) future: Py<PyAny>,
    /// The task that made the call; `None` where it was made outside of any.
    pub(super) task: Option<Py<PyAny>>,
    /// The context keeps its connections at least until the call has ended.
    pub(super) context: Py<AioContext>,
    pub(super) becomes: Becomes,
}
