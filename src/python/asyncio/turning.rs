//! A driver on its event loop: effects become calls of the loop's methods, finished calls complete futures.
//!
//! All of it runs on the loop's own thread. The driver stands under a lock that is held while it's told something and
//! never while Python is called: whatever the loop, a future or a user's factory does may come back here.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::intern;

use crate::client::invocation::Invocation;
use crate::client::nonblocking::{CallId, Driver, Effect, Finished, Watch};

use super::explained::Explained;
use super::waiter::Waiter;

/// A driver on its event loop.
#[pyclass(module = "hanaming._native", frozen)]
pub struct Turning {
    event_loop: Py<PyAny>,
    methods: Methods,
    state: Mutex<State>,
    explained: Mutex<Explained>,
    began: Instant,
    /// The generation of the process in which the sockets were made (see `process`).
    generation: u64,
}

/// The loop's methods that every call needs, bound once.
struct Methods {
    create_future: Py<PyAny>,
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
}

#[pymethods]
impl Turning {
    /// The loop's callback for a readable descriptor.
    fn _readable(slf: &Bound<'_, Self>, watch: u64) -> PyResult<()> {
        Self::tell(slf, |driver, now| driver.on_readable(Watch::from_number(watch), now))
    }

    /// The loop's callback for a writable one.
    fn _writable(slf: &Bound<'_, Self>, watch: u64) -> PyResult<()> {
        Self::tell(slf, |driver, now| driver.on_writable(Watch::from_number(watch), now))
    }

    /// The loop's callback at the end of a turn in which requests were queued.
    fn _flush(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.get().send(slf.py())?;
        Self::carry_out(slf)
    }

    /// The loop's timer.
    fn _timer(slf: &Bound<'_, Self>) -> PyResult<()> {
        let timer = slf.get().lock().timer.take();
        drop(timer);
        Self::tell(slf, Driver::on_timer)
    }

    /// Closes the connections; calls under way end with `ContextClosedError`.
    fn _close(slf: &Bound<'_, Self>) -> PyResult<()> {
        Self::tell(slf, Driver::close)
    }
}

impl Turning {
    /// Begins a call on this loop, and gives the future of its outcome.
    pub(super) fn submit<'py>(slf: &Bound<'py, Self>, invocation: Invocation, timeout: Duration, waiter: Waiter) -> PyResult<()> {
        Self::tell(slf, |driver, now| {
            driver.submit(invocation, timeout, now, waiter);
        })
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(slf: &Bound<'_, Self>, event: impl FnOnce(&mut Driver<Waiter>, Duration)) -> PyResult<()> {
        let own = slf.get();
        let now = own.now();
        event(&mut own.lock().driver, now);
        Self::carry_out(slf)
    }

    /// Sends what waits, but for calls that nobody awaits any more.
    fn send(&self, py: Python<'_>) -> PyResult<()> {
        let leaving: Vec<(CallId, Py<PyAny>)> = {
            let state = self.lock();
            let with_future = |id| Some((id, state.driver.token(id)?.future(py)));
            state.driver.leaving().filter_map(with_future).collect()
        };
        let mut cancelled = Vec::new();
        for (id, future) in leaving {
            if is_cancelled(future.bind(py))? {
                cancelled.push(id);
            }
        }
        for id in cancelled {
            self.cancel(py, id);
        }
        let now = self.now();
        self.lock().driver.flush(now);
        Ok(())
    }

    /// Ends a call whose future was cancelled.
    fn cancel(&self, py: Python<'_>, id: CallId) {
        let now = self.now();
        let finished = self.lock().driver.cancel(id, now);
        if let Some(Finished { token, trail, .. }) = finished {
            self.explain(py, &token, trail);
        }
    }

    /// Carries out what the driver wants done, until it wants nothing more.
    fn carry_out(slf: &Bound<'_, Self>) -> PyResult<()> {
        let own = slf.get();
        loop {
            let (mut effects, mut finished, holds) = {
                let mut state = own.lock();
                let state = &mut *state;
                let mut effects = std::mem::take(&mut state.effects);
                let mut finished = std::mem::take(&mut state.finished);
                state.driver.take_effects(&mut effects);
                state.driver.take_finished(&mut finished);
                (effects, finished, state.driver.holds())
            };
            for effect in effects.drain(..) {
                own.apply(slf, effect)?;
            }
            for call in finished.drain(..) {
                own.complete(slf.py(), call);
            }
            {
                let mut state = own.lock();
                state.effects = effects;
                state.finished = finished;
            }
            if !holds {
                return Ok(());
            }
            own.send(slf.py())?;
        }
    }
}

impl Turning {
    fn apply(&self, slf: &Bound<'_, Self>, effect: Effect) -> PyResult<()> {
        let py = slf.py();
        let methods = &self.methods;
        match effect {
            Effect::WatchRead(fd, watch) => {
                methods.add_reader.call1(py, (fd, slf.getattr(intern!(py, "_readable"))?, watch.number()))?;
            }
            Effect::WatchWrite(fd, watch) => {
                methods.add_writer.call1(py, (fd, slf.getattr(intern!(py, "_writable"))?, watch.number()))?;
            }
            Effect::UnwatchWrite(fd) => {
                methods.remove_writer.call1(py, (fd,))?;
            }
            Effect::Close(fd, socket) => {
                // A loop that was closed watches nothing any more, and says so with an exception.
                if !self.is_dead(py) {
                    methods.remove_reader.call1(py, (fd,))?;
                    methods.remove_writer.call1(py, (fd,))?;
                }
                drop(socket);
            }
            Effect::FlushSoon => {
                methods.call_soon.call1(py, (slf.getattr(intern!(py, "_flush"))?,))?;
            }
            Effect::Wake(after) => {
                let timer = methods.call_later.call1(py, (after.as_secs_f64(), slf.getattr(intern!(py, "_timer"))?))?;
                let earlier = self.lock().timer.replace(timer);
                if let Some(earlier) = earlier {
                    earlier.call_method0(py, intern!(py, "cancel"))?;
                }
            }
        }
        Ok(())
    }

    /// Completes a finished call's future.
    fn complete(&self, py: Python<'_>, call: Finished<Waiter>) {
        let Finished { token, result, trail } = call;
        let outcome = token.outcome(py, result, &trail);
        let future = token.future.bind(py);
        let told = match outcome {
            Ok(object) => future.call_method1(intern!(py, "set_result"), (object,)),
            Err(error) => fail(future, error),
        };
        if let Err(error) = told
            // A future that was cancelled meanwhile needs no result.
            && !is_cancelled(future).unwrap_or(true)
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

fn is_cancelled(future: &Bound<'_, PyAny>) -> PyResult<bool> {
    future.call_method0(intern!(future.py(), "cancelled"))?.extract()
}

/// Fails a future.
pub(super) fn fail<'py>(future: &Bound<'py, PyAny>, error: PyErr) -> PyResult<Bound<'py, PyAny>> {
    let py = future.py();
    let exception = error.into_value(py);
    future.call_method1(intern!(py, "set_exception"), (&exception,)).or_else(|refused| {
        // No future takes a StopIteration: it would end the wrong loop.
        if exception.bind(py).is_instance_of::<PyStopIteration>() {
            let wrapped = PyRuntimeError::new_err("a factory raised StopIteration");
            wrapped.set_cause(py, Some(PyErr::from_value(exception.into_bound(py).into_any())));
            return future.call_method1(intern!(py, "set_exception"), (wrapped.into_value(py),));
        }
        Err(refused)
    })
}
