//! How contexts and nodes look to people. Only what is known is shown: a display never uses the network.

use pyo3::prelude::*;
use pyo3::types::PyAnyMethods;

use crate::naming::{Name, Snapshot};
use crate::server::Node;

use super::imports::Imported;
use super::known::{self, Known};
use super::value;

static FORM: Imported = Imported::new("hanaming._show", "context");

/// Of a tree so many names are shown.
const SHOWN: usize = 40;

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

/// The same as a table, with the targets, the view and, of a node in this process, the names that it has itself.
pub fn html<'py>(py: Python<'py>, shown: &Shown<'_>) -> PyResult<Bound<'py, PyAny>> {
    let Shown { class, base, known, closed } = shown;
    let about = [
        ("root", if base.is_empty() { "the root".to_owned() } else { base.to_string() }),
        ("asks", reach(*known)),
        ("names", names(*known, *closed)),
        ("state", if shown.closed { "closed" } else { "open" }.to_owned()),
    ];
    let targets = known::targets(py, *known)?;
    let view = known::view(py, *known)?;
    let mut parts = vec![Some(targets), view];
    if let Some(node) = known.node().filter(|_| !shown.closed) {
        parts.extend(trees(py, node, base, known.is_ha())?.map(Some));
    }
    form(py, class, &about, &parts)
}

/// Whose names they are; of another process's, how they are had: what is shown asks nobody.
fn names(known: &dyn Known, closed: bool) -> String {
    let whose = if known.is_ha() { "the whole cluster's" } else { "this node's local tree's" };
    if closed || known.node().is_some() {
        return whose.to_owned();
    }
    format!("{whose}, not asked for by a display; ctx.list_bindings() is a table of them")
}

/// What stands beneath a context in the trees that a node of this process has: memory, so that nobody is asked.
pub fn trees<'py>(
    py: Python<'py>,
    node: &Node,
    base: &Name,
    is_ha: bool,
) -> PyResult<impl Iterator<Item = Bound<'py, PyAny>> + use<'py>> {
    let local = tree(py, &format!("Local tree of {}", node.name()), &node.local_tree().snapshot(), base)?;
    let cluster = if is_ha { Some(tree(py, "Cluster tree", &node.cluster_tree().snapshot(), base)?) } else { None };
    Ok(cluster.into_iter().chain([local]))
}

/// `hanaming._show.NameTree`: the first names with what is bound there, and how many there are.
fn tree<'py>(py: Python<'py>, title: &str, names: &Snapshot, base: &Name) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: Imported = Imported::new("hanaming._show", "NameTree");
    let mut rows = Vec::new();
    for (text, entry) in names.beneath(base).take(SHOWN) {
        // Each name in a tree was parsed when it was bound.
        let Ok(name) = Name::parse(text) else { continue };
        let components: Vec<String> = name.iter().skip(base.len()).map(str::to_owned).collect();
        // A server takes what it doesn't read: of a malformed value the error is shown.
        let value =
            value::from_content(py, &entry.content).unwrap_or_else(|wrong| Some(wrong.into_value(py).into_bound(py).into_any()));
        rows.push((components, entry.is_context(), value));
    }
    let all = if base.is_empty() { names.len() } else { names.beneath(base).count() };
    CLASS.get(py)?.call1((title, rows, all))
}

/// What something is as a table, with the forms of what it knows.
pub fn form<'py>(
    py: Python<'py>,
    title: &str,
    about: &[(&str, String)],
    known: &[Option<Bound<'py, PyAny>>],
) -> PyResult<Bound<'py, PyAny>> {
    FORM.get(py)?.call1((title, about.to_vec(), known.to_vec()))
}
