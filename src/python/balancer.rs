//! The core of `hanaming.Balancer` and of its asyncio twin: what both faces, which are written in Python, stand on.
//!
//! The faces judge a failure and make the blocks; here a target is chosen and told back. The synchronous face waits with
//! the interpreter released ([`PyCalling::next`]); the asyncio face never waits here ([`PyCalling::poll`]).

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyFloat;

use crate::client::Policy;
use crate::client::balancer::{self, Balancer, BalancerConfig, Calling, Failure, Next, Sequel, Source};
use crate::client::config::seconds;
use crate::failure::verdict::Need;
use crate::failure::{Action, Category, CompletionStatus};
use crate::naming::{ErrorKind, NamingError};

use super::error::entered;
use super::parameter::{PolicyName, Time, number, text};
use super::service::PyService;
use super::{attempts, dns, error, process, records, running_loop, value};

/// A balancer's targets and how they are; all that is shared by a balancer and its views.
#[pyclass(name = "Balancing", module = "hanaming._native", frozen)]
pub struct PyBalancing(Balancer);

#[pymethods]
impl PyBalancing {
    #[new]
    #[pyo3(signature = (source, policy, dns_refresh, dns_servers, timeout))]
    fn py_new(
        source: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = text::<PolicyName>)] policy: &str,
        dns_refresh: &Bound<'_, PyAny>,
        dns_servers: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = number::<Time>)] timeout: f64,
    ) -> PyResult<Self> {
        entered(|| {
            let py = source.py();
            let mut dns = dns::configure(py, Some(dns_refresh), dns_servers)?;
            let source = read_source(source)?;
            if let Source::Service(service) = &source
                && dns_servers.is_none()
                && let Some(of_context) = service.dns_servers()
            {
                dns.servers = of_context.clone();
            }
            let made = || {
                let config = BalancerConfig {
                    policy: policy.parse::<Policy>()?,
                    dns,
                    timeout: seconds("timeout", timeout)?,
                    ..BalancerConfig::default()
                };
                Balancer::new(source, config)
            };
            made().map(Self).map_err(|wrong| error::raise(py, wrong))
        })
    }

    /// A call that begins now. `value` says that what it gives back is needed.
    fn begin(&self, py: Python<'_>, idempotent: bool, value: bool) -> PyResult<PyCalling> {
        entered(|| {
            let calling = self.0.begin(Need { idempotent, value }).map_err(|wrong| error::raise(py, wrong))?;
            Ok(PyCalling(Mutex::new(calling)))
        })
    }

    /// The servers that are known, as they are now: a list of `Target`. Nothing is asked.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let targets = self.0.targets();
            let rows = targets.iter().map(|(target, age)| records::target(py, target, *age)).collect::<PyResult<Vec<_>>>()?;
            records::targets(py, rows)
        })
    }

    /// What was counted of the servers so far: `Metrics`. Nothing is asked.
    #[getter]
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| records::metrics(py, self.0.metrics()))
    }

    /// Where the servers are from: `"a list"`, `"service 'orders'"`.
    #[getter]
    fn source(&self) -> String {
        match self.0.source() {
            Source::Fixed(_) => "a list".to_owned(),
            Source::Service(service) => service.label().to_string(),
        }
    }

    /// What is wrong with the source, where its last answer was none.
    #[getter]
    fn trouble(&self) -> Option<String> {
        self.0.trouble()
    }

    #[getter]
    fn policy(&self) -> &'static str {
        self.0.config().policy.as_str()
    }

    #[getter]
    fn timeout(&self) -> f64 {
        self.0.config().timeout.as_secs_f64()
    }

    #[getter]
    fn closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Ends it, with all its views.
    fn close(&self) {
        self.0.close();
    }
}

fn read_source(source: &Bound<'_, PyAny>) -> PyResult<Source> {
    let py = source.py();
    if let Ok(service) = source.cast::<PyService>() {
        return Ok(Source::Service(service.get().service.clone()));
    }
    let value = value::to_value(source, "source", "").map_err(|wrong| {
        if !wrong.is_instance_of::<PyTypeError>(py) {
            return wrong;
        }
        let message = format!(
            "{}; a balancer's source is a list of addresses, [\"a:8080\", \"b:8080\"], a Reference or ctx.service(\"name\")",
            wrong.value(py)
        );
        error::raise(py, NamingError::new(ErrorKind::Configuration, message))
    })?;
    balancer::servers(&value, "source").map(Source::Fixed).map_err(|wrong| error::raise(py, wrong))
}

/// One call's attempts.
#[pyclass(name = "Calling", module = "hanaming._native", frozen)]
pub struct PyCalling(Mutex<Calling>);

impl PyCalling {
    /// Nobody waits for the lock: who holds it may be waiting for the interpreter.
    fn lock(&self) -> PyResult<MutexGuard<'_, Calling>> {
        let busy = "the attempts of one call are used by two threads at once; each thread makes its own";
        self.0.try_lock().map_err(|_| PyRuntimeError::new_err(busy))
    }
}

#[pymethods]
impl PyCalling {
    /// The `Target` to call now, waiting for it; `None` where the last failure comes out.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        entered(|| {
            running_loop::warn_once(py)?;
            let mut calling = self.lock()?;
            match calling.poll() {
                Next::Wait(_) => {}
                next => return given(py, next),
            }
            let waiting: &mut Calling = &mut calling;
            let (next, raised) = process::interruptible(py, |give_up| waiting.wait(give_up));
            match (next, raised) {
                (_, Some(raised)) => Err(raised),
                (Some(next), None) => given(py, next),
                (None, None) => Ok(None),
            }
        })
    }

    /// The same without waiting: the seconds to wait at most, where nobody can be called now.
    fn poll<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        entered(|| {
            let next = self.lock()?.poll();
            given(py, next)
        })
    }

    /// The call came back.
    fn succeeded(&self) -> PyResult<()> {
        entered(|| {
            self.lock()?.succeeded();
            Ok(())
        })
    }

    /// The call failed, as a verdict tells it. Gives what comes next: `"again"`, `"raise"` or `"success"`.
    fn failed(
        &self,
        category: &str,
        completion: Option<&str>,
        action: &str,
        action_if_idempotent: &str,
        words: String,
    ) -> PyResult<&'static str> {
        entered(|| {
            let failure = Failure {
                category: read("category", category, Category::ALL, Category::as_str)?,
                completion: match completion {
                    Some(word) => Some(read("completion", word, STATUSES, CompletionStatus::as_str)?),
                    None => None,
                },
                action: read("action", action, ACTIONS, Action::as_str)?,
                action_if_idempotent: read("action_if_idempotent", action_if_idempotent, ACTIONS, Action::as_str)?,
                words,
            };
            Ok(match self.lock()?.failed(failure) {
                Sequel::Again => "again",
                Sequel::Raise => "raise",
                Sequel::Success => "success",
            })
        })
    }

    /// The call was given up.
    fn abandoned(&self) -> PyResult<()> {
        entered(|| {
            self.lock()?.abandoned();
            Ok(())
        })
    }

    /// The seconds that are left for all further attempts.
    #[getter]
    fn time_left(&self) -> PyResult<f64> {
        entered(|| Ok(self.lock()?.time_left().as_secs_f64()))
    }

    /// The attempts made so far: a list of `Attempt`.
    #[getter]
    fn attempts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let made = self.lock()?.attempts();
            attempts::attempts(py, &made)
        })
    }
}

fn given(py: Python<'_>, next: Next) -> PyResult<Option<Bound<'_, PyAny>>> {
    match next {
        Next::Call(target, age) => records::target(py, &target, age).map(Some),
        Next::Wait(left) => Ok(Some(PyFloat::new(py, left.as_secs_f64()).into_any())),
        Next::Over(None) => Ok(None),
        Next::Over(Some(wrong)) => Err(error::raise(py, wrong)),
    }
}

const STATUSES: [CompletionStatus; 3] = [CompletionStatus::No, CompletionStatus::Yes, CompletionStatus::Maybe];
const ACTIONS: [Action; 5] = [Action::Failover, Action::RetryLater, Action::Surface, Action::Success, Action::Ignore];

/// The one of `all` that is spelt so.
fn read<T: Copy, const N: usize>(what: &str, text: &str, all: [T; N], spelt: fn(T) -> &'static str) -> PyResult<T> {
    all.into_iter().find(|one| spelt(*one) == text).ok_or_else(|| {
        let known = all.map(spelt).join(", ");
        PyValueError::new_err(format!("{what}={text:?} is unknown; it is one of {known}"))
    })
}
