//! Idle connections, a few for each target.

use std::collections::BTreeMap;

use crate::transport::blocking::Connection;

use super::super::target::TargetId;

/// Idle connections kept for one target.
pub(super) const IDLE_AT_MOST: usize = 8;

/// Idle connections. The one used last is used next, so that those a busy moment made can be left to grow old.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "each call takes a connection out and puts it back: a pointer, not half a kilobyte")]
pub(super) struct Pool(BTreeMap<TargetId, Vec<Box<Connection>>>);

impl Pool {
    pub(super) fn take(&mut self, target: TargetId) -> Option<Box<Connection>> {
        self.0.get_mut(&target)?.pop()
    }

    pub(super) fn put(&mut self, target: TargetId, connection: Box<Connection>) {
        let idle = self.0.entry(target).or_default();
        if idle.len() < IDLE_AT_MOST {
            idle.push(connection);
        }
    }

    /// Looks at the idle connections of one target: those that have ended are dropped, and each that stands is given to
    /// `heard`. Gives whether one stands.
    pub(super) fn look(&mut self, target: TargetId, mut heard: impl FnMut(&mut Connection)) -> bool {
        let Some(idle) = self.0.get_mut(&target) else { return false };
        idle.retain_mut(|connection| !connection.is_stale());
        for connection in idle.iter_mut() {
            heard(connection);
        }
        !idle.is_empty()
    }

    /// Drops the connections of one target.
    pub(super) fn drop_all(&mut self, target: TargetId) {
        self.0.remove(&target);
    }

    /// Drops the connections of targets for which `keep` doesn't hold.
    pub(super) fn retain(&mut self, keep: impl Fn(TargetId) -> bool) {
        self.0.retain(|target, _| keep(*target));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
