//! What a context and its subcontexts share: how the servers are reached, and the event loops on which that is done.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::{ArcSwap, Guard};
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::client::nonblocking::Base;
use crate::client::{Client, ClientConfig, Direct, Driver, Metrics, Releasing, Target, Watches};
use crate::failure::Attempt;
use crate::naming::{Name, NamingError};
use crate::protocol::Scope;
use crate::server::Node;
use crate::topology::View;

use super::super::error;
use super::super::imports::Imported;
use super::super::known::Known;
use super::turning::Turning;

/// How the servers are reached.
pub enum Options {
    /// Over the network.
    Network(ClientConfig),
    /// In this process.
    Process {
        /// The node that is asked.
        node: Node,
        /// The whole cluster's names, or its own.
        scope: Scope,
        /// The time that an operation has.
        timeout: Duration,
    },
}

/// What a context and its subcontexts share.
pub struct Session {
    options: Arc<Options>,
    life: ArcSwap<Life>,
    watches: Watches,
    closed: AtomicBool,
    /// Of the call that had finished last when it was closed.
    last: Mutex<Vec<Attempt>>,
}

/// A session in one process. A forked child begins anew: its parent's sockets are not its own.
struct Life {
    base: Arc<Base>,
    /// One for each event loop on which the session is used.
    turnings: Mutex<Vec<Py<Turning>>>,
}

impl Life {
    fn begin(options: &Options) -> Result<Self, NamingError> {
        let base = match options {
            Options::Network(config) => Base::over_network(config.clone())?,
            Options::Process { node, scope, timeout } => Base::in_process(Arc::new(node.clone()), *scope, *timeout),
        };
        Ok(Self { base, turnings: Mutex::new(Vec::new()) })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Py<Turning>>> {
        self.turnings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// A session with these options. Nothing is dialled yet.
    pub fn new(options: Options) -> Result<Arc<Self>, NamingError> {
        Self::with(Arc::new(options))
    }

    /// Another one with the same options, for what is found through a session that is gone.
    pub(super) fn again(py: Python<'_>, options: &Arc<Options>) -> PyResult<Arc<Self>> {
        Self::with(Arc::clone(options)).map_err(|wrong| error::raise(py, wrong))
    }

    fn with(options: Arc<Options>) -> Result<Arc<Self>, NamingError> {
        let life = ArcSwap::from_pointee(Life::begin(&options)?);
        let watches = match &*options {
            Options::Network(config) => Watches::over_network(config),
            Options::Process { node, scope, .. } => Watches::in_process(Arc::new(node.clone()), *scope),
        };
        Ok(Arc::new(Self { options, life, watches, closed: AtomicBool::new(false), last: Mutex::default() }))
    }

    /// A way to the same servers for somebody who asks on a thread of his own, where nobody's event loop runs.
    pub fn another_driver(&self) -> Result<Arc<dyn Driver>, NamingError> {
        Ok(match &*self.options {
            Options::Network(config) => Arc::new(Client::new(config.clone())?),
            Options::Process { node, scope, timeout } => Arc::new(Direct::new(Arc::new(node.clone()), *scope, *timeout)),
        })
    }

    /// Its watches, which nobody's event loop runs.
    pub fn watches(&self) -> &Watches {
        &self.watches
    }

    /// How the servers are reached.
    pub fn options(&self) -> &Arc<Options> {
        &self.options
    }

    /// This process's life. In a forked child it begins anew.
    fn life(&self) -> Guard<Arc<Life>> {
        let life = self.life.load();
        if life.base.is_current() {
            return life;
        }
        let life = Guard::into_inner(life);
        // The options were good once; where a child can't begin anew, its calls say why.
        let Ok(fresh) = Life::begin(&self.options).map(Arc::new) else { return self.life.load() };
        if self.closed.load(Ordering::Acquire) {
            drop(fresh.base.close());
        }
        let before = self.life.compare_and_swap(&life, Arc::clone(&fresh));
        if Arc::ptr_eq(&before, &life) {
            // The parent's sockets and locks stay as they are.
            std::mem::forget(life);
        }
        self.life.load()
    }

    /// The turning of the running event loop; `RuntimeError` where none runs.
    pub fn turning<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, Turning>> {
        let event_loop = running_loop(py)?;
        let life = self.life();
        if let Some(turning) = life.lock().iter().find(|turning| turning.get().is_of(&event_loop)) {
            return Ok(turning.bind(py).clone());
        }
        let turning = Turning::begin(&event_loop, Arc::clone(&life.base))?;
        let known = std::mem::take(&mut *life.lock());
        let (dead, mut alive): (Vec<_>, Vec<_>) = known.into_iter().partition(|turning| turning.get().is_dead(py));
        for turning in dead {
            turning.get().abandon();
        }
        alive.push(turning.clone().unbind());
        life.lock().append(&mut alive);
        Ok(turning)
    }

    /// The running loop's turning, if the session was used on that loop.
    pub fn turning_if_any<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, Turning>>> {
        let event_loop = current_loop(py)?;
        let life = self.life();
        let turnings = life.lock();
        Ok(turnings.iter().find(|turning| turning.get().is_of(&event_loop)).map(|turning| turning.bind(py).clone()))
    }

    /// Gives back the lease of a name, if one is held there.
    pub fn give_back(&self, name: &Name) -> Releasing {
        self.life().base.give_back(name)
    }

    /// The attempts of the call that finished last on the event loop that it came to last, also once it is closed.
    pub fn last_attempts(&self) -> Vec<Attempt> {
        let of_loop = self.life().lock().last().map(|turning| turning.get().last_attempts());
        of_loop.unwrap_or_else(|| self.lock_last().clone())
    }

    fn lock_last(&self) -> MutexGuard<'_, Vec<Attempt>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it was closed: all contexts over it are.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Ends it, on all loops: calls under way and later ones fail. Gives what goes on in the background.
    pub fn close(&self, py: Python<'_>) -> PyResult<Releasing> {
        self.closed.store(true, Ordering::Release);
        let last = self.last_attempts();
        *self.lock_last() = last;
        self.watches.close();
        let life = self.life();
        let releasing = life.base.close();
        let here = current_loop(py)?;
        let turnings = std::mem::take(&mut *life.lock());
        for turning in turnings {
            let turning = turning.bind(py);
            if turning.get().is_of(&here) {
                Turning::close(turning)?;
            } else {
                Turning::tell_its_loop(turning, intern!(py, "_close"));
            }
        }
        Ok(releasing)
    }
}

impl Known for Session {
    fn is_ha(&self) -> bool {
        match &*self.options {
            Options::Network(config) => config.scope == Scope::Cluster,
            Options::Process { scope, .. } => *scope == Scope::Cluster,
        }
    }

    fn node(&self) -> Option<&Node> {
        match &*self.options {
            Options::Network(_) => None,
            Options::Process { node, .. } => Some(node),
        }
    }

    fn known_targets(&self) -> Vec<(Target, Duration)> {
        self.life().base.targets()
    }

    fn known_metrics(&self) -> Metrics {
        self.life().base.metrics()
    }

    fn known_view(&self) -> Option<Arc<View>> {
        self.life().base.view()
    }
}

/// A session that nobody holds any longer closes its connections, once the calls that are under way have ended.
impl Drop for Session {
    fn drop(&mut self) {
        let life = self.life.load_full();
        if !life.base.is_current() {
            std::mem::forget(life);
            return;
        }
        let turnings = std::mem::take(&mut *life.lock());
        if turnings.is_empty() {
            return;
        }
        let told = Python::try_attach(|py| {
            for turning in &turnings {
                Turning::tell_its_loop(turning.bind(py), intern!(py, "_orphan"));
            }
        });
        if told.is_none() {
            // The interpreter is gone, and all loops with it.
            std::mem::forget(turnings);
        }
    }
}

/// The running event loop, or `None`.
fn current_loop(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static RUNNING: Imported = Imported::new("asyncio", "_get_running_loop");
    RUNNING.get(py)?.call0()
}

fn running_loop(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let event_loop = current_loop(py)?;
    if event_loop.is_none() {
        return Err(PyRuntimeError::new_err(
            "no running event loop: a call of hanaming.aio starts when it is made; make it in a coroutine, or use hanaming",
        ));
    }
    Ok(event_loop)
}
