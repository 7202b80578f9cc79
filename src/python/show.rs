//! How contexts and nodes look to people. Only what is known is shown: a display never uses the network.

use pyo3::prelude::*;
use pyo3::types::PyAnyMethods;

use crate::naming::Name;

use super::imports::Imported;
use super::known::{self, Known};
use super::node::PyNode;
use super::records;

static HTML_CONTEXT: Imported = Imported::new("hanaming.html", "context");

/// What is shown of a context.
pub struct Shown<'a> {
    /// The name of its class.
    pub class: String,
    /// Its name from the root.
    pub base: &'a Name,
    /// Whether it can't be used any longer.
    pub closed: bool,
    /// What its session knows.
    pub known: &'a dyn Known,
}

/// `<HAContext 'a/b' over 127.0.0.1:11100>`.
pub fn repr(shown: &Shown<'_>) -> String {
    let Shown { class, base, .. } = shown;
    let place = if base.is_empty() { String::new() } else { format!(" '{base}'") };
    let closed = if shown.closed { ", closed" } else { "" };
    format!("<{class}{place} {}{closed}>", reach(shown.known))
}

/// Whom it asks, in words.
pub fn reach(known: &dyn Known) -> String {
    match known.node() {
        Some(node) if known.is_ha() => format!("through {} in process", node.name()),
        Some(node) => format!("of {} in process", node.name()),
        None => {
            let targets: Vec<String> = known.known_targets().iter().map(|(target, _)| target.label.to_string()).collect();
            match targets.as_slice() {
                [one] if !known.is_ha() => format!("of {one}"),
                [one] => format!("over {one}"),
                [first, others @ ..] => format!("over {first} and {} more", others.len()),
                [] => "over no target".to_owned(),
            }
        }
    }
}

/// The same as a table, with the targets and the view.
pub fn html<'py>(py: Python<'py>, shown: &Shown<'_>) -> PyResult<Bound<'py, PyAny>> {
    let Shown { class, base, known, .. } = shown;
    let about = [
        ("root", if base.is_empty() { "the root".to_owned() } else { base.to_string() }),
        ("asks", reach(*known)),
        ("names", if known.is_ha() { "the whole cluster's" } else { "this node's local tree's" }.to_owned()),
        ("state", if shown.closed { "closed" } else { "open" }.to_owned()),
    ];
    let targets = known::targets(py, *known)?;
    let view = known::view(py, *known)?;
    HTML_CONTEXT.get(py)?.call1((class.as_str(), about.to_vec(), targets, view))
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
