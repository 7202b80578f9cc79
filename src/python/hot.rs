//! Objects that were looked up in this process's own trees, or that a client keeps the answers of, kept for as long as these
//! stay as they are.
//!
//! A hit costs a comparison of two numbers and one look into a `dict`: the interpreter is not let go, nothing is
//! decoded. Only what cannot be changed by one caller under another is kept, under the very text that was asked for.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString};

use crate::client::{Freshness, Located};
use crate::naming::{EntryKind, Source};

use super::reference::PyReference;
use super::session::{Reach, Session};

/// So many names are kept; then it starts afresh.
const NAMES: usize = 16 * 1024;

/// The kept objects of one context.
pub struct Hot {
    objects: Py<PyDict>,
    generation: AtomicU64,
}

impl Hot {
    /// Nothing is kept yet.
    pub fn new(py: Python<'_>) -> Self {
        Self { objects: PyDict::new(py).unbind(), generation: AtomicU64::new(u64::MAX) }
    }

    /// The object that is bound at `name`, if it is kept.
    #[inline]
    pub fn get<'py>(&self, session: &Session, name: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if session.generation() != Some(self.generation.load(Ordering::Relaxed)) || !name.is_exact_instance_of::<PyString>() {
            return Ok(None);
        }
        let object = self.objects.bind(name.py()).get_item(name)?;
        if object.is_some() {
            session.remember_hot();
        }
        Ok(object)
    }

    /// Keeps an object that was found when the session was at `generation`.
    pub fn put(&self, generation: u64, name: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> PyResult<()> {
        if !name.is_exact_instance_of::<PyString>() {
            return Ok(());
        }
        let objects = self.objects.bind(name.py());
        if self.generation.load(Ordering::Relaxed) != generation || objects.len() >= NAMES {
            objects.clear();
            self.generation.store(generation, Ordering::Relaxed);
        }
        objects.set_item(name, object)
    }
}

/// Whether what was found may be kept: no caller can change it, and it stands in this process's own node's trees, or it was
/// kept by the client, which knows when that ceases to be true. What an object factory made is each caller's own.
pub fn may_be_kept(session: &Session, located: &Located, object: &Bound<'_, PyAny>) -> bool {
    let Located { found, at: None, freshness } = located else { return false };
    let is_known = match session.reach() {
        Reach::Process(_) => found.source != Source::Peer,
        // A node's local tree tells nobody of its changes.
        Reach::Network(_) => *freshness == Freshness::Kept && found.source == Source::Cluster,
    };
    let immutable = match found.content.kind {
        EntryKind::Value => {
            object.is_none()
                || object.is_exact_instance_of::<PyString>()
                || object.is_exact_instance_of::<PyBytes>()
                || object.is_exact_instance_of::<PyBool>()
                || object.is_exact_instance_of::<PyInt>()
                || object.is_exact_instance_of::<PyFloat>()
        }
        EntryKind::Reference => object.is_exact_instance_of::<PyReference>(),
        EntryKind::Link | EntryKind::Context => false,
    };
    immutable && is_known
}
