//! The log reader for Python: bytes in, events out, with the interpreter released while it reads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::log::Groups;
use crate::failure::{Event, LogReader};

use super::error::entered;
use super::failure::verdict;

/// Finds the failures in a log that comes in pieces, and counts the same ones.
#[pyclass(name = "FailureReader", module = "hanaming._native", frozen)]
pub struct PyFailureReader(Mutex<Reading>);

#[derive(Default)]
struct Reading {
    reader: LogReader,
    groups: Groups,
}

impl PyFailureReader {
    /// A reader whose last use panicked goes on: what it holds is a log's text, not a promise.
    fn reading(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, py: Python<'_>, more: impl FnOnce(&mut LogReader) -> Vec<Event> + Send) -> Vec<PyFound> {
        py.detach(|| {
            let mut reading = self.reading();
            let Reading { reader, groups } = &mut *reading;
            more(reader).into_iter().map(|event| PyFound { group: groups.add(&event), event }).collect()
        })
    }
}

#[pymethods]
impl PyFailureReader {
    #[new]
    fn new() -> Self {
        Self(Mutex::default())
    }

    /// Reads on; the events that ended in these bytes.
    #[pyo3(signature = (data, /))]
    fn feed(&self, py: Python<'_>, data: &[u8]) -> PyResult<Vec<PyFound>> {
        entered(|| Ok(self.read(py, |reader| reader.feed(data))))
    }

    /// The log has ended; the events that were still open.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<PyFound>> {
        entered(|| Ok(self.read(py, LogReader::finish)))
    }

    /// Goes on with another log, whose lines are counted anew; the groups stay.
    fn restart(&self) {
        self.reading().reader.restart();
    }

    /// How many lines have been read.
    #[getter]
    fn lines(&self) -> u64 {
        self.reading().reader.lines()
    }
}

/// A failure that was found. A log may hold millions of which a report keeps few, so nothing of it is made Python's
/// before it is asked for.
#[pyclass(name = "FoundFailure", module = "hanaming._native", frozen)]
pub struct PyFound {
    event: Event,
    group: Option<usize>,
}

#[pymethods]
impl PyFound {
    /// Its first line, from 1.
    #[getter]
    fn line(&self) -> u64 {
        self.event.line
    }

    /// Its last line.
    #[getter]
    fn last_line(&self) -> u64 {
        self.event.last_line
    }

    /// When, as the log writes it.
    #[getter]
    fn time(&self) -> Option<&str> {
        self.event.time.as_deref()
    }

    /// Its first lines.
    #[getter]
    fn text(&self) -> &str {
        &self.event.text
    }

    /// The classes of what was thrown, the outermost first.
    #[getter]
    fn classes(&self) -> Vec<&str> {
        self.event.chain.thrown.iter().map(|thrown| thrown.class.as_str()).collect()
    }

    /// The number of its group; none beyond those that are kept.
    #[getter]
    fn group(&self) -> Option<usize> {
        self.group
    }

    /// What it means.
    #[getter]
    fn verdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        entered(|| verdict(py, &self.event.verdict))
    }
}
