//! The core of `hanaming.simulation.simulate`, which reads its arguments and shows what came out.

use std::time::Duration;

use pyo3::prelude::*;

use crate::client::Policy;
use crate::naming::{ErrorKind, NamingError};
use crate::simulation::{Addresses, Outcome, Restarts, Scenario, run};

use super::error::entered;
use super::{dns, error, process, records};

/// A scenario, as its fields are called in Python. Times are in seconds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Given<'py> {
    servers: u32,
    clients: u32,
    contexts: u32,
    length: f64,
    policy: String,
    dns_refresh: Bound<'py, PyAny>,
    ttl: f64,
    restart_every: Option<f64>,
    restart_gap: Option<f64>,
    downtime: f64,
    new_addresses: bool,
    scaling: Vec<(f64, u32)>,
    dns_failures: Vec<(f64, f64)>,
    call_every: f64,
    balancer: bool,
    follow_views: bool,
    samples: u32,
    seed: u64,
}

/// A slice: its begin in seconds, the calls answered by each server, failed calls, which servers were up.
type Row = (f64, Vec<u64>, u64, Vec<bool>);

/// All slices, `Metrics` of all clients together, the most moves of one, the contexts on each server at the end.
type Told<'py> = (Vec<Row>, Bound<'py, PyAny>, u64, Vec<u64>);

/// Runs a scenario. Ctrl-C ends it.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "pyo3 gives arguments away")]
pub fn simulate<'py>(py: Python<'py>, given: Given<'py>) -> PyResult<Told<'py>> {
    entered(|| {
        let scenario = read(py, &given)?;
        let (outcome, raised) = process::interruptible(py, |give_up| run(&scenario, give_up));
        if let Some(raised) = raised {
            return Err(raised);
        }
        let Outcome { slices, metrics, most_moves, contexts } = match outcome {
            Ok(Some(outcome)) => outcome,
            Ok(None) => return Err(error::raise(py, NamingError::new(ErrorKind::Internal, "the run was given up"))),
            Err(wrong) => return Err(error::raise(py, wrong)),
        };
        let rows = slices.into_iter().map(|slice| (slice.at.as_secs_f64(), slice.answered, slice.failed, slice.up));
        Ok((rows.collect(), records::metrics(py, metrics)?, most_moves, contexts))
    })
}

fn read(py: Python<'_>, given: &Given<'_>) -> PyResult<Scenario> {
    let dns = dns::configure(py, Some(&given.dns_refresh), None)?;
    let made = || {
        let seconds = |option, value| time(option, value);
        Ok(Scenario {
            servers: given.servers,
            clients: given.clients,
            contexts: given.contexts,
            length: seconds("weeks", given.length)?,
            policy: given.policy.parse::<Policy>()?,
            refresh: dns.refresh,
            ttl: seconds("ttl", given.ttl)?,
            restarts: Restarts {
                every: given.restart_every.map(|every| seconds("restarts_per_week", every)).transpose()?,
                gap: given.restart_gap.map(|gap| seconds("restart_gap", gap)).transpose()?,
                downtime: seconds("downtime", given.downtime)?,
                addresses: if given.new_addresses { Addresses::New } else { Addresses::Kept },
            },
            scaling: given.scaling.iter().map(|(at, to)| Ok((seconds("scaling", *at)?, *to))).collect::<Result<_, _>>()?,
            dns_failures: (given.dns_failures.iter())
                .map(|(at, time)| Ok((seconds("dns_failures", *at)?, seconds("dns_failures", *time)?)))
                .collect::<Result<_, _>>()?,
            call_every: seconds("call_every", given.call_every)?,
            told_loads: !given.balancer,
            views: given.follow_views && !given.balancer,
            slices: given.samples,
            seed: given.seed,
        })
    };
    made().map_err(|wrong: NamingError| error::raise(py, wrong))
}

fn time(option: &str, seconds: f64) -> Result<Duration, NamingError> {
    Duration::try_from_secs_f64(seconds).map_err(|_| {
        NamingError::new(ErrorKind::Configuration, format!("{option}: {seconds} s is no time that can be simulated"))
    })
}
