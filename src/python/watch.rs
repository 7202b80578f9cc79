//! `hanaming.Watch`: events of watched names, for whoever listens, and what the asyncio twin needs to listen on a loop.
//!
//! Events come from the keeper's thread, which never touches Python: a listener waits for them without the interpreter,
//! and an event loop has a descriptor watched that the thread writes a byte to.

use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pyo3::exceptions::{PyStopAsyncIteration, PyValueError};
use pyo3::prelude::*;

use crate::client::watch::{Event, Listened, Told};
use crate::client::{Subject, Watch};
use crate::naming::{Listed, Name, NamingError, Source};
use crate::protocol::WatchScope;

use super::error::{self, entered};
use super::imports::Imported;
use super::product::Home;
use super::{name, process, records, value};

/// Events of watched names: an iterator that waits, and a context manager.
///
/// Each event says what happened to a name: first the names that are bound, as `added`, then each change. Closing it, from
/// any thread, ends the iteration; where the context is closed, or its node in this process, that is an error.
#[pyclass(name = "Watch", module = "hanaming", frozen, weakref)]
pub struct PyWatch {
    watch: Watch,
    watched: Watched,
    home: Arc<dyn Home + Send + Sync>,
    /// The end that an event loop watches.
    bell: OnceLock<UnixStream>,
}

/// What is watched.
pub struct Watched {
    /// The name, as the caller's context has it.
    given: Name,
    /// The context.
    base: Name,
    scope: WatchScope,
    /// In whose tree.
    source: Source,
}

impl Watched {
    /// Reads the arguments of `watch`.
    pub fn read(base: &Name, given: &Bound<'_, PyAny>, scope: &str, is_ha: bool) -> PyResult<Self> {
        let Some(scope) = WatchScope::ALL.into_iter().find(|known| known.as_str() == scope) else {
            let known = WatchScope::ALL.map(WatchScope::as_str).join(", ");
            return Err(PyValueError::new_err(format!("scope={scope:?} is unknown; there are {known}")));
        };
        let source = if is_ha { Source::Cluster } else { Source::Local };
        Ok(Self { given: name::extract(given, "name")?, base: base.clone(), scope, source })
    }

    /// Begins to watch it, and waits at most so long until what is written from then on will be told.
    pub fn begin(
        self,
        py: Python<'_>,
        home: Arc<dyn Home + Send + Sync>,
        within: Duration,
        start: impl FnOnce(Name, WatchScope) -> Result<Watch, NamingError>,
    ) -> PyResult<PyWatch> {
        let subject = Subject::new(&self.base, &self.given);
        let watch = start(subject.full().clone(), self.scope);
        let raise = |wrong: NamingError| error::raise(py, wrong.with_name(self.given.as_str()));
        let watch = watch.map_err(raise)?;
        let (begun, raised) = process::interruptible(py, |give_up| watch.begun(within, give_up));
        if let Some(raised) = raised {
            return Err(raised);
        }
        begun.map_err(raise)?;
        Ok(PyWatch { watch, watched: self, home, bell: OnceLock::new() })
    }

    /// A name from the root, as the caller's context has it.
    fn relative(&self, full: &Name) -> Name {
        full.suffix(self.base.len().min(full.len()))
    }
}

#[pymethods]
impl PyWatch {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        entered(|| {
            let (listened, raised) = process::interruptible(py, |give_up| self.watch.next(give_up));
            if let Some(raised) = raised {
                return Err(raised);
            }
            match listened.map_err(|ended| error::raise(py, ended))? {
                Listened::Event(event) => self.event(py, &event).map(Some),
                Listened::Nothing | Listened::Closed => Ok(None),
            }
        })
    }

    /// Ends it. Doing so again does nothing.
    fn close(&self) {
        self.watch.close();
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (kind, error, traceback))]
    #[expect(unused_variables, reason = "the protocol's parameters")]
    fn __exit__(&self, kind: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>, traceback: &Bound<'_, PyAny>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        format!("<Watch of {:?}, {}>", self.watched.given.as_str(), self.watched.scope.as_str())
    }

    /// The event that has come, or `None`; `StopAsyncIteration` where it was closed.
    fn _poll<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        entered(|| {
            if let Some(bell) = self.bell.get() {
                let mut rung = [0; 64];
                let mut bell = bell;
                while matches!(bell.read(&mut rung), Ok(1..)) {}
            }
            match self.watch.poll().map_err(|ended| error::raise(py, ended))? {
                Listened::Event(event) => self.event(py, &event).map(Some),
                Listened::Nothing => Ok(None),
                Listened::Closed => Err(PyStopAsyncIteration::new_err(())),
            }
        })
    }

    /// A descriptor that becomes readable when there may be an event.
    fn _descriptor(&self) -> PyResult<i32> {
        entered(|| {
            if let Some(bell) = self.bell.get() {
                return Ok(bell.as_raw_fd());
            }
            let (bell, ringer) = UnixStream::pair()?;
            bell.set_nonblocking(true)?;
            ringer.set_nonblocking(true)?;
            let descriptor = self.bell.get_or_init(|| bell).as_raw_fd();
            // Where it takes no more it is rung already.
            self.watch.set_alarm(Box::new(move || drop((&ringer).write(&[0]))));
            Ok(descriptor)
        })
    }
}

impl PyWatch {
    fn event<'py>(&self, py: Python<'py>, event: &Event) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: Imported = Imported::new("hanaming.records", "Event");
        let told = |told: &Option<Told>| told.as_ref().map(|told| self.binding(py, told)).transpose();
        let name = self.watched.relative(&event.name);
        CLASS.get(py)?.call1((event.kind.as_str(), name.as_str(), told(&event.old)?, told(&event.new)?))
    }

    fn binding<'py>(&self, py: Python<'py>, told: &Told) -> PyResult<Bound<'py, PyAny>> {
        let (source, node) = (self.watched.source, &told.node);
        let value = match value::from_content(py, &told.content)? {
            Some(value) => value,
            None => self.home.subcontext(py, told.name.clone())?,
        };
        let row = Listed {
            component: told.name.suffix(told.name.len().saturating_sub(1)).to_string(),
            content: told.content.clone(),
            source,
            node: node.clone(),
            version: Some(told.version),
            sources: vec![(source, node.clone())],
        };
        records::binding(py, self.watched.relative(&told.name).as_str(), &row, &value)
    }
}
