//! `hanaming.aio.HAContext`: the unified view of a whole cluster, on asyncio.

use pyo3::prelude::*;

use super::super::argument::Argument;
use super::super::error::entered;
use super::super::ha_context::Given;
use super::super::imports::Imported;
use super::super::parameter::{
    AttemptTimeout, Cache, Cluster, FollowViews, Instance, Lease, PolicyName, Time, Timeout, Weight, flag, number, some_string,
    text,
};
use super::super::registration::{self, Offer};
use super::super::service::{self, PyService};
use super::super::{error, known, operation, show};
use super::context::{PyAioContext, PyAioHAContext};
use super::session::{Options, Session};

/// What a registration is given as.
static REGISTRATION: Imported = Imported::new("hanaming.aio._node", "Registration");

#[pymethods]
impl PyAioHAContext {
    #[new]
    #[pyo3(signature = (
        provider = None, *, policy = "round_robin", timeout = 5.0, attempt_timeout = 0.25, dns_refresh = Argument::Absent,
        dns_servers = None, cluster = None, follow_views = true, cache = false,
    ), text_signature = "(provider=None, *, policy='round_robin', timeout=5.0, attempt_timeout=0.25, dns_refresh='ttl', dns_servers=None, cluster=None, follow_views=True, cache=False)")]
    #[expect(clippy::too_many_arguments, reason = "the public signature")]
    fn py_new(
        py: Python<'_>,
        provider: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = text::<PolicyName>)] policy: &str,
        #[pyo3(from_py_with = number::<Time>)] timeout: f64,
        #[pyo3(from_py_with = number::<AttemptTimeout>)] attempt_timeout: f64,
        dns_refresh: Argument<'_>,
        dns_servers: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = some_string::<Cluster>)] cluster: Option<String>,
        #[pyo3(from_py_with = flag::<FollowViews>)] follow_views: bool,
        #[pyo3(from_py_with = flag::<Cache>)] cache: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        entered(|| {
            let given = Given {
                provider,
                policy,
                timeout,
                attempt_timeout,
                dns_refresh: dns_refresh.into_given(),
                dns_servers,
                cluster,
                follow_views,
                cache,
            };
            let session = Session::new(Options::Network(given.configure(py)?)).map_err(|wrong| error::raise(py, wrong))?;
            Ok(PyClassInitializer::from(PyAioContext::root(session)).add_subclass(Self))
        })
    }

    /// The servers that the context knows, as they are now: a list of `Target`. Nothing is asked.
    #[getter]
    fn targets<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| known::targets(slf.py(), &**slf.as_super().get().session()))
    }

    /// What was counted of the servers so far: `Metrics`. Nothing is asked.
    #[getter]
    fn metrics<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| known::metrics(slf.py(), &**slf.as_super().get().session()))
    }

    /// The newest view that a server told, if any did. Nothing is asked.
    #[getter]
    fn view<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        entered(|| known::view(slf.py(), &**slf.as_super().get().session()))
    }

    /// The processes that offer a service, as a source for a `Balancer`, which keeps them fresh. Nothing is asked yet.
    fn service(slf: &Bound<'_, Self>, name: &Bound<'_, PyAny>) -> PyResult<PyService> {
        entered(|| {
            let context = slf.as_super().get();
            let session = context.session();
            service::found(context.base(), name, context.is_closed(), show::reach(&**session), || session.another_driver())
        })
    }

    /// The processes that offer a service: a list of `Instance`. Raises what `list_names` raises.
    #[pyo3(signature = (name, *, timeout = None))]
    fn instances<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let context = slf.as_super().get();
            context.start(slf.py(), operation::instances(context.base(), name), timeout)
        })
    }

    /// Offers a service for as long as the context is open and its process lives, without being a node: binds
    /// `<name>/<instance>` in the cluster tree with a lease, until the registration or the context is closed. `instance` is a
    /// name for this process, made of host, process and chance unless it is given; `weight` its share relative to others',
    /// positive and finite; `metadata` a `dict` of values.
    ///
    /// Raises `NameAlreadyBoundError` where the instance is there already, `ValueError` for a weight that is none,
    /// `TypeError` for what is no value.
    #[pyo3(signature = (name, value, *, weight = 1.0, metadata = None, lease = 10.0, instance = None))]
    fn register<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = number::<Weight>)] weight: f64,
        metadata: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = number::<Lease>)] lease: f64,
        #[pyo3(from_py_with = some_string::<Instance>)] instance: Option<String>,
    ) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let context = slf.as_super().get();
            let instance = instance.map_or_else(|| registration::instance_name(slf.py()), Ok)?;
            let offer = Offer { value, weight, metadata };
            let prepared = operation::register(context.base(), name, &offer, lease, &instance);
            let registering = context.start(slf.py(), prepared, None)?;
            REGISTRATION.get(slf.py())?.call1((registering,))
        })
    }
}
