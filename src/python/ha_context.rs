//! `hanaming.HAContext`: the unified view of a whole cluster.

use std::env::VarError;

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::client::cache::Generation;
use crate::client::config::seconds;
use crate::client::{ClientConfig, Policy};
use crate::naming::{ErrorKind, NamingError};

use super::argument::{self, Argument};
use super::context::{PyContext, PyHAContext};
use super::error::entered;
use super::parameter::{
    AttemptTimeout, Cache, Cluster, FollowViews, Instance, Lease, PolicyName, Time, Timeout, Weight, flag, number, some_string,
    text,
};
use super::registration::{self, Offer};
use super::service::{self, PyService};
use super::session::Session;
use super::{dns, error, known, operation, show};

#[pymethods]
impl PyHAContext {
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
            let config = given.configure(py)?;
            let session = Session::over_network(config).map_err(|wrong| error::raise(py, wrong))?;
            Ok(PyClassInitializer::from(PyContext::root(py, session)).add_subclass(Self))
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
            service::found(context.base(), name, context.is_closed(), show::reach(&**session), || Ok(session.another_driver()))
        })
    }

    /// The processes that offer a service: a list of `Instance`. Raises what `list_names` raises.
    #[pyo3(signature = (name, *, timeout = None))]
    fn instances<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyAny>, timeout: Option<Timeout>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let context = slf.as_super().get();
            context.run(slf.py(), operation::instances(context.base(), name)?, timeout)
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
            context.run(slf.py(), operation::register(context.base(), name, &offer, lease, &instance)?, None)
        })
    }
}

/// The texts that say where servers are. None is loopback.
pub fn providers(py: Python<'_>, provider: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(provider) = provider else {
        return match std::env::var("HANAMING_PROVIDER") {
            Ok(text) => Ok(Some(text).filter(|text| !text.is_empty()).into_iter().collect()),
            Err(VarError::NotPresent) => Ok(Vec::new()),
            Err(VarError::NotUnicode(text)) => {
                let message = format!("HANAMING_PROVIDER={} is not UTF-8; write hn://host:port", text.display());
                Err(error::raise(py, NamingError::new(ErrorKind::Configuration, message)))
            }
        };
    };
    if let Ok(one) = provider.cast::<PyString>() {
        return Ok(vec![super::text::of(one, "provider")?.to_owned()]);
    }
    let all = argument::texts(provider, "provider", "addresses, or one as a str")?;
    if all.is_empty() {
        let message = "provider=[] names no server; write hn://host:11100, or None for the default";
        return Err(error::raise(py, NamingError::new(ErrorKind::Configuration, message)));
    }
    Ok(all)
}

/// The options of an HA context as they were given.
pub struct Given<'a, 'py> {
    pub provider: Option<&'a Bound<'py, PyAny>>,
    pub policy: &'a str,
    pub timeout: f64,
    pub attempt_timeout: f64,
    pub dns_refresh: Option<Bound<'py, PyAny>>,
    pub dns_servers: Option<&'a Bound<'py, PyAny>>,
    pub cluster: Option<String>,
    pub follow_views: bool,
    pub cache: bool,
}

impl Given<'_, '_> {
    /// What they mean.
    pub fn configure(self, py: Python<'_>) -> PyResult<ClientConfig> {
        let providers = providers(py, self.provider)?;
        let dns = dns::configure(py, self.dns_refresh.as_ref(), self.dns_servers)?;
        let configured = || {
            Ok(ClientConfig {
                policy: self.policy.parse::<Policy>()?,
                timeout: seconds("timeout", self.timeout)?,
                attempt_timeout: seconds("attempt_timeout", self.attempt_timeout)?,
                cluster: self.cluster,
                follow_views: self.follow_views,
                dns,
                cache: self.cache.then(Generation::default),
                ..ClientConfig::from_providers(providers.iter().map(String::as_str))?
            })
        };
        configured().map_err(|wrong| error::raise(py, wrong))
    }
}
