//! Python objects to values and back.
//!
//! An object becomes a value without any recursion that the limit on depth does not bound, and without taking more
//! memory than the limit on size allows (times a small constant): cyclic and huge structures end with an error that
//! says where. A `dict` or a `list` is made anew for every caller; what is immutable may be shared.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bytes::Bytes;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::failure::CompletionStatus;
use crate::naming::shown::Short;
use crate::naming::{Content, EntryKind, ErrorKind, NamingError, Value};

use super::reference::{PyLinkRef, PyReference};
use super::{argument, error, factories, text};

/// The content that binds `object`, after state factories. What is over a limit is an error of the operation, which has
/// a name to tell; what is no value at all is an exception of Python's.
pub fn to_content(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Result<Content, NamingError>> {
    Ok(read(object, "value", name)?.and_then(|value| value.to_content()))
}

/// The value of `object`, after state factories; `place` is what errors call it, `name` where it is to be bound.
pub fn to_value(object: &Bound<'_, PyAny>, place: &str, name: &str) -> PyResult<Value> {
    read(object, place, name)?.map_err(|wrong| error::raise(object.py(), wrong))
}

fn read(object: &Bound<'_, PyAny>, place: &str, name: &str) -> PyResult<Result<Value, NamingError>> {
    let mut reading = Reading { left: Value::MAX_BYTES };
    reading.value(object, 0).map_or_else(|wrong| wrong.at(object.py(), place, name).map(Err), |value| Ok(Ok(value)))
}

/// What a content is in Python, references as they are; `None` where it is a context.
pub fn from_content<'py>(py: Python<'py>, content: &Content) -> PyResult<Option<Bound<'py, PyAny>>> {
    of_kind(py, content.kind, &content.value)
}

/// The same for what is of that kind and has these bytes.
pub fn of_kind<'py>(py: Python<'py>, kind: EntryKind, bytes: &[u8]) -> PyResult<Option<Bound<'py, PyAny>>> {
    if kind == EntryKind::Context {
        return Ok(None);
    }
    if kind == EntryKind::Value
        && let Some(text) = Value::text_of(bytes)
    {
        // What is looked up most is copied once.
        return Ok(Some(PyString::new(py, text).into_any()));
    }
    let value = Value::of_kind(kind, bytes).map_err(|wrong| error::raise(py, wrong))?;
    to_object(py, &value).map(Some)
}

/// The object of a value's canonical bytes.
pub fn decode<'py>(py: Python<'py>, bytes: &Bytes) -> PyResult<Bound<'py, PyAny>> {
    let value = Value::decode(bytes).map_err(|wrong| error::raise(py, wrong))?;
    to_object(py, &value)
}

/// The object of a value. The depth of values is bounded, and so is this recursion.
pub fn to_object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Str(text) => PyString::new(py, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::List(items) => {
            let items = items.iter().map(|item| to_object(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Dict(entries) => {
            let dict = PyDict::new(py);
            for (key, item) in entries {
                dict.set_item(PyString::new(py, key), to_object(py, item)?)?;
            }
            dict.into_any()
        }
        Value::Reference(reference) => Bound::new(py, PyReference(reference.clone()))?.into_any(),
        Value::Link(link) => Bound::new(py, PyLinkRef(link.clone()))?.into_any(),
    })
}

/// The reading of one object.
struct Reading {
    /// How many bytes the encoded value may still take, at least one for each part of it.
    left: usize,
}

impl Reading {
    fn value(&mut self, object: &Bound<'_, PyAny>, depth: usize) -> Result<Value, Wrong> {
        self.take(1)?;
        if let Some(value) = self.plain(object, depth)? {
            return Ok(value);
        }
        // Each turn of a state factory counts as a step down, so that two factories can't play ball for ever.
        if let Some(factory) = factories::state_factory(object)? {
            deeper(depth)?;
            let made = factory.call1((object,)).map_err(|raised| Wrong::new(Fault::Factory(class_name(object), raised)))?;
            if made.get_type().is(object.get_type()) {
                let class = class_name(object);
                return Err(Wrong::of_type(format!("the state factory of {class} gave {class} again; it must give a value")));
            }
            return self.value(&made, depth + 1);
        }
        Err(not_a_value(object))
    }

    /// What needs no state factory. Instances of subclasses are nothing of that: an enumeration's member or a dict with a default
    /// would come back as something else.
    fn plain(&mut self, object: &Bound<'_, PyAny>, depth: usize) -> Result<Option<Value>, Wrong> {
        if let Ok(string) = object.cast_exact::<PyString>() {
            let text = text::utf8(string, "the str").map_err(Wrong::text)?;
            self.take(text.len())?;
            Ok(Some(Value::Str(text.to_owned())))
        } else if object.is_none() {
            Ok(Some(Value::Null))
        } else if let Ok(truth) = object.cast_exact::<PyBool>() {
            Ok(Some(Value::Bool(truth.is_true())))
        } else if let Ok(number) = object.cast_exact::<PyInt>() {
            let number = number.extract().map_err(|_| Wrong::limit("an int of more than 64 bits".to_owned()))?;
            Ok(Some(Value::Int(number)))
        } else if let Ok(number) = object.cast_exact::<PyFloat>() {
            Ok(Some(Value::Float(number.value())))
        } else if let Ok(bytes) = object.cast_exact::<PyBytes>() {
            self.take(bytes.as_bytes().len())?;
            Ok(Some(Value::Bytes(bytes.as_bytes().to_vec())))
        } else if let Ok(list) = object.cast_exact::<PyList>() {
            self.list(list, depth).map(Some)
        } else if let Ok(dict) = object.cast_exact::<PyDict>() {
            self.dict(dict, depth).map(Some)
        } else if let Ok(reference) = object.cast::<PyReference>() {
            Ok(Some(Value::Reference(reference.get().0.clone())))
        } else if let Ok(link) = object.cast::<PyLinkRef>() {
            Ok(Some(Value::Link(link.get().0.clone())))
        } else {
            Ok(None)
        }
    }

    fn list(&mut self, list: &Bound<'_, PyList>, depth: usize) -> Result<Value, Wrong> {
        deeper(depth)?;
        let mut items = Vec::new();
        for (index, item) in list.iter().enumerate() {
            items.push(self.value(&item, depth + 1).map_err(|wrong| wrong.within(Step::Index(index)))?);
        }
        Ok(Value::List(items))
    }

    fn dict(&mut self, dict: &Bound<'_, PyDict>, depth: usize) -> Result<Value, Wrong> {
        deeper(depth)?;
        // Asked before the copy is made: a state factory could change the dict under an iteration of itself.
        if dict.len() > self.left {
            return Err(too_large());
        }
        let mut entries = BTreeMap::new();
        for (key, item) in dict
            .items()
            .iter()
            .map(|pair| pair.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>())
            .collect::<PyResult<Vec<_>>>()?
        {
            let step = |wrong: Wrong| wrong.within(Step::Key(key.clone().unbind()));
            let Ok(text) = key.cast_exact::<PyString>() else {
                let message = format!("the key is of type {}; the keys of a dict are str", class_name(&key));
                return Err(step(Wrong::of_type(message)));
            };
            let text = text::utf8(text, "the key").map_err(|wrong| step(Wrong::text(wrong)))?;
            self.take(text.len() + 1)?;
            let value = self.value(&item, depth + 1).map_err(step)?;
            entries.insert(text.to_owned(), value);
        }
        Ok(Value::Dict(entries))
    }

    fn take(&mut self, bytes: usize) -> Result<(), Wrong> {
        self.left = self.left.checked_sub(bytes).ok_or_else(too_large)?;
        Ok(())
    }
}

fn deeper(depth: usize) -> Result<(), Wrong> {
    if depth < Value::MAX_DEPTH {
        return Ok(());
    }
    Err(Wrong::limit(format!("nested more than {} deep", Value::MAX_DEPTH)))
}

fn too_large() -> Wrong {
    Wrong::limit(format!("the value takes more than {} bytes", Value::MAX_BYTES))
}

fn not_a_value(object: &Bound<'_, PyAny>) -> Wrong {
    let class = class_name(object);
    let kinds = [
        ("str", object.is_instance_of::<PyString>()),
        ("int", object.is_instance_of::<PyInt>()),
        ("float", object.is_instance_of::<PyFloat>()),
        ("bytes", object.is_instance_of::<PyBytes>()),
        ("list", object.is_instance_of::<PyList>()),
        ("dict", object.is_instance_of::<PyDict>()),
    ];
    let plain = kinds.into_iter().find_map(|(kind, is_one)| is_one.then_some(kind));
    if let Some(plain) = plain {
        return Wrong::of_type(format!(
            "{class} is no type of value, though a kind of {plain}: what is looked up would be a plain {plain}; bind \
             {plain}(…) of it, or register a state factory for {class}"
        ));
    }
    Wrong::of_type(format!(
        "{class} is no type of value; bind None, bool, int, float, str, bytes, list, dict, Reference or LinkRef, \
         or register a state factory for {class}"
    ))
}

fn class_name(object: &Bound<'_, PyAny>) -> String {
    argument::class_name(object).unwrap_or_else(|_| "?".to_owned())
}

/// Why an object is no value, and where: the steps down to it, innermost first.
struct Wrong {
    fault: Fault,
    steps: Vec<Step>,
}

enum Fault {
    Type(String),
    Naming(ErrorKind, String),
    /// What the state factory of a class raised.
    Factory(String, PyErr),
    /// What Python itself raised.
    Raised(PyErr),
}

enum Step {
    Index(usize),
    Key(Py<PyAny>),
}

impl Wrong {
    fn new(fault: Fault) -> Self {
        Self { fault, steps: Vec::new() }
    }

    fn of_type(message: String) -> Self {
        Self::new(Fault::Type(message))
    }

    fn text(message: String) -> Self {
        Self::new(Fault::Naming(ErrorKind::InvalidValue, message))
    }

    fn limit(message: String) -> Self {
        Self::new(Fault::Naming(ErrorKind::LimitExceeded, message))
    }

    fn within(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The error, with the place in what is called `root` and is to be bound at `name`.
    fn at(self, py: Python<'_>, root: &str, name: &str) -> PyResult<NamingError> {
        let mut place = root.to_owned();
        for step in self.steps.iter().rev() {
            // Writing to a string does not fail.
            let _ = match step {
                Step::Index(index) => write!(place, "[{index}]"),
                Step::Key(key) => match key.bind(py).repr() {
                    Ok(shown) => write!(place, "[{}]", Short(&shown.to_string_lossy())),
                    Err(_) => write!(place, "[…]"),
                },
            };
        }
        match self.fault {
            Fault::Type(message) => Err(PyTypeError::new_err(format!("{place}: {message}"))),
            Fault::Naming(kind, message) => Ok(NamingError::new(kind, format!("{place}: {message}"))),
            Fault::Factory(class, raised) => {
                let what = format!("{place}: the state factory of {class}");
                Err(factories::failed(py, raised, &what, name, CompletionStatus::No))
            }
            Fault::Raised(error) => Err(error),
        }
    }
}

impl From<PyErr> for Wrong {
    fn from(error: PyErr) -> Self {
        Self::new(Fault::Raised(error))
    }
}
