//! The table of a fleet's targets.

use super::target::{Target, TargetId};

/// Targets in the order of their numbers, which only grow.
#[derive(Debug, Default)]
pub(super) struct Roster(Vec<Target>);

impl Roster {
    pub(super) fn get(&self, id: TargetId) -> Option<&Target> {
        self.0.binary_search_by_key(&id, |target| target.id).ok().map(|at| &self.0[at])
    }

    pub(super) fn get_mut(&mut self, id: TargetId) -> Option<&mut Target> {
        self.0.binary_search_by_key(&id, |target| target.id).ok().map(|at| &mut self.0[at])
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Target> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Target> {
        self.0.iter_mut()
    }

    /// Adds a target whose number is above all others'.
    pub(super) fn push(&mut self, target: Target) {
        debug_assert!(self.0.last().is_none_or(|last| last.id < target.id));
        self.0.push(target);
    }

    pub(super) fn retain(&mut self, keep: impl FnMut(&Target) -> bool) {
        self.0.retain(keep);
    }
}
