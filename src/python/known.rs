//! What is known of the servers without asking anybody: the same for both faces.

use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;

use crate::client::{Metrics, Target};
use crate::server::Node;
use crate::topology::View;

use super::records;

/// What a session knows.
pub trait Known {
    /// Whether it asks the whole cluster.
    fn is_ha(&self) -> bool;
    /// The node that it asks in this process, where it does.
    fn node(&self) -> Option<&Node>;
    /// The servers that it knows over the network, and since how long.
    fn known_targets(&self) -> Vec<(Target, Duration)>;
    /// What was counted of them.
    fn known_metrics(&self) -> Metrics;
    /// The newest view that a server told it.
    fn known_view(&self) -> Option<Arc<View>>;
}

/// The servers: `Targets`, a list of `Target`.
pub fn targets<'py>(py: Python<'py>, known: &dyn Known) -> PyResult<Bound<'py, PyAny>> {
    let rows = if let Some(node) = known.node() {
        vec![records::target_in_process(py, node)?]
    } else {
        let targets = known.known_targets();
        targets.iter().map(|(target, age)| records::target(py, target, *age)).collect::<PyResult<Vec<_>>>()?
    };
    records::targets(py, rows)
}

/// The newest view: a `View`.
pub fn view<'py>(py: Python<'py>, known: &dyn Known) -> PyResult<Option<Bound<'py, PyAny>>> {
    let view = match known.node() {
        Some(node) => Some(node.view()),
        None => known.known_view(),
    };
    view.map(|view| records::view(py, &view)).transpose()
}

/// What was counted of the servers: `Metrics`.
pub fn metrics<'py>(py: Python<'py>, known: &dyn Known) -> PyResult<Bound<'py, PyAny>> {
    records::metrics(py, known.known_metrics())
}
