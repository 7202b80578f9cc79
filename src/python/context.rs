//! `hanaming.Context`: the synchronous face of one node's local tree, and of what an HA context shares with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyIterator};

use crate::client::config::seconds;
use crate::client::{BindOptions, ClientConfig, Invocation, Product, closed};
use crate::naming::{Name, NamingError};

use super::argument::Argument;
use super::error::{self, Rows};
use super::ha_context::PyHAContext;
use super::hot::{self, Hot};
use super::known::Known as _;
use super::operation::{self, Prepared};
use super::product::Home;
use super::session::{Failure, Reach, Session};
use super::show::Shown;
use super::watch::{PyWatch, Watched};
use super::{records, running_loop, show};

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

impl PyContext {
    /// The root context of a session of its own.
    pub fn root(py: Python<'_>, session: Arc<Session>) -> Self {
        Self { opened: true, ..Self::found(py, session, Name::empty()) }
    }

    /// A context at `base`, over a session that others use too.
    fn found(py: Python<'_>, session: Arc<Session>, base: Name) -> Self {
        let hot = matches!(session.reach(), Reach::Process(_)).then(|| Hot::new(py));
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
    pub fn run<'py>(&self, py: Python<'py>, prepared: Prepared, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run_and(py, prepared, timeout, |_, _| Ok(()))
    }

    /// Carries out an operation, and shows `see` what came of it before the caller is given the object.
    fn run_and<'py>(
        &self,
        py: Python<'py>,
        (invocation, asking): Prepared,
        timeout: Option<f64>,
        see: impl FnOnce(&Product, &Bound<'py, PyAny>) -> PyResult<()>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.is_closed() {
            return Err(asking.raise(py, closed(&invocation)));
        }
        let timeout = duration(timeout).map_err(|wrong| asking.raise(py, wrong))?;
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
        timeout: Option<f64>,
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
            (Product::Found(located), Some(generation)) if located.at.is_none() && hot::may_be_kept(&located.found, object) => {
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
}

/// The same, for what outlives a call.
struct Owned(Arc<Session>);

impl Home for Owned {
    fn subcontext<'py>(&self, py: Python<'py>, at: Name) -> PyResult<Bound<'py, PyAny>> {
        Rooted(&self.0).subcontext(py, at)
    }
}

#[pymethods]
impl PyContext {
    #[new]
    #[pyo3(signature = (provider, *, timeout = 5.0))]
    fn py_new(py: Python<'_>, provider: &str, timeout: f64) -> PyResult<Self> {
        let session = ClientConfig::local(provider)
            .and_then(|config| Ok(ClientConfig { timeout: seconds("timeout", timeout)?, ..config }))
            .and_then(Session::over_network);
        Ok(Self::root(py, session.map_err(|wrong| error::raise(py, wrong))?))
    }

    /// What is bound at a name: a value, a context rooted there, or what an object factory makes of a reference.
    ///
    /// Links are followed. Raises `NameNotFoundError`, `NotContextError`, `LinkLoopError`, `InvalidNameError`;
    /// `ServiceUnavailableError` where some node was silent and no other has the name.
    #[pyo3(signature = (name, *, timeout = None))]
    fn lookup<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.look_up(name, timeout, || operation::lookup(&self.base, name))
    }

    /// What is bound at a name, or `default` where nothing is.
    #[pyo3(signature = (name, default = None, *, timeout = None))]
    fn get<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        default: Option<Py<PyAny>>,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let default = default.unwrap_or_else(|| name.py().None());
        self.look_up(name, timeout, || operation::get(&self.base, name, default))
    }

    /// The same as `lookup`, but a link at the end is given as a `LinkRef` and not followed, and a reference is given
    /// as it is.
    #[pyo3(signature = (name, *, timeout = None))]
    fn lookup_link<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run(name.py(), operation::lookup_link(&self.base, name)?, timeout)
    }

    /// What is bound at many names: a `dict` without those at which nothing is. A silent node is an error.
    #[pyo3(signature = (names, *, timeout = None))]
    fn lookup_many<'py>(&self, names: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run(names.py(), operation::lookup_many(&self.base, names)?, timeout)
    }

    /// What is bound at a name, and how that was found out: a `Resolution`. With `all=True` every node's answer, a
    /// list; links are told and not followed then.
    #[pyo3(signature = (name, *, all = false, timeout = None))]
    fn resolve<'py>(&self, name: &Bound<'py, PyAny>, all: bool, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run(name.py(), operation::resolve(&self.base, name, all)?, timeout)
    }

    /// Binds a name that is free. Returns a `Receipt`.
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
        self.run(name.py(), operation::bind(&self.base, name, value, options, lease)?, timeout)
    }

    /// Binds a name; what is bound there, a value or an empty context, gives way. Returns a `Receipt`.
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
        self.run(name.py(), operation::bind(&self.base, name, value, options, lease)?, timeout)
    }

    /// Removes what is bound at a name, a link itself where it is one. Returns whether something went.
    ///
    /// Raises `ContextNotEmptyError`; `NameNotFoundError` where a context on the way is missing.
    #[pyo3(signature = (name, *, timeout = None))]
    fn unbind<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run(name.py(), operation::unbind(&self.base, name)?, timeout)
    }

    /// Moves a value: nobody sees both names, and nobody neither.
    ///
    /// Raises `NameAlreadyBoundError` for the new name, `NameNotFoundError` for the old one, and
    /// `OperationNotSupportedError` for a context.
    #[pyo3(signature = (old, new, *, timeout = None))]
    fn rename<'py>(&self, old: &Bound<'py, PyAny>, new: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run(old.py(), operation::rename(&self.base, old, new)?, timeout)
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
        self.run(py, operation::list(&self.base, &name.or_here(py), tree, Rows::Entries)?, timeout)
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
        self.run(py, operation::list(&self.base, &name.or_here(py), tree, Rows::Bindings)?, timeout)
    }

    /// Makes an empty context and returns it. Raises what `bind` raises.
    #[pyo3(signature = (name, *, create_parents = false, timeout = None))]
    fn create_subcontext<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        create_parents: bool,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.run(name.py(), operation::create_subcontext(&self.base, name, create_parents)?, timeout)
    }

    /// Removes an empty context. Returns whether something went.
    ///
    /// Raises `NotContextError` for a value, `ContextNotEmptyError`, and `NameNotFoundError` where a context on the way
    /// is missing.
    #[pyo3(signature = (name, *, timeout = None))]
    fn destroy_subcontext<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run(name.py(), operation::destroy_subcontext(&self.base, name)?, timeout)
    }

    /// What `lookup` gives, as soon as the name can be looked up. Raises `TimeLimitExceededError` after `timeout`
    /// seconds.
    #[pyo3(signature = (name, *, timeout))]
    fn wait_for<'py>(&self, name: &Bound<'py, PyAny>, timeout: f64) -> PyResult<Bound<'py, PyAny>> {
        self.run(name.py(), operation::wait_for(&self.base, name)?, Some(timeout))
    }

    /// What is dubious beneath a name: a `CheckReport`, falsy where nothing is.
    #[pyo3(
        signature = (name = Argument::Absent, *, timeout = None),
        text_signature = "($self, name='', *, timeout=None)"
    )]
    fn check<'py>(&self, py: Python<'py>, name: Argument<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run(py, operation::check(&self.base, &name.or_here(py))?, timeout)
    }

    /// What the node that is asked says of itself: a `NodeStatus`.
    #[pyo3(signature = (*, timeout = None))]
    fn status<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run(py, operation::status(py, &self.base)?, timeout)
    }

    /// Bids the node that is asked leave the cluster: it refuses what is new and finishes what runs. Returns as soon as
    /// it has begun. The request goes to one node and never to another.
    #[pyo3(signature = (*, timeout = None))]
    fn quiesce<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        self.run(py, operation::quiesce(py, &self.base)?, timeout)
    }

    /// The attempts of the last finished call of this thread, through this context or one that it shares its
    /// connections with. Only targets that were tried.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        records::attempts(py, &self.session.explain())
    }

    /// Closes the context. A subcontext closes itself alone; the context that was opened closes its subcontexts too.
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        if self.opened {
            self.session.close();
        }
    }

    /// Watches a name: a `Watch`, which yields an `Event` for each change. Raises `ServiceUnavailableError` where no server
    /// can be asked from the beginning; later it goes on asking.
    ///
    /// `scope` is `"object"` (the name alone), `"one_level"` (the names directly beneath it) or `"subtree"` (both, and all
    /// that is deeper). With `initial` what is bound now comes first. An HA context watches the cluster tree, through other
    /// nodes where one fails; a local context watches its node's tree. Links are not followed.
    #[pyo3(
        signature = (name = Argument::Absent, *, scope = "subtree", initial = true),
        text_signature = "($self, name='', *, scope='subtree', initial=True)"
    )]
    fn watch<'py>(&self, py: Python<'py>, name: Argument<'py>, scope: &str, initial: bool) -> PyResult<PyWatch> {
        let aim = Watched::read(&self.base, &name.or_here(py), scope, self.session.is_ha())?;
        if self.is_closed() {
            return Err(error::raise(py, closed(&Invocation::status())));
        }
        let home = Box::new(Owned(Arc::clone(&self.session)));
        aim.begin(py, home, Duration::MAX, |name, scope| self.session.watch(name, scope, initial))
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        // As any operation that is of no name.
        if slf.get().is_closed() { Err(error::raise(slf.py(), closed(&Invocation::status()))) } else { Ok(slf) }
    }

    #[pyo3(signature = (kind, error, traceback))]
    #[expect(unused_variables, reason = "the protocol's parameters")]
    fn __exit__(&self, kind: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>, traceback: &Bound<'_, PyAny>) {
        self.close();
    }

    /// However many names it holds.
    #[expect(clippy::unused_self, reason = "the protocol's receiver")]
    fn __bool__(&self) -> bool {
        true
    }

    fn __getitem__<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.lookup(name, None)
    }

    #[expect(unused_variables, clippy::unused_self, reason = "the protocol's parameters")]
    fn __setitem__(&self, name: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err("a context is not written to by ctx[name] = value; use bind() or rebind()"))
    }

    fn __delitem__(&self, name: &Bound<'_, PyAny>) -> PyResult<()> {
        self.run(name.py(), operation::delete(&self.base, name)?, None).map(drop)
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        let present = self.run(name.py(), operation::contains(&self.base, name)?, None)?;
        Ok(present.cast::<PyBool>()?.is_true())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.run(py, operation::names(py, &self.base)?, None)?.try_iter()
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(show::repr(&shown(slf)?))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        show::html(slf.py(), &shown(slf)?)
    }
}

fn shown<'a>(context: &'a Bound<'_, PyContext>) -> PyResult<Shown<'a>> {
    let class = context.get_type().name()?.to_string();
    let context = context.get();
    Ok(Shown { class, base: &context.base, closed: context.is_closed(), known: &*context.session })
}

fn duration(timeout: Option<f64>) -> Result<Option<Duration>, NamingError> {
    timeout.map(|given| seconds("timeout", given)).transpose()
}
