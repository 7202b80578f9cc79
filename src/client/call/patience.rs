//! How long an attempt may take: its own limit, which begins when its request leaves, and more where nobody else would do
//! better.
//!
//! The limit is there so that another server is asked in time. Where there is none, or none that has less to do, a second
//! request for the same thing only makes more work for those that are slow from work. So an attempt whose connection shows
//! life may go on; one whose connection is dead silent may not, as nothing tells a slow server from a lost connection then.
//! Nor may it go on for ever: a reply can be lost although others come, and then asking again is all that helps.

use std::time::Duration;

use super::super::fleet::Fleet;
use super::Call;

/// Where somebody else is known, though busy as well, an attempt may take so many times its limit.
const AT_MOST: u32 = 3;

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
        let current = self.current.as_ref()?;
        let (target, end) = (current.target, current.started.saturating_add(self.most(fleet)).min(self.deadline));
        if now >= end {
            return None;
        }
        let is_better_elsewhere = !self.invocation.is_pinned()
            && fleet.has_free_beside(target, &self.rounds.tried)
            && self.rounds.affords_another(fleet, now);
        (!is_better_elsewhere).then(|| now.saturating_add(self.attempt_limit).min(end))
    }

    /// How long one attempt may take at the very most.
    fn most(&self, fleet: &Fleet) -> Duration {
        if !self.need().idempotent {
            // It's not sent again in any case.
            self.timeout
        } else if fleet.knows_others() && !self.invocation.is_pinned() {
            self.attempt_limit.saturating_mul(AT_MOST)
        } else {
            self.timeout.saturating_sub(self.timeout / 4).max(self.attempt_limit)
        }
    }
}

/// As requests say it.
fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX).max(1)
}
