//! How contexts and nodes look to people. Only what is known is shown: a display never uses the network.

use pyo3::prelude::*;
use pyo3::types::PyAnyMethods;

use super::context::PyContext;
use super::ha_context;
use super::imports::Imported;
use super::node::PyNode;
use super::records;
use super::session::{Reach, Session};

static HTML_CONTEXT: Imported = Imported::new("hanaming.html", "context");

/// `<HAContext 'a/b' over 127.0.0.1:11100>`.
pub fn repr(context: &Bound<'_, PyContext>) -> PyResult<String> {
    let class = context.get_type().name()?.to_string();
    let context = context.get();
    let base = context.base();
    let place = if base.is_empty() { String::new() } else { format!(" '{base}'") };
    let closed = if context.is_closed() { ", closed" } else { "" };
    Ok(format!("<{class}{place} {}{closed}>", reach(context.session())))
}

fn reach(session: &Session) -> String {
    match session.reach() {
        Reach::Process(process) if session.is_ha() => format!("through {} in process", process.node.name()),
        Reach::Process(process) => format!("of {} in process", process.node.name()),
        Reach::Network(client) => {
            let targets: Vec<String> = client.targets().iter().map(|(target, _)| target.label.to_string()).collect();
            match targets.as_slice() {
                [one] if !session.is_ha() => format!("of {one}"),
                [one] => format!("over {one}"),
                [first, others @ ..] => format!("over {first} and {} more", others.len()),
                [] => "over no target".to_owned(),
            }
        }
    }
}

/// The same as a table, with the targets and the view.
pub fn html<'py>(context: &Bound<'py, PyContext>) -> PyResult<Bound<'py, PyAny>> {
    let py = context.py();
    let class = context.get_type().name()?.to_string();
    let context = context.get();
    let base = context.base();
    let about = [
        ("root", if base.is_empty() { "the root".to_owned() } else { base.to_string() }),
        ("asks", reach(context.session())),
        ("names", if context.session().is_ha() { "the whole cluster's" } else { "this node's local tree's" }.to_owned()),
        ("state", if context.is_closed() { "closed" } else { "open" }.to_owned()),
    ];
    let targets = ha_context::targets(py, context.session())?;
    let view = ha_context::view(py, context.session())?;
    HTML_CONTEXT.get(py)?.call1((class, about.to_vec(), targets, view))
}

/// `<Node n1 at 127.0.0.1:11100, live>`.
pub fn node_repr(node: &PyNode) -> String {
    format!("<Node {} at {}, {}>", node.node().name(), node.node().endpoint(), node.state())
}

/// The same as a table, with the view.
pub fn node_html<'py>(py: Python<'py>, node: &PyNode) -> PyResult<Bound<'py, PyAny>> {
    let status = node.node().status();
    let about = [
        ("address", node.node().endpoint().to_string()),
        ("cluster", status.view.cluster().to_owned()),
        ("state", node.state().to_owned()),
        ("names in its local tree", status.local_names.to_string()),
        ("names in the cluster tree", status.cluster_names.to_string()),
        ("requests served", status.requests.to_string()),
    ];
    let title = format!("Node {}", node.node().name());
    let view = records::view(py, &node.node().view())?;
    HTML_CONTEXT.get(py)?.call1((title, about.to_vec(), Vec::<u8>::new(), view))
}
