//! What a run shows: who answered, by slices of time.

use std::time::Duration;

use crate::client::Metrics;

use super::scenario::Scenario;

/// A slice of the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// When it begins.
    pub at: Duration,
    /// How many calls each server answered.
    pub answered: Vec<u64>,
    /// How many calls failed.
    pub failed: u64,
    /// Which servers were up at its end.
    pub up: Vec<bool>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// All slices, each as long as the others.
    pub slices: Vec<Slice>,
    /// What all clients have counted.
    pub metrics: Metrics,
    /// The most moves that one client made.
    pub most_moves: u64,
    /// How many contexts each server has at the end: those whose last call it answered.
    pub contexts: Vec<u64>,
}

impl Outcome {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let servers = scenario.most_servers() as usize;
        let slice = |nth| Slice { at: width(scenario) * nth, answered: vec![0; servers], failed: 0, up: vec![false; servers] };
        let slices = (0..scenario.slices).map(slice).collect();
        Self { slices, metrics: Metrics::default(), most_moves: 0, contexts: vec![0; servers] }
    }

    /// What one client has counted.
    pub(super) fn add(&mut self, metrics: Metrics, last: Option<usize>) {
        self.metrics.refreshes += metrics.refreshes;
        self.metrics.failed_refreshes += metrics.failed_refreshes;
        self.metrics.joined += metrics.joined;
        self.metrics.drained += metrics.drained;
        self.metrics.moves += metrics.moves;
        self.most_moves = self.most_moves.max(metrics.moves);
        if let Some(last) = last {
            self.contexts[last] += 1;
        }
    }
}

/// How long a slice is.
pub(super) fn width(scenario: &Scenario) -> Duration {
    scenario.length / scenario.slices
}
