//! `hanaming.Registration`: one instance of a service, in its node's local tree.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::client::direct::Direct;
use crate::client::{BindOptions, Driver, Invocation, Product, Subject};
use crate::naming::{ErrorKind, InstanceDetail, Lookup, Name, NamingError, Version};
use crate::protocol::Scope;
use crate::server::Node;

use super::argument::wrong_type;
use super::error::{entered, guarded};
use super::{error, name, process, value};

/// The time that the in-process bind and unbind have; they wait for nobody.
const WITHIN: Duration = Duration::from_secs(5);

/// An instance of a service, offered until it is closed: a context manager.
#[pyclass(name = "Registration", module = "hanaming", frozen)]
pub struct PyRegistration {
    node: Node,
    name: Name,
    version: Option<Version>,
    closed: AtomicBool,
}

#[pymethods]
impl PyRegistration {
    /// The name that is bound in the node's local tree.
    #[getter]
    fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Takes the instance back, if it is still what is bound there. Doing so again does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        entered(|| {
            if self.closed.swap(true, Ordering::AcqRel) || self.node.is_closed() || !self.stands() {
                return Ok(());
            }
            perform(py, &self.node, Invocation::unbind(Subject::from(self.name.clone()))).map(drop)
        })
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (kind, error, traceback))]
    #[expect(unused_variables, reason = "the protocol's parameters")]
    fn __exit__(
        &self,
        py: Python<'_>,
        kind: &Bound<'_, PyAny>,
        error: &Bound<'_, PyAny>,
        traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        entered(|| self.close(py))
    }

    fn __repr__(&self) -> String {
        let state = if self.closed.load(Ordering::Acquire) { "closed" } else { "open" };
        format!("<Registration '{}' on {}, {state}>", self.name, self.node.name())
    }
}

impl PyRegistration {
    /// Whether what is bound is what was registered: who replaced it since keeps it.
    fn stands(&self) -> bool {
        match self.node.local_tree().lookup(self.name.as_str()) {
            Lookup::Found(entry) => self.version.is_none_or(|version| version == entry.version),
            // The contexts on the way were replaced by links: the unbind follows them.
            Lookup::Link(_) => true,
            _ => false,
        }
    }
}

/// Binds `<name>/<node's name>` in the node's local tree.
pub fn register(
    node: &Node,
    service: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    weight: f64,
    metadata: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyRegistration> {
    let py = service.py();
    let service = name::extract(service, "name")?;
    if service.is_empty() {
        let message = "a service needs a name: the empty one is the root itself";
        return Err(error::raise(py, NamingError::new(ErrorKind::InvalidName, message).with_name("")));
    }
    let name = service.child(node.name());
    if !(weight.is_finite() && weight > 0.0) {
        let message = format!("weight={weight} is no share; give a positive, finite number");
        return Err(error::raise(py, NamingError::new(ErrorKind::Configuration, message)));
    }
    let mut content =
        value::to_content(value, name.as_str())?.map_err(|wrong| error::raise(py, wrong.with_name(name.as_str())))?;
    content.instance = Some(Box::new(InstanceDetail { weight, metadata: encoded(py, metadata, name.as_str())? }));
    let options = BindOptions { replace: false, create_parents: true, lease: None };
    let bind = Invocation::bind(Subject::from(name.clone()), content, options);
    let version = match perform(py, node, bind)? {
        Product::Written(written) => written.version,
        _ => None,
    };
    Ok(PyRegistration { node: node.clone(), name, version, closed: AtomicBool::new(false) })
}

/// The canonical bytes of the metadata, which is a `dict`.
fn encoded(py: Python<'_>, metadata: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<bytes::Bytes> {
    let dict = match metadata {
        None => PyDict::new(py),
        Some(given) => match given.cast::<PyDict>() {
            Ok(dict) => dict.clone(),
            Err(_) => as_dict(given)?,
        },
    };
    let value = value::to_value(dict.as_any(), "metadata", name)?;
    value.encode().map_err(|wrong| error::raise(py, wrong))
}

/// Any mapping will do.
fn as_dict<'py>(given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if !given.hasattr("keys")? {
        return Err(wrong_type("metadata", "a dict of values", given));
    }
    Ok(given.py().get_type::<PyDict>().call1((given,))?.cast_into()?)
}

fn perform(py: Python<'_>, node: &Node, invocation: Result<Invocation, NamingError>) -> PyResult<Product> {
    let direct = Direct::new(std::sync::Arc::new(node.clone()), Scope::Local, WITHIN);
    let invocation = invocation.map_err(|wrong| error::raise(py, wrong))?;
    let (done, raised) =
        process::interruptible(py, |give_up| guarded(|| direct.perform(invocation, None, give_up)).and_then(|done| done));
    if let Some(raised) = raised {
        return Err(raised);
    }
    done.map(|(product, _)| product).map_err(|wrong| error::raise(py, wrong))
}
