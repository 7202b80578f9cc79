//! `hanaming.aio.Context`: the asyncio face of one node's local tree, and of what an HA context shares with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::client::config::seconds;
use crate::client::{BindOptions, ClientConfig, Invocation, closed};
use crate::naming::{Name, NamingError};
use crate::protocol::Scope;

use super::super::argument::Argument;
use super::super::error::{self, Rows};
use super::super::imports::Imported;
use super::super::known::Known as _;
use super::super::node::PyNode;
use super::super::operation::{self, Prepared};
use super::super::show::Shown;
use super::super::watch::Watched;
use super::super::{records, show};
use super::futures::Futures;
use super::ha_context::PyAioHAContext;
use super::session::{Options, Session};
use super::turning::Turning;
use super::waiter::{Rooted, Waiter};

/// How long a watch may hold up its loop when it begins.
const BRIEFLY: Duration = Duration::from_millis(100);

/// A context: names and what is bound to them. The asyncio twin of `hanaming.Context`.
///
/// `Context("hn://host:port")` is one node's local tree and never fails over. Every operation returns a future of the
/// running loop: it starts when it is called, and cancelling the future gives it up. Every operation takes `timeout=`, in
/// seconds, and raises a `NamingError` that says whether it ran.
#[pyclass(name = "Context", module = "hanaming.aio", subclass, frozen)]
pub struct PyAioContext {
    session: Arc<Session>,
    base: Name,
    /// The context was opened, and not found in another: the session ends with it.
    opened: bool,
    closed: AtomicBool,
}

impl PyAioContext {
    /// The root context of a session of its own.
    pub(super) fn root(session: Arc<Session>) -> Self {
        Self { opened: true, ..Self::found(session, Name::empty()) }
    }

    /// A context at `base`, over a session that others use too.
    pub(super) fn found(session: Arc<Session>, base: Name) -> Self {
        Self { session, base, opened: false, closed: AtomicBool::new(false) }
    }

    /// The context as a Python object: an `HAContext` where it asks the whole cluster.
    pub(super) fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        if self.session.is_ha() {
            let initializer = PyClassInitializer::from(self).add_subclass(PyAioHAContext);
            return Ok(Bound::new(py, initializer)?.into_any());
        }
        Ok(Bound::new(py, self)?.into_any())
    }

    /// What it shares with its subcontexts.
    pub(super) fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Its name from the root.
    pub(super) fn base(&self) -> &Name {
        &self.base
    }

    /// Whether it can't be used any longer.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) || self.session.is_closed()
    }

    /// Starts an operation. What is wrong with its arguments comes out of the future like everything else, but for what no
    /// correct program does (`TypeError`).
    pub(super) fn start<'py>(
        &self,
        py: Python<'py>,
        prepared: PyResult<Prepared>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let turning = self.session.turning(py)?;
        let future = turning.get().futures().make(py)?;
        let started = prepared.and_then(|(invocation, asking)| {
            if self.is_closed() {
                return Err(asking.raise(py, closed(&invocation)));
            }
            let timeout = duration(timeout).map_err(|wrong| asking.raise(py, wrong))?;
            let task = turning.get().futures().task(py)?.map(Bound::unbind);
            let rooted = Rooted { session: Arc::downgrade(&self.session), options: Arc::clone(self.session.options()) };
            let future = future.clone().unbind();
            Turning::submit(&turning, invocation, timeout, |began| Waiter { future, task, asking, rooted, began })
        });
        match started {
            Ok(()) => Ok(future),
            Err(error) if error.is_instance_of::<PyTypeError>(py) => Err(error),
            Err(error) => {
                Futures::fail(&future, error)?;
                Ok(future)
            }
        }
    }
}

#[pymethods]
impl PyAioContext {
    #[new]
    #[pyo3(signature = (provider, *, timeout = 5.0))]
    fn py_new(py: Python<'_>, provider: &str, timeout: f64) -> PyResult<Self> {
        let session = ClientConfig::local(provider)
            .and_then(|config| Ok(ClientConfig { timeout: seconds("timeout", timeout)?, ..config }))
            .and_then(|config| Session::new(Options::Network(config)));
        Ok(Self::root(session.map_err(|wrong| error::raise(py, wrong))?))
    }

    /// What is bound at a name: a value, a context rooted there, or what an object factory makes of a reference.
    ///
    /// Links are followed. Raises `NameNotFoundError`, `NotContextError`, `LinkLoopError`, `InvalidNameError`;
    /// `ServiceUnavailableError` where some node was silent and no other has the name.
    #[pyo3(signature = (name, *, timeout = None))]
    fn lookup<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(name.py(), operation::lookup(&self.base, name), timeout)
    }

    /// What is bound at a name, or `default` where nothing is.
    #[pyo3(signature = (name, default = None, *, timeout = None))]
    fn get<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        default: Option<Py<PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = name.py();
        self.start(py, operation::get(&self.base, name, default.unwrap_or_else(|| py.None())), timeout)
    }

    /// The same as `lookup`, but a link at the end is given as a `LinkRef` and not followed, and a reference is given
    /// as it is.
    #[pyo3(signature = (name, *, timeout = None))]
    fn lookup_link<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(name.py(), operation::lookup_link(&self.base, name), timeout)
    }

    /// What is bound at many names: a `dict` without those at which nothing is. A silent node is an error.
    #[pyo3(signature = (names, *, timeout = None))]
    fn lookup_many<'py>(&self, names: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(names.py(), operation::lookup_many(&self.base, names), timeout)
    }

    /// What is bound at a name, and how that was found out: a `Resolution`. With `all=True` every node's answer, a
    /// list; links are told and not followed then.
    #[pyo3(signature = (name, *, all = false, timeout = None))]
    fn resolve<'py>(&self, name: &Bound<'py, PyAny>, all: bool, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(name.py(), operation::resolve(&self.base, name, all), timeout)
    }

    /// Binds a name that is free. Gives a `Receipt`.
    ///
    /// Raises `NameAlreadyBoundError`; `NameNotFoundError` where a parent is missing and `create_parents` is false;
    /// `TypeError`, `ValueError` or `LimitExceededError` for what is no value.
    #[pyo3(signature = (name, value, *, create_parents = false, lease = None, timeout = None))]
    fn bind<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
        create_parents: bool,
        lease: Option<f64>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = BindOptions { replace: false, create_parents, lease: None };
        self.start(name.py(), operation::bind(&self.base, name, value, options, lease), timeout)
    }

    /// Binds a name; what is bound there, a value or an empty context, gives way. Gives a `Receipt`.
    ///
    /// Raises `ContextNotEmptyError`, and what `bind` raises but for a name that is taken.
    #[pyo3(signature = (name, value, *, create_parents = false, lease = None, timeout = None))]
    fn rebind<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
        create_parents: bool,
        lease: Option<f64>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = BindOptions { replace: true, create_parents, lease: None };
        self.start(name.py(), operation::bind(&self.base, name, value, options, lease), timeout)
    }

    /// Removes what is bound at a name, a link itself where it is one. Gives whether something went.
    ///
    /// Raises `ContextNotEmptyError`; `NameNotFoundError` where a context on the way is missing.
    #[pyo3(signature = (name, *, timeout = None))]
    fn unbind<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(name.py(), operation::unbind(&self.base, name), timeout)
    }

    /// Moves a value: nobody sees both names, and nobody neither.
    ///
    /// Raises `NameAlreadyBoundError` for the new name, `NameNotFoundError` for the old one, and
    /// `OperationNotSupportedError` for a context.
    #[pyo3(signature = (old, new, *, timeout = None))]
    fn rename<'py>(&self, old: &Bound<'py, PyAny>, new: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(old.py(), operation::rename(&self.base, old, new), timeout)
    }

    /// The names in a context, in order: a list of `NameEntry`. `tree` is `"all"`, `"cluster"` or `"local"`.
    ///
    /// Raises `NotContextError` for a value; `ServiceUnavailableError` where a node was silent, with what the others
    /// have as `.partial`.
    #[pyo3(
        signature = (name = Argument::Absent, *, tree = "all", timeout = None),
        text_signature = "($self, name='', *, tree='all', timeout=None)"
    )]
    fn list_names<'py>(
        &self,
        py: Python<'py>,
        name: Argument<'py>,
        tree: &str,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.start(py, operation::list(&self.base, &name.or_here(py), tree, Rows::Entries), timeout)
    }

    /// The names in a context, in order, with their values: a list of `Binding`. Links are not followed.
    #[pyo3(
        signature = (name = Argument::Absent, *, tree = "all", timeout = None),
        text_signature = "($self, name='', *, tree='all', timeout=None)"
    )]
    fn list_bindings<'py>(
        &self,
        py: Python<'py>,
        name: Argument<'py>,
        tree: &str,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.start(py, operation::list(&self.base, &name.or_here(py), tree, Rows::Bindings), timeout)
    }

    /// Makes an empty context and gives it. Raises what `bind` raises.
    #[pyo3(signature = (name, *, create_parents = false, timeout = None))]
    fn create_subcontext<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        create_parents: bool,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.start(name.py(), operation::create_subcontext(&self.base, name, create_parents), timeout)
    }

    /// Removes an empty context. Gives whether something went.
    ///
    /// Raises `NotContextError` for a value, `ContextNotEmptyError`, and `NameNotFoundError` where a context on the way
    /// is missing.
    #[pyo3(signature = (name, *, timeout = None))]
    fn destroy_subcontext<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(name.py(), operation::destroy_subcontext(&self.base, name), timeout)
    }

    /// What `lookup` gives, as soon as the name can be looked up. Raises `TimeLimitExceededError` after `timeout`
    /// seconds.
    #[pyo3(signature = (name, *, timeout))]
    fn wait_for<'py>(&self, name: &Bound<'py, PyAny>, timeout: f64) -> PyResult<Bound<'py, PyAny>> {
        self.start(name.py(), operation::wait_for(&self.base, name), Some(timeout))
    }

    /// What is dubious beneath a name: a `CheckReport`, falsy where nothing is.
    #[pyo3(
        signature = (name = Argument::Absent, *, timeout = None),
        text_signature = "($self, name='', *, timeout=None)"
    )]
    fn check<'py>(&self, py: Python<'py>, name: Argument<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(py, operation::check(&self.base, &name.or_here(py)), timeout)
    }

    /// What the node that is asked says of itself: a `NodeStatus`.
    #[pyo3(signature = (*, timeout = None))]
    fn status<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(py, operation::status(py, &self.base), timeout)
    }

    /// Bids the node that is asked leave the cluster: it refuses what is new and finishes what runs. Done as soon as
    /// it has begun. The request goes to one node and never to another.
    #[pyo3(signature = (*, timeout = None))]
    fn quiesce<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.start(py, operation::quiesce(py, &self.base), timeout)
    }

    /// The attempts of the last finished call of this task, on this event loop, through this context or one that it
    /// shares its connections with. Only targets that were tried. Not awaited.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let attempts = match self.session.turning_if_any(py)? {
            Some(turning) => Turning::attempts(&turning)?,
            None => Vec::new(),
        };
        records::attempts(py, &attempts)
    }

    /// Closes the context. A subcontext closes itself alone; the context that was opened closes its subcontexts too.
    /// Calls under way end with `ContextClosedError`.
    fn aclose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let done = self.session.turning(py)?.get().futures().make(py)?;
        self.closed.store(true, Ordering::Release);
        if self.opened {
            self.session.close(py)?;
        }
        done.call_method1(intern!(py, "set_result"), (py.None(),))?;
        Ok(done)
    }

    /// The same as `aclose`.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.aclose(py)
    }

    /// Watches a name: a `Watch`, which yields an `Event` for each change. Not awaited: it holds up the loop for the moment
    /// in which a server tells its state, 100 ms at most, so that what is written afterwards is told. The first event raises
    /// `ServiceUnavailableError` where no server can be asked from the beginning; later it goes on asking.
    ///
    /// `scope` is `"object"` (the name alone), `"one_level"` (the names directly beneath it) or `"subtree"` (both, and all
    /// that is deeper). With `initial` what is bound now comes first. An HA context watches the cluster tree, through other
    /// nodes where one fails; a local context watches its node's tree. Links are not followed.
    #[pyo3(
        signature = (name = Argument::Absent, *, scope = "subtree", initial = true),
        text_signature = "($self, name='', *, scope='subtree', initial=True)"
    )]
    fn watch<'py>(&self, py: Python<'py>, name: Argument<'py>, scope: &str, initial: bool) -> PyResult<Bound<'py, PyAny>> {
        static WATCH: Imported = Imported::new("hanaming.aio._watch", "Watch");
        let aim = Watched::read(&self.base, &name.or_here(py), scope, self.session.is_ha())?;
        if self.is_closed() {
            return Err(error::raise(py, closed(&Invocation::status())));
        }
        let home = Rooted { session: Arc::downgrade(&self.session), options: Arc::clone(self.session.options()) };
        let watches = self.session.watches();
        let watch = aim.begin(py, Box::new(home), BRIEFLY, |name, scope| watches.begin(name, scope, initial))?;
        WATCH.get(py)?.call1((watch,))
    }

    fn __aenter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if slf.get().is_closed() {
            // As any operation that is of no name.
            return Err(error::raise(py, closed(&Invocation::status())));
        }
        let entered = slf.get().session.turning(py)?.get().futures().make(py)?;
        entered.call_method1(intern!(py, "set_result"), (slf,))?;
        Ok(entered)
    }

    #[pyo3(signature = (kind, error, traceback))]
    #[expect(unused_variables, reason = "the protocol's parameters")]
    fn __aexit__<'py>(
        &self,
        py: Python<'py>,
        kind: &Bound<'py, PyAny>,
        error: &Bound<'py, PyAny>,
        traceback: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.aclose(py)
    }

    fn __aiter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static EACH: Imported = Imported::new("hanaming.aio._names", "each");
        EACH.get(py)?.call1((self.start(py, operation::names(py, &self.base), None)?,))
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(show::repr(&shown(slf)?))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        show::html(slf.py(), &shown(slf)?)
    }
}

fn shown<'a>(context: &'a Bound<'_, PyAioContext>) -> PyResult<Shown<'a>> {
    let class = context.get_type().name()?.to_string();
    let context = context.get();
    Ok(Shown { class: format!("aio.{class}"), base: &context.base, closed: context.is_closed(), known: &*context.session })
}

/// The context of a node in this process: of its local tree, or of the whole cluster through it.
#[pyfunction]
#[pyo3(signature = (node, *, local))]
pub fn aio_context_of<'py>(py: Python<'py>, node: &PyNode, local: bool) -> PyResult<Bound<'py, PyAny>> {
    let scope = if local { Scope::Local } else { Scope::Cluster };
    let timeout = ClientConfig::new(Vec::new()).timeout;
    let session = Session::new(Options::Process { node: node.usable(py)?.clone(), scope, timeout });
    PyAioContext::root(session.map_err(|wrong| error::raise(py, wrong))?).into_object(py)
}

/// Panics where any event of this loop's could, so that a test sees what becomes of it.
#[pyfunction]
pub fn _panic_on_loop(context: &Bound<'_, PyAioContext>) -> PyResult<()> {
    Turning::panic(&context.get().session.turning(context.py())?)
}

fn duration(timeout: Option<f64>) -> Result<Option<Duration>, NamingError> {
    timeout.map(|given| seconds("timeout", given)).transpose()
}
