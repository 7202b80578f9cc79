//! The attempts of the last finished call, of each task.
//!
//! Tasks are looked up by their address and held weakly: an entry whose task has died is of nobody, also where another
//! task has come to lie at the same place.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyWeakrefMethods, PyWeakrefReference};

use crate::client::Trail;

/// Dead tasks' entries are swept out whenever there are so many entries more than were alive the last time.
const ROOM: usize = 256;

/// What each task's last finished call went through.
#[derive(Debug)]
pub(super) struct Explained {
    tasks: BTreeMap<usize, (Py<PyWeakrefReference>, Trail)>,
    /// Of calls made outside of any task, from a callback.
    no_task: Trail,
    /// The task whose call finished last, and may be dead.
    last: Option<usize>,
    sweep_at: usize,
}

impl Explained {
    pub(super) fn new() -> Self {
        Self { tasks: BTreeMap::new(), no_task: Trail::default(), last: None, sweep_at: ROOM }
    }

    /// A call of this task has finished.
    pub(super) fn tell(&mut self, py: Python<'_>, task: Option<&Bound<'_, PyAny>>, trail: Trail) {
        self.last = task.map(|task| task.as_ptr() as usize);
        let (Some(task), Some(key)) = (task, self.last) else {
            self.no_task = trail;
            return;
        };
        if let Some((of, known)) = self.tasks.get_mut(&key)
            && of.bind(py).upgrade().is_some_and(|of| of.is(task))
        {
            *known = trail;
            return;
        }
        // A task of another loop's making that can't be referred to weakly goes unexplained.
        let Ok(weak) = PyWeakrefReference::new(task) else { return };
        self.tasks.insert(key, (weak.unbind(), trail));
        if self.tasks.len() >= self.sweep_at {
            self.tasks.retain(|_, (of, _)| of.bind(py).upgrade().is_some());
            self.sweep_at = self.tasks.len() + ROOM;
        }
    }

    /// What this task's last finished call went through; nothing where there was none.
    pub(super) fn of(&self, py: Python<'_>, task: Option<&Bound<'_, PyAny>>) -> Option<&Trail> {
        let Some(task) = task else { return Some(&self.no_task) };
        let (of, trail) = self.tasks.get(&(task.as_ptr() as usize))?;
        of.bind(py).upgrade().is_some_and(|of| of.is(task)).then_some(trail)
    }

    /// What the call that finished last went through, of whichever task.
    pub(super) fn last(&self) -> Option<&Trail> {
        match self.last {
            None => Some(&self.no_task),
            Some(key) => self.tasks.get(&key).map(|(_, trail)| trail),
        }
    }
}
