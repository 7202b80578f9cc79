//! `hanaming.Reference` and `hanaming.LinkRef`: values that point elsewhere.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple, PyType};

use crate::naming::{Address, AddressContent, LinkRef, Reference};

use super::argument::{Argument, each};
use super::error::entered;
use super::name;
use super::parameter::{ClassName, Factory, some_string, string};
use super::text;

/// A description of an object: its class's name, typed addresses, and the name of the factory that can make it.
///
/// It is data. A lookup turns it into an object only through a factory that this process registered under that name.
#[pyclass(name = "Reference", module = "hanaming", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyReference(pub Reference);

#[pymethods]
impl PyReference {
    #[new]
    #[pyo3(
        signature = (class_name, addresses = Argument::Absent, factory = None),
        text_signature = "(class_name, addresses=(), factory=None)"
    )]
    fn new(
        #[pyo3(from_py_with = string::<ClassName>)] class_name: String,
        addresses: Argument<'_>,
        #[pyo3(from_py_with = some_string::<Factory>)] factory: Option<String>,
    ) -> PyResult<Self> {
        entered(|| {
            let mut taken = Vec::new();
            if let Some(addresses) = addresses.into_given() {
                for (index, address) in each(&addresses, "addresses", "pairs of a type and a content")?.enumerate() {
                    taken.push(address_from(&address?, index)?);
                }
            }
            Ok(Self(Reference { class_name, addresses: taken, factory }))
        })
    }

    /// The class's name.
    #[getter]
    fn class_name(&self) -> &str {
        &self.0.class_name
    }

    /// The addresses: each a type and what is there, a `str` or `bytes`. A fresh list.
    #[getter]
    fn addresses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        entered(|| {
            let pairs = self.0.addresses.iter().map(|address| {
                let content = match &address.content {
                    AddressContent::Text(text) => PyString::new(py, text).into_any(),
                    AddressContent::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
                };
                (address.kind.as_str(), content).into_pyobject(py)
            });
            PyList::new(py, pairs.collect::<PyResult<Vec<_>>>()?)
        })
    }

    /// The name of the object factory, if any.
    #[getter]
    fn factory(&self) -> Option<&str> {
        self.0.factory.as_deref()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        entered(|| {
            let class_name = PyString::new(py, &self.0.class_name).repr()?;
            let addresses =
                if self.0.addresses.is_empty() { String::new() } else { format!(", {}", self.addresses(py)?.repr()?) };
            let factory = match &self.0.factory {
                Some(factory) => format!(", factory={}", PyString::new(py, factory).repr()?),
                None => String::new(),
            };
            Ok(format!("Reference({class_name}{addresses}{factory})"))
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        entered(|| {
            let reference = slf.get();
            let arguments = (reference.class_name(), reference.addresses(slf.py())?, reference.factory());
            Ok((slf.get_type(), arguments.into_pyobject(slf.py())?))
        })
    }
}

fn address_from(address: &Bound<'_, PyAny>, index: usize) -> PyResult<Address> {
    let wrong = |what: &str| PyTypeError::new_err(format!("addresses[{index}]: {what}"));
    let Ok((kind, content)) = address.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
        return Err(wrong("an address is a tuple of its type and its content"));
    };
    let Ok(kind) = kind.cast::<PyString>() else { return Err(wrong("an address's type is a str")) };
    let kind = text::of(kind, &format!("addresses[{index}][0]"))?.to_owned();
    let content = if let Ok(text) = content.cast::<PyString>() {
        AddressContent::Text(text::of(text, &format!("addresses[{index}][1]"))?.to_owned())
    } else if let Ok(bytes) = content.cast::<PyBytes>() {
        AddressContent::Bytes(bytes.as_bytes().to_vec())
    } else {
        return Err(wrong("an address's content is a str or bytes"));
    };
    Ok(Address { kind, content })
}

/// A symbolic link: a target that starts with `./` is relative to the context in which the link is bound, any other
/// starts from the root.
#[pyclass(name = "LinkRef", module = "hanaming", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct PyLinkRef(pub LinkRef);

#[pymethods]
impl PyLinkRef {
    #[new]
    fn new(target: &Bound<'_, PyAny>) -> PyResult<Self> {
        entered(|| {
            let target = match target.cast::<PyString>() {
                Ok(text) => text::of(text, "target")?.to_owned(),
                Err(_) => name::extract(target, "target")?.to_string(),
            };
            Ok(Self(LinkRef { target }))
        })
    }

    /// The target, as it was given.
    #[getter]
    fn target(&self) -> &str {
        &self.0.target
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        entered(|| Ok(format!("LinkRef({})", PyString::new(py, &self.0.target).repr()?)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (String,)) {
        (slf.get_type(), (slf.get().0.target.clone(),))
    }
}
