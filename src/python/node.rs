//! `hanaming.Node`: a server in this process.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use crate::client::ClientConfig;
use crate::client::config::seconds;
use crate::discovery::{Source, provider_url};
use crate::naming::{ErrorKind, Name, NamingError};
use crate::protocol::Scope;
use crate::server::{Node, ServerConfig};
use crate::topology::{DEFAULT_PORT, Endpoint};

use super::argument;
use super::context::PyContext;
use super::error::{self, entered, guarded};
use super::parameter::{
    Advertise, Cluster, DataDir, Insecure, Listen, Mdns, MdnsInterface, NameOfNode, NodeToForget, Time, Weight, flag, number,
    some_path, some_string, some_text, text,
};
use super::registration::{Offer, PyRegistration};
use super::session::Session;
use super::{process, records, registration, show};

/// One server of a cluster, in this process. It starts at once and is ready when it is made.
///
/// It listens on a free loopback port unless told otherwise; beyond loopback `insecure=True` is needed, as nothing is
/// encrypted and nobody authenticated. `seeds` are addresses of nodes through which it meets the cluster. With `data_dir`
/// (a folder of its own) it keeps the cluster tree on disk, and has it again when it is started again. With `mdns` it
/// announces itself by multicast, by all interfaces or by `mdns_interface` alone, and clients find it as
/// `hn+mdns://cluster`. Raises `ConfigurationError`, or `TimeLimitExceededError` where it can't join in time.
#[pyclass(name = "Node", module = "hanaming", frozen, weakref)]
pub struct PyNode {
    node: Node,
    /// Handed out again and again, so that what it remembers of hot names is used.
    local: Mutex<Option<Py<PyContext>>>,
}

impl PyNode {
    /// The node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Where it stands in its life, in a word.
    pub fn state(&self) -> &'static str {
        if self.node.is_closed() {
            return "closed";
        }
        let view = self.node.view();
        view.member(self.node.id()).map_or("gone", |member| member.state.as_str())
    }

    fn lock_local(&self) -> MutexGuard<'_, Option<Py<PyContext>>> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The context handed out before, unless it was closed.
    fn open_local<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyContext>> {
        self.lock_local().as_ref().filter(|context| !context.get().is_closed()).map(|open| open.bind(py).clone())
    }

    /// The node, unless it can't be used any longer.
    pub fn usable(&self, py: Python<'_>) -> PyResult<&Node> {
        let what = if self.node.is_forked() {
            "runs in the parent process; start another one in this process"
        } else if self.node.is_closed() {
            "is closed"
        } else {
            return Ok(&self.node);
        };
        let message = format!("node {} {what}", self.node.name());
        Err(error::raise(py, NamingError::new(ErrorKind::ContextClosed, message)))
    }
}

#[pymethods]
impl PyNode {
    #[new]
    #[pyo3(signature = (
        name, *, listen = "127.0.0.1:0", advertise = None, seeds = None, cluster = "default", data_dir = None,
        mdns = false, mdns_interface = None, insecure = false, _sources = None, _resync_from_peers = false,
    ), text_signature = "(name, *, listen='127.0.0.1:0', advertise=None, seeds=(), cluster='default', data_dir=None, mdns=False, mdns_interface=None, insecure=False, _sources=None, _resync_from_peers=False)")]
    #[expect(clippy::too_many_arguments, reason = "the public signature")]
    #[expect(clippy::used_underscore_binding, reason = "`serve` alone says where settings are from, and gives damaged data up")]
    fn py_new(
        py: Python<'_>,
        #[pyo3(from_py_with = text::<NameOfNode>)] name: &str,
        #[pyo3(from_py_with = text::<Listen>)] listen: &str,
        #[pyo3(from_py_with = some_text::<Advertise>)] advertise: Option<&str>,
        seeds: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = text::<Cluster>)] cluster: &str,
        #[pyo3(from_py_with = some_path::<DataDir>)] data_dir: Option<PathBuf>,
        #[pyo3(from_py_with = flag::<Mdns>)] mdns: bool,
        #[pyo3(from_py_with = some_string::<MdnsInterface>)] mdns_interface: Option<String>,
        #[pyo3(from_py_with = flag::<Insecure>)] insecure: bool,
        _sources: Option<BTreeMap<String, String>>,
        _resync_from_peers: bool,
    ) -> PyResult<Self> {
        entered(|| {
            let seeds = seeds.map_or_else(|| Ok(Vec::new()), |seeds| argument::texts(seeds, "seeds", SEEDS))?;
            let configured = || {
                Ok(ServerConfig {
                    listen: endpoint(listen)?,
                    advertise: advertise.map(endpoint).transpose()?,
                    seeds: met_through(&seeds)?,
                    cluster: cluster.to_owned(),
                    data_dir,
                    resync_from_peers: _resync_from_peers,
                    mdns,
                    mdns_interface,
                    insecure,
                    sources: _sources.unwrap_or_default(),
                    ..ServerConfig::new(name)
                })
            };
            let config: ServerConfig = configured().map_err(|wrong: NamingError| error::raise(py, wrong))?;
            let (started, raised) =
                process::interruptible(py, |give_up| guarded(|| Node::start_unless(config, give_up)).and_then(|started| started));
            if let Some(raised) = raised {
                return Err(raised);
            }
            let node = started.map_err(|wrong| error::raise(py, wrong))?;
            // Ctrl-C while it started.
            py.check_signals()?;
            Ok(Self { node, local: Mutex::new(None) })
        })
    }

    /// Its name, unique in its cluster.
    #[getter]
    fn name(&self) -> &str {
        self.node.name()
    }

    /// The address under which it is reached, as `host:port`, with the real port.
    #[getter]
    fn address(&self) -> String {
        self.node.endpoint().to_string()
    }

    /// The same as a provider string.
    #[getter]
    fn url(&self) -> String {
        format!("hn://{}", self.node.endpoint())
    }

    /// The address that it listens at, as `host:port`: another one than `address` where it stands behind something.
    #[getter]
    fn _listening(&self) -> String {
        self.node.listening().to_string()
    }

    /// The members as the node sees them: a `View`.
    #[getter]
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| records::view(py, &self.usable(py)?.view()))
    }

    /// Its local tree: a `Context`, in process.
    #[getter]
    fn local<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyContext>> {
        entered(|| {
            let node = self.usable(py)?;
            if let Some(open) = self.open_local(py) {
                return Ok(open);
            }
            // Made without the lock: making an object may let another thread run, which could ask for the same.
            let session = Session::in_process(node, Scope::Local, ClientConfig::DEFAULT_TIMEOUT);
            let made = Bound::new(py, PyContext::root(py, session))?;
            if let Some(open) = self.open_local(py) {
                return Ok(open);
            }
            let before = self.lock_local().replace(made.clone().unbind());
            drop(before);
            Ok(made)
        })
    }

    /// A new HA context that asks this node in process, without a network. It refuses (`ServiceUnavailableError`,
    /// completion `NO`) after `quiesce`, and raises `ContextClosedError` after `close`.
    fn context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let session = Session::in_process(self.usable(py)?, Scope::Cluster, ClientConfig::DEFAULT_TIMEOUT);
            PyContext::root(py, session).into_object(py)
        })
    }

    /// Offers a service: binds `<name>/<node name>` in the local tree until the registration is closed or the node
    /// ends. `weight` is the instance's share relative to others', positive and finite; `metadata` a `dict` of values.
    ///
    /// Raises `NameAlreadyBoundError` where this node offers the service already, `ValueError` for a weight that is
    /// none, `TypeError` for what is no value.
    #[pyo3(signature = (name, value, *, weight = 1.0, metadata = None))]
    fn register(
        &self,
        name: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number::<Weight>)] weight: f64,
        metadata: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyRegistration> {
        entered(|| registration::register(self.usable(name.py())?, name, &Offer { value, weight, metadata }))
    }

    /// Says that a dead member never comes back: no node counts it any longer. One that is there is refused.
    fn forget(&self, py: Python<'_>, #[pyo3(from_py_with = text::<NodeToForget>)] node: &str) -> PyResult<()> {
        entered(|| self.context(py)?.call_method1("forget", (node,)).map(drop))
    }

    /// What is dubious in the whole cluster: a `CheckReport`, falsy where nothing is.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| self.context(py)?.call_method0("check"))
    }

    /// Leaves the cluster: refuses new requests, finishes those in flight, for at most `timeout` seconds. The node
    /// stays, and refuses, until it is closed. Raises `TimeLimitExceededError` where requests were cut.
    #[pyo3(signature = (*, timeout = 30.0))]
    fn quiesce(&self, py: Python<'_>, #[pyo3(from_py_with = number::<Time>)] timeout: f64) -> PyResult<()> {
        entered(|| {
            let node = self.usable(py)?;
            let within = seconds("timeout", timeout).map_err(|wrong| error::raise(py, wrong))?;
            let (left, raised) =
                process::interruptible(py, |give_up| guarded(|| node.quiesce_unless(within, give_up)).and_then(|left| left));
            if let Some(raised) = raised {
                return Err(raised);
            }
            py.check_signals()?;
            left.map_err(|wrong| error::raise(py, wrong))
        })
    }

    /// Ends the node at once. Doing so again does nothing.
    fn close(&self, py: Python<'_>) {
        process::without_interpreter(py, || self.node.close());
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        entered(|| {
            slf.get().usable(slf.py())?;
            Ok(slf)
        })
    }

    #[pyo3(signature = (kind, error, traceback))]
    #[expect(unused_variables, reason = "the protocol's parameters")]
    fn __exit__(&self, py: Python<'_>, kind: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>, traceback: &Bound<'_, PyAny>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        format!("<Node {} at {}, {}>", self.node.name(), self.node.endpoint(), self.state())
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        entered(|| {
            let status = self.node.status();
            let about = [
                ("address", self.node.endpoint().to_string()),
                ("cluster", status.view.cluster().to_owned()),
                ("state", self.state().to_owned()),
                ("names in its local tree", status.local_names.to_string()),
                ("names in the cluster tree", status.cluster_names.to_string()),
                ("requests served", status.requests.to_string()),
            ];
            let view = records::view(py, &self.node.view())?;
            let mut parts = vec![Some(view)];
            if !self.node.is_closed() {
                parts.extend(show::trees(py, &self.node, &Name::default(), true)?.map(Some));
            }
            show::form(py, &format!("Node {}", self.node.name()), &about, &parts)
        })
    }
}

/// What seeds are, in words.
const SEEDS: &str = "addresses, such as [\"127.0.0.1:11100\"]";

fn endpoint(text: &str) -> Result<Endpoint, NamingError> {
    Endpoint::parse(text, DEFAULT_PORT).map_err(|wrong| NamingError::new(ErrorKind::Configuration, wrong.to_string()))
}

/// Seeds are addresses or provider strings.
fn met_through(seeds: &[String]) -> Result<Vec<Endpoint>, NamingError> {
    let mut all = Vec::new();
    for seed in seeds {
        let read = provider_url::parse([seed.as_str()]);
        let wrong = |problem: String| NamingError::new(ErrorKind::Configuration, format!("seeds: {problem}"));
        for source in read.map_err(|error| wrong(error.to_string()))? {
            match source {
                Source::Host(endpoint) => all.push(endpoint),
                Source::Services(name) => {
                    return Err(wrong(format!("hn+srv://{name}: a node meets others at addresses; write h1:11100")));
                }
                Source::Multicast(of) => {
                    return Err(wrong(format!("{of}: a node meets others at addresses; write h1:11100")));
                }
            }
        }
    }
    Ok(all)
}
