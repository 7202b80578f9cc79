//! `hanaming.Context`: the synchronous face of one node's local tree, and of what an HA context shares with it.
//!
//! Here is how an operation is carried out; which ones there are stands in [`methods`].

mod methods;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

use crate::client::{Product, closed};
use crate::naming::Name;

use super::hot::{self, Hot};
use super::known::Known as _;
use super::operation::{self, Prepared};
use super::parameter::Timeout;
use super::process;
use super::product::Home;
use super::registration::Registrar;
use super::running_loop;
use super::session::{Failure, Reach, Session};

/// A context: names and what is bound to them.
///
/// `Context("hn://host:port")` is one node's local tree and never fails over; `Node.local` is the same in process. Every
/// operation takes `timeout=`, in seconds, and raises a `NamingError` that says whether it ran.
#[pyclass(name = "Context", module = "hanaming", subclass, frozen, weakref)]
pub struct PyContext {
    session: Arc<Session>,
    base: Name,
    /// The context was opened, and not found in another: the session ends with it.
    opened: bool,
    closed: AtomicBool,
    hot: Option<Hot>,
}

/// The unified view of a cluster. It fails over by completion status: what did not run goes to another server at once,
/// what ran is never repeated.
///
/// Nothing is dialled before the first operation. Without a provider: the environment's `HANAMING_PROVIDER`, else
/// loopback. `timeout` covers all attempts of an operation, `attempt_timeout` one of a read, both in seconds. With `cache`
/// what lookups were answered is kept as long as it is known to be true.
#[pyclass(name = "HAContext", module = "hanaming", extends = PyContext, subclass, frozen)]
pub struct PyHAContext;

impl PyContext {
    /// The root context of a session of its own.
    pub fn root(py: Python<'_>, session: Arc<Session>) -> Self {
        Self { opened: true, ..Self::found(py, session, Name::empty()) }
    }

    /// A context at `base`, over a session that others use too.
    fn found(py: Python<'_>, session: Arc<Session>, base: Name) -> Self {
        let hot = session.keeps().then(|| Hot::new(py));
        Self { session, base, opened: false, closed: AtomicBool::new(false), hot }
    }

    /// The context as a Python object: an `HAContext` where it asks the whole cluster.
    pub fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        if self.session.is_ha() {
            let initializer = PyClassInitializer::from(self).add_subclass(PyHAContext);
            return Ok(Bound::new(py, initializer)?.into_any());
        }
        Ok(Bound::new(py, self)?.into_any())
    }

    /// What it shares with its subcontexts.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Its name from the root.
    pub fn base(&self) -> &Name {
        &self.base
    }

    /// Whether it can't be used any longer.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) || self.session.is_closed()
    }

    /// Carries out an operation.
    pub fn run<'py>(&self, py: Python<'py>, prepared: Prepared, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        self.run_and(py, prepared, timeout, |_, _| Ok(()))
    }

    /// Carries out an operation, and shows `see` what came of it before the caller is given the object.
    fn run_and<'py>(
        &self,
        py: Python<'py>,
        (invocation, asking): Prepared,
        timeout: Option<Timeout>,
        see: impl FnOnce(&Product, &Bound<'py, PyAny>) -> PyResult<()>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.is_closed() {
            return Err(asking.raise(py, closed(&invocation)));
        }
        let timeout = operation::duration(timeout).map_err(|wrong| asking.raise(py, wrong))?;
        if matches!(self.session.reach(), Reach::Network(_)) {
            running_loop::warn_once(py)?;
        }
        let (outcome, took) = self.session.perform(py, invocation, timeout);
        match outcome {
            Ok(product) => {
                let object = asking.finish(py, &Rooted(&self.session), &product, took, &|| self.session.explain())?;
                see(&product, &object)?;
                Ok(object)
            }
            Err(Failure::Naming(error)) => Err(asking.raise(py, error)),
            Err(Failure::Raised(error)) => Err(error),
        }
    }
}

impl PyContext {
    /// Carries out a lookup, unless what it would give is still at hand.
    #[inline]
    fn look_up<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        timeout: Option<Timeout>,
        prepare: impl FnOnce() -> PyResult<Prepared>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(hot) = &self.hot else { return self.run(name.py(), prepare()?, timeout) };
        if timeout.is_none()
            && !self.is_closed()
            && let Some(object) = hot.get(&self.session, name)?
        {
            return Ok(object);
        }
        let generation = self.session.generation();
        self.run_and(name.py(), prepare()?, timeout, |product, object| match (product, generation) {
            (Product::Found(located), Some(generation)) if hot::may_be_kept(&self.session, located, object) => {
                hot.put(generation, name, object)
            }
            _ => Ok(()),
        })
    }
}

/// Makes contexts over a session.
struct Rooted<'a>(&'a Arc<Session>);

impl Home for Rooted<'_> {
    fn subcontext<'py>(&self, py: Python<'py>, at: Name) -> PyResult<Bound<'py, PyAny>> {
        PyContext::found(py, Arc::clone(self.0), at).into_object(py)
    }

    fn registrar(&self, _py: Python<'_>) -> PyResult<Box<dyn Registrar>> {
        Ok(Box::new(Owned(Arc::clone(self.0))))
    }
}

/// The same, for what outlives a call.
struct Owned(Arc<Session>);

impl Home for Owned {
    fn subcontext<'py>(&self, py: Python<'py>, at: Name) -> PyResult<Bound<'py, PyAny>> {
        Rooted(&self.0).subcontext(py, at)
    }

    fn registrar(&self, py: Python<'_>) -> PyResult<Box<dyn Registrar>> {
        Rooted(&self.0).registrar(py)
    }
}

/// What was registered through a context has a lease of it, which is given back.
impl Registrar for Owned {
    fn take_back(&self, py: Python<'_>, name: &Name) -> PyResult<()> {
        let releasing = self.0.give_back(name);
        process::without_interpreter(py, || releasing.wait());
        Ok(())
    }

    fn place(&self) -> String {
        "in the cluster tree".to_owned()
    }
}
