//! The operations of `hanaming.aio.Context`, as Python calls them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pyo3::intern;
use pyo3::prelude::*;

use crate::client::config::seconds;
use crate::client::{BindOptions, ClientConfig, closed_context};

use super::super::super::argument::Argument;
use super::super::super::asked::Rows;
use super::super::super::attempts;
use super::super::super::error::{self, entered};
use super::super::super::imports::Imported;
use super::super::super::known::Known as _;
use super::super::super::parameter::{
    All, CreateParents, Initial, Lease, NodeToForget, OperationId, Provider, Scope, Time, Timeout, Tree, flag, number,
    some_number, text,
};
use super::super::super::show::Shown;
use super::super::super::watch::Watched;
use super::super::super::{operation, show};
use super::super::closing;
use super::super::session::{Options, Session};
use super::super::turning::Turning;
use super::PyAioContext;

/// How long a watch may hold up its loop when it begins.
const BRIEFLY: Duration = Duration::from_millis(100);

#[pymethods]
impl PyAioContext {
    #[new]
    #[pyo3(signature = (provider, *, timeout = 5.0))]
    fn py_new(
        py: Python<'_>,
        #[pyo3(from_py_with = text::<Provider>)] provider: &str,
        #[pyo3(from_py_with = number::<Time>)] timeout: f64,
    ) -> PyResult<Self> {
        entered(|| {
            let session = ClientConfig::local(provider)
                .and_then(|config| Ok(ClientConfig { timeout: seconds("timeout", timeout)?, ..config }))
                .and_then(|config| Session::new(Options::Network(config)));
            Ok(Self::root(session.map_err(|wrong| error::raise(py, wrong))?))
        })
    }

    /// What is bound at a name: a value, a context rooted there, or what an object factory makes of a reference.
    ///
    /// Links are followed. Raises `NameNotFoundError`, `NotContextError`, `LinkLoopError`, `InvalidNameError`;
    /// `ServiceUnavailableError` where some node was silent and no other has the name.
    #[pyo3(signature = (name, *, timeout = None))]
    fn lookup<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(name.py(), operation::lookup(&self.base, name), timeout))
    }

    /// What is bound at a name, or `default` where nothing is.
    #[pyo3(signature = (name, default = None, *, timeout = None))]
    fn get<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        default: Option<Py<PyAny>>,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let py = name.py();
            self.start(py, operation::get(&self.base, name, default.unwrap_or_else(|| py.None())), timeout)
        })
    }

    /// The same as `lookup`, but a link at the end is given as a `LinkRef` and not followed, and a reference is given
    /// as it is.
    #[pyo3(signature = (name, *, timeout = None))]
    fn lookup_link<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(name.py(), operation::lookup_link(&self.base, name), timeout))
    }

    /// What is bound at many names: a `dict` without those at which nothing is. A silent node is an error. Up to 1,024 names
    /// are answered from one moment of each tree that one node has.
    #[pyo3(signature = (names, *, timeout = None))]
    fn lookup_many<'py>(&self, names: &Bound<'py, PyAny>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(names.py(), operation::lookup_many(&self.base, names), timeout))
    }

    /// What is bound at a name, and how that was found out: a `Resolution`. With `all=True` every node's answer, a
    /// list; links are told and not followed then.
    #[pyo3(signature = (name, *, all = false, timeout = None))]
    fn resolve<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = flag::<All>)] all: bool,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(name.py(), operation::resolve(&self.base, name, all), timeout))
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
        #[pyo3(from_py_with = flag::<CreateParents>)] create_parents: bool,
        #[pyo3(from_py_with = some_number::<Lease>)] lease: Option<f64>,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let options = BindOptions { replace: false, create_parents, lease: None };
            self.start(name.py(), operation::bind(&self.base, name, value, options, lease), timeout)
        })
    }

    /// Binds a name; what is bound there, a value or an empty context, gives way. Gives a `Receipt`.
    ///
    /// Raises `ContextNotEmptyError`, and what `bind` raises but for a name that is taken.
    #[pyo3(signature = (name, value, *, create_parents = false, lease = None, timeout = None))]
    fn rebind<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = flag::<CreateParents>)] create_parents: bool,
        #[pyo3(from_py_with = some_number::<Lease>)] lease: Option<f64>,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let options = BindOptions { replace: true, create_parents, lease: None };
            self.start(name.py(), operation::bind(&self.base, name, value, options, lease), timeout)
        })
    }

    /// Removes what is bound at a name, a link itself where it is one. Gives whether something went.
    ///
    /// Raises `ContextNotEmptyError`; `NameNotFoundError` where a context on the way is missing.
    #[pyo3(signature = (name, *, timeout = None))]
    fn unbind<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(name.py(), operation::unbind(&self.base, name), timeout))
    }

    /// Moves a value: nobody sees both names, and nobody neither.
    ///
    /// Raises `NameAlreadyBoundError` for the new name, `NameNotFoundError` for the old one, and
    /// `OperationNotSupportedError` for a context.
    #[pyo3(signature = (old, new, *, timeout = None))]
    fn rename<'py>(
        &self,
        old: &Bound<'py, PyAny>,
        new: &Bound<'py, PyAny>,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(old.py(), operation::rename(&self.base, old, new), timeout))
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
        #[pyo3(from_py_with = text::<Tree>)] tree: &str,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(py, operation::list(&self.base, &name.or_here(py), tree, Rows::Entries), timeout))
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
        #[pyo3(from_py_with = text::<Tree>)] tree: &str,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(py, operation::list(&self.base, &name.or_here(py), tree, Rows::Bindings), timeout))
    }

    /// Makes an empty context and gives it. Raises what `bind` raises.
    #[pyo3(signature = (name, *, create_parents = false, timeout = None))]
    fn create_subcontext<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = flag::<CreateParents>)] create_parents: bool,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(name.py(), operation::create_subcontext(&self.base, name, create_parents), timeout))
    }

    /// Removes an empty context. Gives whether something went.
    ///
    /// Raises `NotContextError` for a value, `ContextNotEmptyError`, and `NameNotFoundError` where a context on the way
    /// is missing.
    #[pyo3(signature = (name, *, timeout = None))]
    fn destroy_subcontext<'py>(&self, name: &Bound<'py, PyAny>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(name.py(), operation::destroy_subcontext(&self.base, name), timeout))
    }

    /// What `lookup` gives, as soon as the name can be looked up. Raises `TimeLimitExceededError` after `timeout`
    /// seconds.
    #[pyo3(signature = (name, *, timeout))]
    fn wait_for<'py>(&self, name: &Bound<'py, PyAny>, timeout: Timeout) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(name.py(), operation::wait_for(&self.base, name), Some(timeout)))
    }

    /// What is dubious beneath a name: a `CheckReport`, falsy where nothing is.
    #[pyo3(
        signature = (name = Argument::Absent, *, timeout = None),
        text_signature = "($self, name='', *, timeout=None)"
    )]
    fn check<'py>(&self, py: Python<'py>, name: Argument<'py>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(py, operation::check(&self.base, &name.or_here(py)), timeout))
    }

    /// Ends a conflict that `check` found at a name: the version `keep` stays (a `Binding` of the conflict, or its
    /// `version`) and all others go; with `None` a context stays that is there for what lies under it. Gives a `Receipt`.
    #[pyo3(signature = (name, keep, *, timeout = None))]
    fn resolve_conflict<'py>(
        &self,
        name: &Bound<'py, PyAny>,
        keep: &Bound<'py, PyAny>,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(name.py(), operation::resolve_conflict(&self.base, name, keep), timeout))
    }

    /// What became of a change of the cluster tree that ended without an answer: an `OperationStatus`. `operation_id` is that
    /// of the error.
    #[pyo3(signature = (operation_id, *, timeout = None))]
    fn operation_status<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text::<OperationId>)] operation_id: &str,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(py, operation::operation_status(py, &self.base, operation_id), timeout))
    }

    /// Says that a dead member never comes back: no node counts it any longer. One that is there is refused.
    #[pyo3(signature = (node, *, timeout = None))]
    fn forget<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = text::<NodeToForget>)] node: &str,
        timeout: Option<Timeout>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(py, operation::forget(py, &self.base, node), timeout))
    }

    /// What the node that is asked says of itself: a `NodeStatus`.
    #[pyo3(signature = (*, timeout = None))]
    fn status<'py>(&self, py: Python<'py>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(py, operation::status(py, &self.base), timeout))
    }

    /// Bids the node that is asked leave the cluster: it refuses what is new and finishes what runs. Done as soon as
    /// it has begun. The request goes to one node and never to another.
    #[pyo3(signature = (*, timeout = None))]
    fn quiesce<'py>(&self, py: Python<'py>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.start(py, operation::quiesce(py, &self.base), timeout))
    }

    /// The attempts of the last finished call of this task, on this event loop, through this context or one that it
    /// shares its connections with. Only targets that were tried. It's about the past and never raises; once the
    /// context is closed, nothing is told. Not awaited.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let attempts = match self.session.turning_if_any(py)? {
                Some(turning) => Turning::attempts(&turning)?,
                None => Vec::new(),
            };
            attempts::attempts(py, &attempts)
        })
    }

    /// The attempts of the call that finished last in any task, for whoever looks when the loop has ended.
    fn _explain_last<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| attempts::attempts(py, &self.session.last_attempts()))
    }

    /// Closes the context. A subcontext closes itself alone; the context that was opened closes its subcontexts too, and
    /// unbinds what it bound with a lease. Calls under way end with `ContextClosedError`.
    fn aclose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let done = self.session.turning(py)?.get().futures().make(py)?;
            self.closed.store(true, Ordering::Release);
            if self.opened {
                let releasing = self.session.close(py)?;
                if releasing.is_under_way() {
                    return closing::in_thread(py, releasing);
                }
            }
            done.call_method1(intern!(py, "set_result"), (py.None(),))?;
            Ok(done)
        })
    }

    /// The same as `aclose`.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.aclose(py))
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
    fn watch<'py>(
        &self,
        py: Python<'py>,
        name: Argument<'py>,
        #[pyo3(from_py_with = text::<Scope>)] scope: &str,
        #[pyo3(from_py_with = flag::<Initial>)] initial: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            static WATCH: Imported = Imported::new("hanaming.aio._watch", "Watch");
            let aim = Watched::read(&self.base, &name.or_here(py), scope, self.session.is_ha())?;
            if self.is_closed() {
                return Err(error::raise(py, closed_context()));
            }
            let watches = self.session.watches();
            let watch = aim.begin(py, Arc::clone(&self.home) as _, BRIEFLY, |name, scope| watches.begin(name, scope, initial))?;
            WATCH.get(py)?.call1((watch,))
        })
    }

    fn __aenter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let py = slf.py();
            if slf.get().is_closed() {
                return Err(error::raise(py, closed_context()));
            }
            let entered = slf.get().session.turning(py)?.get().futures().make(py)?;
            entered.call_method1(intern!(py, "set_result"), (slf,))?;
            Ok(entered)
        })
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
        entered(|| self.aclose(py))
    }

    fn __aiter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            static EACH: Imported = Imported::new("hanaming.aio._names", "each");
            EACH.get(py)?.call1((self.start(py, operation::names(py, &self.base), None)?,))
        })
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        entered(|| Ok(show::repr(&shown(slf)?)))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| show::html(slf.py(), &shown(slf)?))
    }
}

fn shown<'a>(context: &'a Bound<'_, PyAioContext>) -> PyResult<Shown<'a>> {
    let class = context.get_type().name()?.to_string();
    let context = context.get();
    Ok(Shown { class: format!("aio.{class}"), base: &context.base, closed: context.is_closed(), known: &*context.session })
}
