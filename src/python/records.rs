//! Builds the records of `hanaming/records`: each by position, in one call.

use std::sync::Arc;
use std::time::Duration;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::client::{Freshness, Metrics, Target};
use crate::failure::Attempt;
use crate::naming::{Listed, Source};
use crate::protocol::{Became, Found, NodeStatus, Setting, TreeCopy, Written};
use crate::server::Node;
use crate::topology::{Member, View};

use super::attempts::{attempts, texts};
use super::imports::Imported;
use super::value;

fn record<'py, A: PyCallArgs<'py>>(py: Python<'py>, class: &Imported, fields: A) -> PyResult<Bound<'py, PyAny>> {
    class.get(py)?.call1(fields)
}

/// `Resolution`.
pub fn resolution<'py>(
    py: Python<'py>,
    value: &Bound<'py, PyAny>,
    found: &Found,
    elapsed: Duration,
    made: &[Attempt],
    freshness: Freshness,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Resolution");
    let version = found.version.map(|version| version.to_string());
    let fields = (
        value,
        found.source.as_str(),
        found.node.as_ref(),
        version,
        elapsed.as_secs_f64(),
        if found.asked.is_empty() { texts(py, std::slice::from_ref(&found.node))? } else { texts(py, &found.asked)? },
        attempts(py, made)?,
        freshness == Freshness::LastKnown || made.last().is_some_and(|last| last.is_stale),
    );
    record(py, &CLASS, fields)
}

/// `NameEntry`.
pub fn name_entry<'py>(py: Python<'py>, name: &str, row: &Listed) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "NameEntry");
    let content = &row.content;
    let sources = sources(py, &row.sources)?;
    let fields = (name, content.kind.as_str(), content.class_name.as_ref(), row.source.as_str(), row.node.as_ref(), sources);
    record(py, &CLASS, fields)
}

/// `Binding`.
pub fn binding<'py>(py: Python<'py>, name: &str, row: &Listed, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Binding");
    let content = &row.content;
    let sources = sources(py, &row.sources)?;
    let version = row.version.map(|version| version.to_string());
    let fields = (
        name,
        content.kind.as_str(),
        content.class_name.as_ref(),
        row.source.as_str(),
        row.node.as_ref(),
        sources,
        value,
        version,
    );
    record(py, &CLASS, fields)
}

/// `Listing`, a list.
pub fn listing<'py>(py: Python<'py>, rows: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Listing");
    record(py, &CLASS, (rows,))
}

/// `OperationStatus`.
pub fn operation_status<'py>(py: Python<'py>, became: &Became) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "OperationStatus");
    let (state, at, silent): (_, _, &[Arc<str>]) = match became {
        Became::Done { name, version } => ("done", Some((name, version)), &[]),
        Became::Pending { name, version } => ("pending", Some((name, version)), &[]),
        Became::Withdrawn => ("withdrawn", None, &[]),
        Became::Forgotten => ("forgotten", None, &[]),
        Became::Unknown { silent } => ("unknown", None, silent),
    };
    let (name, version) = at.map(|(name, version)| (name.as_str(), version.to_string())).unzip();
    record(py, &CLASS, (state, name, version, texts(py, silent)?))
}

/// `Binding` where no context is at hand to be rooted at a name: a context's value is `None`.
pub fn binding_without_context<'py>(py: Python<'py>, name: &str, row: &Listed) -> PyResult<Bound<'py, PyAny>> {
    let value = value::from_content(py, &row.content)?.unwrap_or_else(|| py.None().into_bound(py));
    binding(py, name, row, &value)
}

fn sources<'py>(py: Python<'py>, all: &[(Source, Arc<str>)]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(
        py,
        all.iter().map(|(source, node)| match source {
            Source::Cluster => PyString::intern(py, "cluster"),
            Source::Local | Source::Peer => PyString::new(py, &format!("{}:{node}", source.as_str())),
        }),
    )
}

/// `Instance`; `None` where the row is no registered instance.
pub fn instance<'py>(py: Python<'py>, row: &Listed) -> PyResult<Option<Bound<'py, PyAny>>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Instance");
    let Some(detail) = &row.content.instance else { return Ok(None) };
    let Some(value) = value::from_content(py, &row.content)? else { return Ok(None) };
    let metadata = value::decode(py, &detail.metadata)?;
    // In the cluster tree it's nobody's: it is known by its own name.
    let node = if row.source == Source::Cluster { row.component.as_str() } else { &row.node };
    let fields = (node, value, detail.weight, metadata, row.source.as_str());
    record(py, &CLASS, fields).map(Some)
}

/// `Receipt`.
pub fn receipt<'py>(py: Python<'py>, written: &Written) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Receipt");
    let version = written.version.map(|version| version.to_string());
    record(py, &CLASS, (version, texts(py, &written.acked_by)?, written.live, written.members))
}

/// `View`.
pub fn view<'py>(py: Python<'py>, view: &View) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "View");
    let members = view.members().iter().map(|one| member(py, one)).collect::<PyResult<Vec<_>>>()?;
    record(py, &CLASS, (view.id(), members))
}

/// `NodeStatus`.
pub fn node_status<'py>(py: Python<'py>, status: &NodeStatus) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "NodeStatus");
    let own = &status.introduction.member;
    let members = status.view.members().iter().map(|one| member(py, one)).collect::<PyResult<Vec<_>>>()?;
    let settings = status.settings.iter().map(|one| setting(py, one)).collect::<PyResult<Vec<_>>>()?;
    let copy = tree_copy(py, &status.copy)?;
    let who = (own.name.as_str(), own.endpoint.to_string(), own.state.as_str(), status.introduction.cluster.as_str(), members);
    let what = (
        status.local_names,
        status.cluster_names,
        status.connections,
        status.requests,
        Duration::from_millis(status.uptime).as_secs_f64(),
        &status.warnings,
        settings,
        copy,
    );
    // One tuple may have twelve fields.
    let fields = who.into_pyobject(py)?.as_sequence().concat(what.into_pyobject(py)?.as_sequence())?.to_tuple()?;
    record(py, &CLASS, fields)
}

fn tree_copy<'py>(py: Python<'py>, copy: &TreeCopy) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "TreeCopy");
    let (seen, digest) = (format!("{:016x}", copy.seen), format!("{:016x}", copy.digest));
    record(py, &CLASS, (copy.writes, seen, digest, copy.conflicts, texts(py, &copy.lagging)?))
}

fn setting<'py>(py: Python<'py>, setting: &Setting) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Setting");
    record(py, &CLASS, (setting.name.as_str(), setting.value.as_str(), setting.source.as_str()))
}

fn member<'py>(py: Python<'py>, member: &Member) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Member");
    record(py, &CLASS, (member.name.as_str(), member.endpoint.to_string(), member.state.as_str()))
}

/// `Target`.
pub fn target<'py>(py: Python<'py>, target: &Target, age: Duration) -> PyResult<Bound<'py, PyAny>> {
    let endpoint = &target.endpoint;
    let fields =
        (target.hostname.as_ref(), endpoint.host(), endpoint.port(), target.origin.as_str(), age.as_secs_f64(), target.state());
    record(py, &TARGET, fields)
}

/// `Targets`, a list.
pub fn targets<'py>(py: Python<'py>, rows: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Targets");
    record(py, &CLASS, (rows,))
}

/// `Metrics`.
pub fn metrics(py: Python<'_>, counted: Metrics) -> PyResult<Bound<'_, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming.records", "Metrics");
    let Metrics { refreshes, failed_refreshes, joined, drained, moves } = counted;
    record(py, &CLASS, (refreshes, failed_refreshes, joined, drained, moves))
}

/// `Target`, which is a node of this process.
pub fn target_in_process<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
    let endpoint = node.endpoint();
    let state = if node.is_closed() { "closed" } else { "good" };
    let age = Duration::from_millis(node.status().uptime).as_secs_f64();
    record(py, &TARGET, (endpoint.host(), endpoint.host(), endpoint.port(), "in process", age, state))
}

static TARGET: Imported = Imported::new("hanaming.records", "Target");
