//! The log reader for Python: bytes in, events out, with the interpreter released while it reads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::log::{Group, Groups};
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

    fn read(&self, py: Python<'_>, more: impl FnOnce(&mut LogReader) -> Vec<Event> + Send) -> PyResult<Vec<Py<PyDict>>> {
        let counted = py.detach(|| {
            let mut reading = self.reading();
            let Reading { reader, groups } = &mut *reading;
            more(reader).into_iter().map(|event| (groups.add(&event), event)).collect::<Vec<_>>()
        });
        counted.into_iter().map(|(group, event)| dict(py, &event, group).map(Bound::unbind)).collect()
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
    fn feed(&self, py: Python<'_>, data: &[u8]) -> PyResult<Vec<Py<PyDict>>> {
        entered(|| self.read(py, |reader| reader.feed(data)))
    }

    /// The log has ended; the events that were still open.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<Py<PyDict>>> {
        entered(|| self.read(py, LogReader::finish))
    }

    /// Goes on with another log, whose lines are counted anew; the groups stay.
    fn restart(&self) {
        self.reading().reader.restart();
    }

    /// The groups so far, in the order in which they first came.
    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        entered(|| self.reading().groups.groups().iter().enumerate().map(|(at, group)| group_dict(py, at, group)).collect())
    }

    /// How many lines have been read.
    #[getter]
    fn lines(&self) -> u64 {
        self.reading().reader.lines()
    }
}

fn dict<'py>(py: Python<'py>, event: &Event, group: Option<usize>) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("line", event.line)?;
    fields.set_item("last_line", event.last_line)?;
    fields.set_item("time", event.time.as_deref())?;
    fields.set_item("text", &event.text)?;
    fields.set_item("classes", event.chain.thrown.iter().map(|thrown| thrown.class.as_str()).collect::<Vec<_>>())?;
    fields.set_item("group", group)?;
    fields.set_item("verdict", verdict(py, &event.verdict)?)?;
    Ok(fields)
}

fn group_dict<'py>(py: Python<'py>, at: usize, group: &Group) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("group", at)?;
    fields.set_item("count", group.count)?;
    fields.set_item("first_line", group.first.line)?;
    fields.set_item("last_line", group.last_line)?;
    fields.set_item("first_time", group.first.time.as_deref())?;
    fields.set_item("last_time", group.last_time.as_deref())?;
    fields.set_item("event", dict(py, &group.first, Some(at))?)?;
    Ok(fields)
}
