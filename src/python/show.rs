//! How contexts and nodes look to people. Only what is known is shown: a display never uses the network.

use pyo3::prelude::*;
use pyo3::types::PyAnyMethods;

use crate::naming::Name;

use super::imports::Imported;
use super::known::{self, Known};

static FORM: Imported = Imported::new("hanaming._show", "context");

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
    form(py, class, &about, &[Some(targets), view])
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
