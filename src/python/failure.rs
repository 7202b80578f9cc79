//! Failure classification: plain data in, plain data out. Python makes chains of exception objects and records of
//! verdicts; nothing is decided here.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::failure::{
    self, Chain, CompletionStatus, Description, Link, Minor, Phase, Thrown, Verdict, classify_chain as classify, corba,
};

use super::error::entered;

/// One thrown exception, as a mapping: what is not known is left out or `None`.
pub struct Given(Thrown);

impl<'py> FromPyObject<'_, 'py> for Given {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let given = object.cast::<PyDict>()?;
        let mut thrown = Thrown::default();
        for (key, value) in given.iter().filter(|(_, value)| !value.is_none()) {
            match key.extract::<&str>()? {
                "class" => thrown.class = value.extract()?,
                "message" => thrown.message = value.extract()?,
                "link" => thrown.link = word(&value, Link::from_word)?,
                "completed" => thrown.completed = Some(word(&value, CompletionStatus::from_word)?),
                "minor" => thrown.minor = Some(minor(&value)?),
                "code" => thrown.code = Some(value.extract()?),
                "phase" => thrown.phase = Some(word(&value, Phase::from_word)?),
                "frames" => thrown.frames = value.extract()?,
                other => return Err(PyValueError::new_err(format!("a thrown exception has no {other:?}"))),
            }
        }
        Ok(Self(thrown))
    }
}

fn word<T>(value: &Bound<'_, PyAny>, read: impl FnOnce(&str) -> Option<T>) -> PyResult<T> {
    let text: String = value.extract()?;
    read(&text).ok_or_else(|| PyValueError::new_err(format!("{text:?} is not one of the words")))
}

/// A whole minor code; whoever has it as a signed number means its 32 bits.
fn minor(value: &Bound<'_, PyAny>) -> PyResult<Minor> {
    let number: i64 = value.extract()?;
    let bits = u32::try_from(number).or_else(|_| i32::try_from(number).map(i32::cast_unsigned));
    bits.map(Minor).map_err(|_| PyValueError::new_err(format!("a minor code has 32 bits: {number}")))
}

fn chain(given: Vec<Given>) -> Vec<Thrown> {
    given.into_iter().map(|given| given.0).collect()
}

/// What a chain of exceptions means, outermost first; `parts` are the chains that are evidence and no cause.
#[pyfunction]
#[pyo3(signature = (thrown, parts = Vec::new()))]
pub fn classify_chain(py: Python<'_>, thrown: Vec<Given>, parts: Vec<Vec<Given>>) -> PyResult<Bound<'_, PyDict>> {
    entered(|| {
        let chain = Chain { thrown: chain(thrown), parts: parts.into_iter().map(chain).collect(), otherwise: None };
        verdict(py, &classify(&chain))
    })
}

/// What a text means: the first primary failure in it.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub fn classify_text<'py>(py: Python<'py>, text: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    entered(|| {
        let result = py.detach(|| failure::classify_text(text));
        verdict(py, &result)
    })
}

/// What a described failure means.
#[pyfunction]
#[pyo3(signature = (description, /))]
pub fn classify_description<'py>(py: Python<'py>, description: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    entered(|| {
        let mut described = Description::default();
        for (key, value) in description.iter().filter(|(_, value)| !value.is_none()) {
            match key.extract::<&str>()? {
                "exception" => described.exception = value.extract()?,
                "message" => described.message = value.extract()?,
                "completed" => described.completed = value.extract()?,
                "vmcid" => described.vmcid = value.extract()?,
                "minor" => described.minor = value.extract()?,
                "code" => described.code = value.extract()?,
                "phase" => described.phase = value.extract()?,
                "cause" => described.cause = value.extract()?,
                "frames" => described.frames = value.extract()?,
                other => return Err(PyValueError::new_err(format!("a description has no {other:?}"))),
            }
        }
        verdict(py, &classify(&described.chain()))
    })
}

/// How a minor code is read, and all its meanings by class; `None` where there is no number in it.
#[pyfunction]
#[pyo3(signature = (text, vmcid = None))]
pub fn explain_minor<'py>(py: Python<'py>, text: &str, vmcid: Option<&str>) -> PyResult<Option<Bound<'py, PyDict>>> {
    entered(|| {
        let Some((minor, agreed)) = Minor::read(vmcid, &[text]) else { return Ok(None) };
        let explained = PyDict::new(py);
        explained.set_item("minor", minor.0)?;
        explained.set_item("vendor", minor.vendor_name())?;
        explained.set_item("low", minor.low())?;
        explained.set_item("agreed", agreed)?;
        let mut meanings = Vec::new();
        for (class, meaning) in corba::explain(minor) {
            let row = PyDict::new(py);
            row.set_item("class", class)?;
            row.set_item("category", meaning.category.as_str())?;
            row.set_item("detail", meaning.detail)?;
            row.set_item("completion", meaning.completion.as_str())?;
            row.set_item("why", meaning.why)?;
            meanings.push(row);
        }
        explained.set_item("meanings", meanings)?;
        Ok(Some(explained))
    })
}

/// A verdict as a mapping.
pub fn verdict<'py>(py: Python<'py>, verdict: &Verdict) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("category", verdict.category.as_str())?;
    fields.set_item("detail", verdict.detail)?;
    fields.set_item("completion", verdict.completion.map(CompletionStatus::as_str))?;
    fields.set_item("action", verdict.action.as_str())?;
    fields.set_item("action_if_idempotent", verdict.action_if_idempotent.as_str())?;
    fields.set_item("advice", &verdict.advice)?;
    fields.set_item("reason", &verdict.reason)?;
    fields.set_item("evidence", &verdict.evidence)?;
    fields.set_item("confidence", verdict.confidence)?;
    Ok(fields)
}
