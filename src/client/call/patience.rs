//! How long an attempt may take: its own limit, which begins when its request leaves, and more where nobody else would do
//! better.
//!
//! The limit is there so that another server is asked in time. Where there is none, or none that has less to do, a second
//! request for the same thing only makes more work for those that are slow from work. So an attempt whose connection shows
//! life may go on; one whose connection is dead silent may not, as nothing tells a slow server from a lost connection then.

use std::time::Duration;

use super::super::fleet::Fleet;
use super::Call;

impl Call {
    /// The request leaves only now, after it has waited for its turn in the client: the attempt's time begins. Gives when
    /// it ends.
    pub fn leaves(&mut self, now: Duration) -> Duration {
        let Some(current) = &mut self.current else { return self.deadline };
        let limit = current.limit.min(self.deadline.saturating_sub(now));
        current.started = now;
        current.hurried |= limit < current.limit;
        self.request.time_left = self.told_limit(limit);
        now + limit
    }

    /// What a node is told of the attempt's limit. A name that is waited for is missing until the last moment: the node's
    /// word that it is, is to come before the attempt ends and not with it.
    pub(super) fn told_limit(&self, limit: Duration) -> u32 {
        micros(if self.invocation.waits() { limit.saturating_sub(limit / 4) } else { limit })
    }

    /// The attempt's time is over, but something came on its connection since its request left: until when to wait on,
    /// where that is better than asking somebody else.
    pub fn patience(&self, fleet: &mut Fleet, now: Duration) -> Option<Duration> {
        let target = self.current.as_ref()?.target;
        if now >= self.deadline {
            return None;
        }
        let is_better_elsewhere = !self.invocation.is_pinned()
            && fleet.has_free_beside(target, &self.rounds.tried)
            && self.rounds.affords_another(fleet, now);
        (!is_better_elsewhere).then(|| now.saturating_add(self.attempt_limit).min(self.deadline))
    }
}

/// As requests say it.
fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX).max(1)
}
