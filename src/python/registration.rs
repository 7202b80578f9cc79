//! `hanaming.Registration`: one instance of a service, in its node's local tree, or in the cluster tree with a lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::client::direct::Direct;
use crate::client::{BindOptions, Driver, Invocation, Product, Subject};
use crate::naming::{Content, ErrorKind, InstanceDetail, Lookup, Name, NamingError, Version};
use crate::protocol::Scope;
use crate::server::Node;

use super::argument::wrong_type;
use super::asked::{self, Asked};
use super::error::{entered, guarded};
use super::imports::Imported;
use super::{error, name, process, value};

/// The time that the in-process bind and unbind have; they wait for nobody.
const WITHIN: Duration = Duration::from_secs(5);

/// Where an instance is registered.
pub trait Registrar: Send + Sync {
    /// Takes the instance back, if it is still what was registered.
    fn take_back(&self, py: Python<'_>, name: &Name) -> PyResult<()>;
    /// Where that is, for people.
    fn place(&self) -> String;
}

/// An instance of a service, offered until it is closed: a context manager.
#[pyclass(name = "Registration", module = "hanaming", frozen)]
pub struct PyRegistration {
    registrar: Box<dyn Registrar>,
    name: Name,
    closed: AtomicBool,
}

impl PyRegistration {
    /// What was registered at this name, from the root.
    pub fn new(registrar: Box<dyn Registrar>, name: Name) -> Self {
        Self { registrar, name, closed: AtomicBool::new(false) }
    }
}

#[pymethods]
impl PyRegistration {
    /// The name that is bound, from the root.
    #[getter]
    fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Takes the instance back, if it is still what is bound there. Doing so again does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        entered(|| if self.closed.swap(true, Ordering::AcqRel) { Ok(()) } else { self.registrar.take_back(py, &self.name) })
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
        format!("<Registration '{}' {}, {state}>", self.name, self.registrar.place())
    }
}

/// A node's local tree.
struct LocalTree {
    node: Node,
    version: Option<Version>,
}

impl Registrar for LocalTree {
    fn take_back(&self, py: Python<'_>, name: &Name) -> PyResult<()> {
        if self.node.is_closed() || !self.stands(name) {
            return Ok(());
        }
        match perform(py, &self.node, name, Invocation::unbind(Subject::from(name.clone()))) {
            // It goes with its node, which is about to leave.
            Err(_) if self.node.is_leaving() => Ok(()),
            taken => taken.map(drop),
        }
    }

    fn place(&self) -> String {
        format!("on {}", self.node.name())
    }
}

impl LocalTree {
    /// Whether what is bound is what was registered: who replaced it since keeps it.
    fn stands(&self, name: &Name) -> bool {
        match self.node.local_tree().lookup(name.as_str()) {
            Lookup::Found(entry) => self.version.is_none_or(|version| version == entry.version),
            // The contexts on the way were replaced by links: the unbind follows them.
            Lookup::Link(_) => true,
            _ => false,
        }
    }
}

/// What is said of an instance beside its value.
pub struct Offer<'a, 'py> {
    pub value: &'a Bound<'py, PyAny>,
    pub weight: f64,
    pub metadata: Option<&'a Bound<'py, PyAny>>,
}

/// The name of a service, which is not the root.
pub fn service_name(service: &Bound<'_, PyAny>) -> PyResult<Name> {
    let name = name::extract(service, "name")?;
    if name.is_empty() {
        let message = "a service needs a name: the empty one is the root itself";
        return Err(error::raise(service.py(), NamingError::new(ErrorKind::InvalidName, message).with_name("")));
    }
    Ok(name)
}

/// A name for this process that no other has, and that tells where it is.
pub fn instance_name(py: Python<'_>) -> PyResult<String> {
    static HOSTNAME: Imported = Imported::new("socket", "gethostname");
    let host: String = HOSTNAME.get(py)?.call0()?.extract()?;
    Ok(format!("{host}-{}-{:06x}", std::process::id(), rand::random::<u32>() & 0xFF_FFFF))
}

impl Offer<'_, '_> {
    /// What is bound at the instance's `name`.
    pub fn content(&self, name: &Name) -> PyResult<Content> {
        let py = self.value.py();
        let weight = self.weight;
        if !(weight.is_finite() && weight > 0.0) {
            let message = format!("weight={weight} is no share; give a positive, finite number");
            return Err(error::raise(py, NamingError::new(ErrorKind::Configuration, message)));
        }
        let mut content =
            value::to_content(self.value, name.as_str())?.map_err(|wrong| error::raise(py, wrong.with_name(name.as_str())))?;
        content.instance = Some(Box::new(InstanceDetail { weight, metadata: encoded(py, self.metadata, name.as_str())? }));
        Ok(content)
    }
}

/// How an instance is bound, with this lease in milliseconds.
pub fn options(lease: Option<u32>) -> BindOptions {
    BindOptions { replace: false, create_parents: true, lease }
}

/// Binds `<name>/<node's name>` in the node's local tree.
pub fn register(node: &Node, service: &Bound<'_, PyAny>, offer: &Offer<'_, '_>) -> PyResult<PyRegistration> {
    let name = service_name(service)?.child(node.name());
    let content = offer.content(&name)?;
    let bind = Invocation::bind(Subject::from(name.clone()), content, options(None));
    let version = match perform(service.py(), node, &name, bind)? {
        Product::Written(written) => written.version,
        _ => None,
    };
    Ok(PyRegistration::new(Box::new(LocalTree { node: node.clone(), version }), name))
}

/// The canonical bytes of the metadata, which is a `dict`.
fn encoded(py: Python<'_>, metadata: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<bytes::Bytes> {
    let dict = match metadata {
        None => PyDict::new(py),
        Some(given) => match given.cast_exact::<PyDict>() {
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

fn perform(py: Python<'_>, node: &Node, given: &Name, invocation: Result<Invocation, NamingError>) -> PyResult<Product> {
    let direct = Direct::new(Arc::new(node.clone()), Scope::Local, WITHIN);
    let invocation = invocation.map_err(|wrong| error::raise(py, wrong))?;
    let (done, raised) =
        process::interruptible(py, |give_up| guarded(|| direct.perform(invocation, None, give_up)).and_then(|done| done));
    if let Some(raised) = raised {
        return Err(raised);
    }
    done.map(|(product, _)| product).map_err(|wrong| asked::raise(py, wrong, Asked { given, listing: None }))
}
