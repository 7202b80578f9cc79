//! A child of a fork has none of its parent's threads, and its sockets are also the parent's.

use pyo3::prelude::*;

use crate::client::fork;

use super::log;

/// Called in the child of a fork: the client begins anew there, and so does what is logged.
#[pyfunction]
pub fn _after_fork() {
    fork::in_child();
    log::after_fork();
}
