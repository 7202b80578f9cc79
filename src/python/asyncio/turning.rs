//! A driver on its event loop: effects become calls of the loop's methods, finished calls complete futures.
//!
//! All of it runs on the loop's own thread. The driver stands under a lock that is held while it's told something and
//! never while Python is called: whatever the loop, a future or a user's factory does may come back here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyNotImplementedError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::client::nonblocking::{Base, CallId, Driver, Effect, Finished, Watch};
use crate::client::{Invocation, Trail};
use crate::failure::Attempt;
use crate::naming::{ErrorKind, NamingError};

use super::super::error::{self, entered, guarded};
use super::explained::Explained;
use super::futures::Futures;
use super::waiter::Waiter;

/// A driver on its event loop.
#[pyclass(module = "hanaming._native", frozen)]
pub struct Turning {
    event_loop: Py<PyAny>,
    futures: Futures,
    methods: Methods,
    base: Arc<Base>,
    state: Mutex<State>,
    explained: Mutex<Explained>,
}

/// The loop's methods that effects need, bound once.
struct Methods {
    call_soon: Py<PyAny>,
    call_later: Py<PyAny>,
    add_reader: Py<PyAny>,
    add_writer: Py<PyAny>,
    remove_reader: Py<PyAny>,
    remove_writer: Py<PyAny>,
}

struct State {
    driver: Driver<Waiter>,
    /// The timer's handle, to cancel it.
    timer: Option<Py<PyAny>>,
    /// Kept from one turn to the next, empty.
    effects: Vec<Effect>,
    finished: Vec<Finished<Waiter>>,
    leaving: Vec<(CallId, Py<PyAny>)>,
    /// Nobody holds the context any longer: the last call that ends closes the connections.
    orphaned: bool,
}

#[pymethods]
impl Turning {
    /// The loop's callback for a readable descriptor.
    fn _readable(slf: &Bound<'_, Self>, watch: u64) -> PyResult<()> {
        entered(|| Self::tell(slf, |driver, now| driver.on_readable(Watch::from_number(watch), now)))
    }

    /// The loop's callback for a writable one.
    fn _writable(slf: &Bound<'_, Self>, watch: u64) -> PyResult<()> {
        entered(|| Self::tell(slf, |driver, now| driver.on_writable(Watch::from_number(watch), now)))
    }

    /// The loop's callback at the end of a turn in which requests were queued.
    fn _flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        entered(|| {
            slf.get().send(slf.py())?;
            Self::carry_out(slf)
        })
    }

    /// The loop's timer.
    fn _timer(slf: &Bound<'_, Self>) -> PyResult<()> {
        entered(|| {
            let timer = slf.get().lock().timer.take();
            drop(timer);
            Self::tell(slf, Driver::on_timer)
        })
    }

    /// Closes the connections; calls under way end with `ContextClosedError`.
    fn _close(slf: &Bound<'_, Self>) -> PyResult<()> {
        entered(|| Self::close(slf))
    }

    /// Closes the connections as soon as no call is under way.
    fn _orphan(slf: &Bound<'_, Self>) -> PyResult<()> {
        entered(|| {
            slf.get().lock().orphaned = true;
            Self::tell(slf, |_, _| ())
        })
    }
}

impl Turning {
    /// A driver on this event loop. `OperationNotSupportedError` where the loop can't watch descriptors.
    pub(super) fn begin<'py>(event_loop: &Bound<'py, PyAny>, base: Arc<Base>) -> PyResult<Bound<'py, Self>> {
        let py = event_loop.py();
        let method = |name: &Bound<'py, PyString>| event_loop.getattr(name).map(Bound::unbind);
        let methods = Methods {
            call_soon: method(intern!(py, "call_soon"))?,
            call_later: method(intern!(py, "call_later"))?,
            add_reader: method(intern!(py, "add_reader"))?,
            add_writer: method(intern!(py, "add_writer"))?,
            remove_reader: method(intern!(py, "remove_reader"))?,
            remove_writer: method(intern!(py, "remove_writer"))?,
        };
        refuse_unless_it_watches(event_loop, &methods)?;
        let state = State {
            driver: Driver::new(Arc::clone(&base)),
            timer: None,
            effects: Vec::new(),
            finished: Vec::new(),
            leaving: Vec::new(),
            orphaned: false,
        };
        let own = Self {
            event_loop: event_loop.clone().unbind(),
            futures: Futures::of(event_loop)?,
            methods,
            base,
            state: Mutex::new(state),
            explained: Mutex::new(Explained::new()),
        };
        Bound::new(py, own)
    }

    /// Whether it's of this event loop.
    pub(super) fn is_of(&self, event_loop: &Bound<'_, PyAny>) -> bool {
        self.event_loop.is(event_loop)
    }

    /// The loop's futures.
    pub(super) fn futures(&self) -> &Futures {
        &self.futures
    }

    /// Begins a call on this loop.
    pub(super) fn submit(
        slf: &Bound<'_, Self>,
        invocation: Invocation,
        timeout: Option<Duration>,
        waiter: impl FnOnce(Duration) -> Waiter,
    ) -> PyResult<()> {
        Self::tell(slf, |driver, now| {
            driver.submit(invocation, timeout, now, waiter(now));
        })
    }

    /// The attempts of the call that finished last, of whichever task: for whoever looks from outside of the loop.
    pub(super) fn last_attempts(&self) -> Vec<Attempt> {
        let explained = self.explained.lock().unwrap_or_else(PoisonError::into_inner);
        explained.last().map(Trail::attempts).unwrap_or_default()
    }

    /// The attempts of the last finished call of the task that runs now.
    pub(super) fn attempts(slf: &Bound<'_, Self>) -> PyResult<Vec<Attempt>> {
        let (py, own) = (slf.py(), slf.get());
        let task = own.futures.task(py)?;
        let mine: Vec<(CallId, Py<PyAny>)> = {
            let state = own.lock();
            let is_mine = |waiter: &Waiter| match (&waiter.task, &task) {
                (Some(one), Some(other)) => one.is(other),
                (None, None) => true,
                _ => false,
            };
            let calls = state.driver.calls().filter(|(_, waiter)| is_mine(waiter));
            calls.map(|(id, waiter)| (id, waiter.future.clone_ref(py))).collect()
        };
        for (id, future) in mine {
            if own.futures.is_done(future.bind(py))? {
                own.cancel(py, id);
            }
        }
        let explained = own.explained.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(explained.of(py, task.as_ref()).map(Trail::attempts).unwrap_or_default())
    }

    /// Closes the connections; calls under way end with `ContextClosedError`. On the loop's own thread.
    pub(super) fn close(slf: &Bound<'_, Self>) -> PyResult<()> {
        let timer = slf.get().lock().timer.take();
        if let Some(timer) = timer {
            timer.call_method0(slf.py(), intern!(slf.py(), "cancel"))?;
        }
        Self::tell(slf, Driver::close)
    }

    /// Drops the connections of a loop that is closed: it watches nothing any more.
    pub(super) fn abandon(&self) {
        let driver = std::mem::replace(&mut self.lock().driver, Driver::new(Arc::clone(&self.base)));
        drop(driver);
    }

    /// Has the loop call a method, from whatever thread; a loop that is closed calls nothing.
    pub(super) fn tell_its_loop(slf: &Bound<'_, Self>, method: &Bound<'_, PyString>) {
        let own = slf.get();
        if own.is_dead(slf.py()) {
            own.abandon();
            return;
        }
        let call = slf
            .getattr(method)
            .and_then(|method| own.event_loop.bind(slf.py()).call_method1(intern!(slf.py(), "call_soon_threadsafe"), (method,)));
        if call.is_err() {
            // It was closed in between.
            own.abandon();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(slf: &Bound<'_, Self>, event: impl FnOnce(&mut Driver<Waiter>, Duration)) -> PyResult<()> {
        let own = slf.get();
        let now = own.base.now();
        {
            let mut state = own.lock();
            let driver = &mut state.driver;
            guarded(|| event(driver, now)).map_err(|fault| error::raise(slf.py(), fault))?;
            if state.driver.is_content() && !state.orphaned {
                return Ok(());
            }
        }
        Self::carry_out(slf)
    }

    /// Sends what waits, but for calls that nobody awaits any more.
    fn send(&self, py: Python<'_>) -> PyResult<()> {
        let mut leaving = {
            let mut guard = self.lock();
            let State { driver, leaving, .. } = &mut *guard;
            leaving.extend(driver.leaving().filter_map(|id| Some((id, driver.token(id)?.future.clone_ref(py)))));
            std::mem::take(leaving)
        };
        for (id, future) in leaving.drain(..) {
            if self.futures.is_done(future.bind(py))? {
                self.cancel(py, id);
            }
        }
        let now = self.base.now();
        let mut state = self.lock();
        state.leaving = leaving;
        let driver = &mut state.driver;
        guarded(|| driver.flush(now)).map_err(|fault| error::raise(py, fault))
    }

    /// Panics where any event could, so that a test sees what becomes of it.
    pub(super) fn panic(slf: &Bound<'_, Self>) -> PyResult<()> {
        #[expect(clippy::panic, reason = "that is what it is for")]
        Self::tell(slf, |_, _| panic!("on purpose"))
    }

    /// Ends a call whose future was cancelled.
    fn cancel(&self, py: Python<'_>, id: CallId) {
        let now = self.base.now();
        let finished = self.lock().driver.cancel(id, now);
        if let Some(Finished { token, trail, .. }) = finished {
            self.explain(py, &token, trail);
        }
    }

    /// Carries out what the driver wants done, until it wants nothing more.
    fn carry_out(slf: &Bound<'_, Self>) -> PyResult<()> {
        let (py, own) = (slf.py(), slf.get());
        loop {
            let (mut effects, mut finished, holds) = {
                let mut guard = own.lock();
                let state = &mut *guard;
                if state.driver.is_content() {
                    if state.orphaned && state.driver.under_way() == 0 {
                        state.orphaned = false;
                        state.driver.close(own.base.now());
                        continue;
                    }
                    return Ok(());
                }
                let mut effects = std::mem::take(&mut state.effects);
                let mut finished = std::mem::take(&mut state.finished);
                state.driver.take_effects(&mut effects);
                state.driver.take_finished(&mut finished);
                (effects, finished, state.driver.holds())
            };
            let mut failed = None;
            for effect in effects.drain(..) {
                failed = Self::apply(slf, effect).err().or(failed);
            }
            if !finished.is_empty() {
                let now = own.base.now();
                for call in finished.drain(..) {
                    own.complete(py, call, now);
                }
            }
            {
                let mut state = own.lock();
                state.effects = effects;
                state.finished = finished;
            }
            if let Some(failed) = failed {
                return Err(failed);
            }
            if holds {
                own.send(py)?;
            }
        }
    }
}

impl Turning {
    fn apply(turning: &Bound<'_, Self>, effect: Effect) -> PyResult<()> {
        let (py, own) = (turning.py(), turning.get());
        let methods = &own.methods;
        match effect {
            Effect::WatchRead(fd, watch) => {
                methods.add_reader.call1(py, (fd, turning.getattr(intern!(py, "_readable"))?, watch.number()))?;
            }
            Effect::WatchWrite(fd, watch) => {
                methods.add_writer.call1(py, (fd, turning.getattr(intern!(py, "_writable"))?, watch.number()))?;
            }
            Effect::UnwatchWrite(fd) => {
                methods.remove_writer.call1(py, (fd,))?;
            }
            Effect::Close(fd, socket) => {
                // A loop that was closed watches nothing any more, and says so with an exception.
                if !own.is_dead(py) {
                    methods.remove_reader.call1(py, (fd,))?;
                    methods.remove_writer.call1(py, (fd,))?;
                }
                drop(socket);
            }
            Effect::FlushSoon => {
                methods.call_soon.call1(py, (turning.getattr(intern!(py, "_flush"))?,))?;
            }
            Effect::Wake(after) => {
                let timer = methods.call_later.call1(py, (after.as_secs_f64(), turning.getattr(intern!(py, "_timer"))?))?;
                let earlier = own.lock().timer.replace(timer);
                if let Some(earlier) = earlier {
                    earlier.call_method0(py, intern!(py, "cancel"))?;
                }
            }
        }
        Ok(())
    }

    /// Completes a finished call's future.
    fn complete(&self, py: Python<'_>, call: Finished<Waiter>, now: Duration) {
        let Finished { token, result, trail } = call;
        let closed = matches!(&result, Err(error) if error.kind() == ErrorKind::ContextClosed);
        let outcome = token.outcome(py, result, now.saturating_sub(token.began), &trail);
        let future = token.future.bind(py);
        let told = match outcome {
            Ok(object) => self.futures.complete(future, object),
            Err(error) => Futures::fail(future, error),
        };
        if closed {
            // Whoever closes the context knows; futures that nobody awaits need not complain.
            let _ = future.setattr(intern!(py, "_log_traceback"), false);
        }
        if let Err(error) = told
            // A future that was cancelled meanwhile needs no result.
            && !self.futures.is_done(future).unwrap_or(true)
        {
            error.write_unraisable(py, Some(future));
        }
        self.explain(py, &token, trail);
    }

    fn explain(&self, py: Python<'_>, waiter: &Waiter, trail: Trail) {
        // Taken already only where a garbage collection within led back here: then this one call goes unexplained.
        if let Ok(mut explained) = self.explained.try_lock() {
            explained.tell(py, waiter.task.as_ref().map(|task| task.bind(py)), trail);
        }
    }

    /// Whether the loop was closed.
    pub(super) fn is_dead(&self, py: Python<'_>) -> bool {
        self.event_loop.call_method0(py, intern!(py, "is_closed")).and_then(|closed| closed.extract(py)).unwrap_or(true)
    }
}

fn refuse_unless_it_watches(event_loop: &Bound<'_, PyAny>, methods: &Methods) -> PyResult<()> {
    let py = event_loop.py();
    let (probe, _other_end) = std::os::unix::net::UnixStream::pair()?;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&probe);
    let nothing = py.get_type::<PyString>();
    let watched = methods.add_reader.call1(py, (fd, nothing)).and_then(|_| methods.remove_reader.call1(py, (fd,)));
    match watched {
        Ok(_) => Ok(()),
        Err(error) if error.is_instance_of::<PyNotImplementedError>(py) => {
            let class = event_loop.get_type().fully_qualified_name()?;
            let message = format!(
                "{class} has no add_reader(), which hanaming.aio needs; use asyncio.SelectorEventLoop or uvloop, or hanaming \
                 in a thread"
            );
            Err(error::raise(py, NamingError::new(ErrorKind::OperationNotSupported, message)))
        }
        Err(error) => Err(error),
    }
}
