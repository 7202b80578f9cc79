//! `hanaming.aio.Context`: the asyncio face of one node's local tree, and of what an HA context shares with it.
//!
//! Here is how an operation is started; which ones there are stands in [`methods`].

mod methods;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::client::{ClientConfig, closed};
use crate::naming::Name;
use crate::protocol::Scope;

use super::super::error::{self, entered};
use super::super::known::Known as _;
use super::super::node::PyNode;
use super::super::operation::{self, Prepared};
use super::super::parameter::Timeout;
use super::super::process;
use super::super::product::Home;
use super::super::registration::Registrar;
use super::futures::Futures;
use super::session::{Options, Session};
use super::turning::Turning;
use super::waiter::Waiter;

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
    home: Arc<Rooted>,
}

/// The unified view of a cluster. It fails over by completion status: what did not run goes to another server at once,
/// what ran is never repeated. The asyncio twin of `hanaming.HAContext`.
///
/// Nothing is dialled before the first operation. Without a provider: the environment's `HANAMING_PROVIDER`, else
/// loopback. `timeout` covers all attempts of an operation, `attempt_timeout` one of a read, both in seconds. With `cache`
/// what lookups were answered is kept as long as it is known to be true.
#[pyclass(name = "HAContext", module = "hanaming.aio", extends = PyAioContext, subclass, frozen)]
pub struct PyAioHAContext;

impl PyAioContext {
    /// The root context of a session of its own.
    pub(super) fn root(session: Arc<Session>) -> Self {
        Self { opened: true, ..Self::found(session, Name::empty()) }
    }

    /// A context at `base`, over a session that others use too.
    pub(super) fn found(session: Arc<Session>, base: Name) -> Self {
        let home = Arc::new(Rooted { session: Arc::downgrade(&session), options: Arc::clone(session.options()) });
        Self { session, base, opened: false, closed: AtomicBool::new(false), home }
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
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let turning = self.session.turning(py)?;
        let future = turning.get().futures().make(py)?;
        let started = prepared.and_then(|(invocation, asking)| {
            if self.is_closed() {
                return Err(asking.raise(py, closed(&invocation)));
            }
            let timeout = operation::duration(timeout).map_err(|wrong| asking.raise(py, wrong))?;
            let task = turning.get().futures().task(py)?.map(Bound::unbind);
            let home = Arc::clone(&self.home);
            let future = future.clone().unbind();
            Turning::submit(&turning, invocation, timeout, |began| Waiter { future, task, asking, home, began })
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

/// Makes contexts over a session. The session isn't kept by this: a call that is under way doesn't keep a context that
/// nobody holds from being closed after it.
struct Rooted {
    session: Weak<Session>,
    options: Arc<Options>,
}

impl Home for Rooted {
    fn subcontext<'py>(&self, py: Python<'py>, at: Name) -> PyResult<Bound<'py, PyAny>> {
        let session = match self.session.upgrade() {
            Some(session) => session,
            None => Session::again(py, &self.options)?,
        };
        PyAioContext::found(session, at).into_object(py)
    }

    fn registrar(&self, _py: Python<'_>) -> PyResult<Box<dyn Registrar>> {
        Ok(Box::new(Holder(Weak::clone(&self.session))))
    }
}

/// Holds the lease of what was registered, unless it is gone: then so is the lease.
struct Holder(Weak<Session>);

impl Registrar for Holder {
    fn take_back(&self, py: Python<'_>, name: &Name) -> PyResult<()> {
        if let Some(session) = self.0.upgrade() {
            let releasing = session.give_back(name);
            process::without_interpreter(py, || releasing.wait());
        }
        Ok(())
    }

    fn place(&self) -> String {
        "in the cluster tree".to_owned()
    }
}

/// The context of a node in this process: of its local tree, or of the whole cluster through it.
#[pyfunction]
#[pyo3(signature = (node, *, local))]
pub fn aio_context_of<'py>(py: Python<'py>, node: &PyNode, local: bool) -> PyResult<Bound<'py, PyAny>> {
    entered(|| {
        let scope = if local { Scope::Local } else { Scope::Cluster };
        let timeout = ClientConfig::DEFAULT_TIMEOUT;
        let session = Session::new(Options::Process { node: node.usable(py)?.clone(), scope, timeout });
        PyAioContext::root(session.map_err(|wrong| error::raise(py, wrong))?).into_object(py)
    })
}

/// Panics where any event of this loop's could, so that a test sees what becomes of it.
#[pyfunction]
pub fn _panic_on_loop(context: &Bound<'_, PyAioContext>) -> PyResult<()> {
    Turning::panic(&context.get().session.turning(context.py())?)
}
