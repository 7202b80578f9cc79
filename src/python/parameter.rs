//! Arguments of plain types, read under their parameters' names.
//!
//! pyo3 tells which argument has a wrong type by a note, which exceptions have since Python 3.11, and in words that are its own.
//! Here a parameter's name is a type: `from_py_with = flag::<Mdns>` reads the argument, and each message begins with `mdns`.

use std::path::PathBuf;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::naming::{ErrorKind, NamingError};

use super::argument::wrong_type;
use super::{error, text};

/// A parameter.
pub trait Parameter {
    /// What callers know it as.
    const NAME: &'static str;
}

macro_rules! parameters {
    ($($parameter:ident $name:literal)*) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub enum $parameter {}

            impl Parameter for $parameter {
                const NAME: &'static str = $name;
            }
        )*
    };
}

parameters! {
    Advertise "advertise"
    All "all"
    AttemptTimeout "attempt_timeout"
    Cache "cache"
    ClassName "class_name"
    Cluster "cluster"
    CreateParents "create_parents"
    DataDir "data_dir"
    DnsRefresh "dns_refresh"
    Factory "factory"
    FactoryName "name"
    FollowViews "follow_views"
    Index "a name's index"
    Initial "initial"
    Insecure "insecure"
    Instance "instance"
    Lease "lease"
    Listen "listen"
    Mdns "mdns"
    MdnsInterface "mdns_interface"
    NameOfNode "name"
    NodeToForget "node"
    OperationId "operation_id"
    PolicyName "policy"
    Provider "provider"
    Scope "scope"
    Start "start"
    Stop "stop"
    Time "timeout"
    Tree "tree"
    Weight "weight"
}

/// The `timeout` of an operation, in seconds, as it was given.
#[derive(Clone, Copy)]
pub struct Timeout(pub f64);

impl<'py> FromPyObject<'_, 'py> for Timeout {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        number::<Time>(&given).map(Self)
    }
}

/// A number, which `bool` is none of here.
pub fn number<P: Parameter>(given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let wanted = || wrong_type(P::NAME, "a number", given);
    if given.is_instance_of::<PyBool>() {
        return Err(wanted());
    }
    given.extract().map_err(|failed: PyErr| {
        let py = given.py();
        if failed.is_instance_of::<PyOverflowError>(py) {
            let message = format!("{} is larger than any float; give a smaller number", P::NAME);
            error::raise(py, NamingError::new(ErrorKind::Configuration, message))
        } else if failed.is_instance_of::<PyTypeError>(py) {
            wanted()
        } else {
            failed
        }
    })
}

/// A number, or `None`.
pub fn some_number<P: Parameter>(given: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    unless_none(given, number::<P>)
}

/// `True` or `False`.
pub fn flag<P: Parameter>(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    given.extract().map_err(|_| wrong_type(P::NAME, "True or False", given))
}

/// A text.
pub fn text<'a, P: Parameter>(given: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    text::of(given.cast().map_err(|_| wrong_type(P::NAME, "a str", given))?, P::NAME)
}

/// A text, or `None`.
pub fn some_text<'a, P: Parameter>(given: &'a Bound<'_, PyAny>) -> PyResult<Option<&'a str>> {
    if given.is_none() { Ok(None) } else { text::<P>(given).map(Some) }
}

/// A text that is kept.
pub fn string<P: Parameter>(given: &Bound<'_, PyAny>) -> PyResult<String> {
    text::<P>(given).map(str::to_owned)
}

/// A text that is kept, or `None`.
pub fn some_string<P: Parameter>(given: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    unless_none(given, string::<P>)
}

/// A path, or `None`.
pub fn some_path<P: Parameter>(given: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    unless_none(given, |given| {
        given.extract().map_err(|failed: PyErr| {
            let py = given.py();
            if failed.is_instance_of::<PyTypeError>(py) {
                wrong_type(P::NAME, "a path, as a str or an os.PathLike", given)
            } else if failed.is_instance_of::<PyUnicodeEncodeError>(py) {
                let message = format!("{}: no file's name has the characters of {}", P::NAME, shown(given));
                error::raise(py, NamingError::new(ErrorKind::Configuration, message))
            } else {
                failed
            }
        })
    })
}

/// A place in a sequence; one beyond all sequences is the last or the first that there is.
pub fn place<P: Parameter>(given: &Bound<'_, PyAny>) -> PyResult<isize> {
    given.extract().or_else(|failed: PyErr| {
        if failed.is_instance_of::<PyOverflowError>(given.py()) {
            return Ok(if given.lt(0)? { isize::MIN } else { isize::MAX });
        }
        Err(wrong_type(P::NAME, "an int", given))
    })
}

/// A place in a sequence, or `None`.
pub fn some_place<P: Parameter>(given: &Bound<'_, PyAny>) -> PyResult<Option<isize>> {
    unless_none(given, place::<P>)
}

fn unless_none<'py, T>(given: &Bound<'py, PyAny>, read: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<T>) -> PyResult<Option<T>> {
    if given.is_none() { Ok(None) } else { read(given).map(Some) }
}

fn shown(given: &Bound<'_, PyAny>) -> String {
    given.repr().map_or_else(|_| "it".to_owned(), |shown| shown.to_string_lossy().into_owned())
}
