//! What a target's answers, and their absence, say of it.
//!
//! Only what was *begun* after a target's last failure says something new: sixty-four calls that lose one server at the
//! same moment are one failure, not sixty-four.

use std::time::Duration;

use crate::discovery::Hint;
use crate::protocol::{Refusal, RefusalReason, Welcome};
use crate::topology::{Endpoint, MemberState};
use crate::transport::{TransportError, TransportErrorKind};

use super::super::backoff;
use super::super::latency::Latency;
use super::super::session::Extent;
use super::super::target::{Health, Target, TargetId};
use super::{Fleet, Only};

/// A missing answer within less than this says little of the target: the caller had no time.
const SILENCE: Duration = Duration::from_millis(100);
/// So many of them in a row count as silence all the same.
const SHORT_MISSES: u32 = 3;
/// How long a server that refuses without saying for how long is left alone.
const REFUSED_FOR: Duration = Duration::from_millis(100);
/// How long a server is left alone that turned a request away and could not say more.
const TURNED_AWAY_FOR: Duration = Duration::from_secs(1);
/// A server can't ask to be left alone for longer.
const REFUSED_FOR_AT_MOST: Duration = Duration::from_secs(10);

impl Fleet {
    /// The target answered a request that was begun at `started`.
    pub(in super::super) fn answered(&mut self, id: TargetId, started: Duration, now: Duration) {
        if let Some(target) = self.roster.get_mut(id) {
            target.latency.sample(now, now.saturating_sub(started));
        }
        self.well(id, started, now);
    }

    /// The target gave some sign of life to what was begun at `started`; how fast it was says nothing.
    pub(in super::super) fn well(&mut self, id: TargetId, started: Duration, now: Duration) {
        let Some(target) = self.roster.get_mut(id) else { return };
        target.heard = now;
        target.answered = Some(now);
        target.misses = 0;
        target.doubts = 0;
        let taken_back = match target.health {
            Health::Good => return,
            Health::Untried | Health::Unproven { .. } | Health::Failed { .. } => true,
            // A server that is leaving still finishes what it had begun.
            Health::Refusing { since, .. } => started >= since,
        };
        if taken_back {
            self.recover(id, now);
        }
    }

    /// An attempt that was begun at `started` broke.
    pub(in super::super) fn broke(&mut self, id: TargetId, error: &TransportError, started: Duration, now: Duration) {
        if let TransportErrorKind::Rejected(fault) = &error.kind
            && let Some(refusal) = &fault.refusal
        {
            self.refused(id, refusal, started, now);
            return;
        }
        if error.kind == TransportErrorKind::Cancelled {
            return;
        }
        if matches!(error.kind, TransportErrorKind::TimedOut(_)) {
            self.silent(id, started, now);
        } else {
            self.fail(id, started, now);
        }
    }

    /// The target did not answer what was begun at `started` in time.
    pub(in super::super) fn silent(&mut self, id: TargetId, started: Duration, now: Duration) {
        let Some(target) = self.roster.get_mut(id) else { return };
        if target.answered.is_some_and(|answered| answered > started) {
            // It answers others: it is slow.
            return;
        }
        if now.saturating_sub(started) < SILENCE {
            target.misses += 1;
            if target.misses < SHORT_MISSES {
                return;
            }
        }
        self.fail(id, started, now);
    }

    /// The target turned away a request that was begun at `started`, and did not say for how long it does so.
    pub(in super::super) fn turned_away(&mut self, id: TargetId, reason: RefusalReason, started: Duration, now: Duration) {
        if self.roster.get(id).is_some_and(|target| matches!(target.health, Health::Failed { since, .. } if started < since)) {
            return;
        }
        self.leave_alone(id, reason, TURNED_AWAY_FOR, now);
    }

    /// The target refused a request that was begun at `started`.
    pub(in super::super) fn refused(&mut self, id: TargetId, refusal: &Refusal, started: Duration, now: Duration) {
        if refusal.reason == RefusalReason::Closed {
            self.fail(id, started, now);
        } else {
            let asked_for = Duration::from_millis(u64::from(refusal.retry_after)).min(REFUSED_FOR_AT_MOST);
            let after = if asked_for.is_zero() { REFUSED_FOR } else { asked_for };
            self.leave_alone(id, refusal.reason, after, now);
        }
        if let Some(view) = &refusal.view {
            self.saw_view(id, view, now);
        }
    }

    /// Targets to probe now: connect, say hello, and tell the outcome with [`probed`](Self::probed). A target counts as
    /// being probed until then.
    pub fn probes_due(&mut self, now: Duration) -> Vec<(TargetId, Endpoint)> {
        let due = self.roster.iter_mut().filter(|target| !target.probing && probe_at(target).is_some_and(|at| at <= now));
        due.map(|target| {
            target.probing = true;
            (target.id, target.endpoint.clone())
        })
        .collect()
    }

    /// The outcome of a probe that was begun at `started`.
    pub fn probed(&mut self, id: TargetId, outcome: Result<&Welcome, &TransportError>, started: Duration, now: Duration) {
        let Some(target) = self.roster.get_mut(id) else { return };
        target.probing = false;
        match outcome {
            Ok(welcome) => {
                if welcome.introduction.member.state == MemberState::Live {
                    self.answered(id, started, now);
                }
                self.welcomed(id, welcome, now);
            }
            Err(error) => self.broke(id, error, started, now),
        }
        self.alarm = true;
    }

    /// Whether the target took a connection that was begun at `started`, which is all that can be asked of a server whose
    /// protocol isn't known. It's taken back on trust: where it fails again it is left alone for longer.
    pub fn connected(&mut self, id: TargetId, taken: bool, started: Duration, now: Duration) {
        let Some(target) = self.roster.get_mut(id) else { return };
        target.probing = false;
        self.alarm = true;
        if !taken {
            self.fail(id, started, now);
            return;
        }
        match target.health {
            Health::Failed { failures, since, .. } if started >= since => target.doubts = failures,
            Health::Refusing { since, .. } if started >= since => {}
            Health::Unproven { .. } => {}
            _ => return,
        }
        target.health = Health::Untried;
        self.changed(now);
    }

    pub(super) fn next_probe(&self) -> Option<Duration> {
        self.roster.iter().filter(|target| !target.probing).filter_map(probe_at).min()
    }

    /// Takes what a server said of itself.
    pub(super) fn introduce(&mut self, id: TargetId, welcome: &Welcome, now: Duration) {
        let member = &welcome.introduction.member;
        let Some(target) = self.roster.get_mut(id) else { return };
        let target_endpoint = target.endpoint.clone();
        if target.node != Some((member.id, true)) {
            if target.node.is_some_and(|(node, _)| node != member.id) {
                target.extent = Extent::default();
            }
            target.node = Some((member.id, true));
            target.node_name = Some(member.name.as_str().into());
            self.relist_on_change = true;
        }
        match member.state {
            MemberState::Joining => self.leave_alone(id, RefusalReason::Joining, REFUSED_FOR, now),
            MemberState::Quiescing => self.leave_alone(id, RefusalReason::Quiescing, REFUSED_FOR, now),
            MemberState::Live if target.health == Health::Untried => target.health = Health::Good,
            MemberState::Live => {}
        }
        if self.only == Only::Whoever {
            self.only = Only::This(target_endpoint);
            self.relist_on_change = true;
        }
        if self.relist_on_change {
            self.relist(now);
        }
    }

    /// No connection could be made, begun at `started`, to a server that this client stays with.
    pub fn unreachable(&mut self, id: TargetId, error: &TransportError, started: Duration, now: Duration) {
        self.broke(id, error, started, now);
        self.alarm = true;
    }

    fn leave_alone(&mut self, id: TargetId, reason: RefusalReason, after: Duration, now: Duration) {
        let Some(target) = self.roster.get_mut(id) else { return };
        target.heard = now;
        target.health = Health::Refusing { reason, since: now, probe_at: now + backoff::jittered(after, &mut self.rng) };
        self.changed(now);
    }

    /// The target failed in something begun at `started`.
    pub(in super::super) fn fail(&mut self, id: TargetId, started: Duration, now: Duration) {
        let Some(target) = self.roster.get_mut(id) else { return };
        let failures = match target.health {
            Health::Failed { since, .. } if started < since => return,
            Health::Failed { failures, .. } => failures.saturating_add(1),
            _ => target.doubts.saturating_add(1),
        };
        target.misses = 0;
        // Who comes back may have become another, and comes back as a newcomer.
        target.latency = Latency::default();
        target.extent = Extent::default();
        target.health = Health::Failed { failures, since: now, probe_at: now + backoff::delay(failures, &mut self.rng) };
        self.doubt_lists(id, now);
        self.relist_on_change |= self.retire_views(now);
        self.changed(now);
    }

    /// A target failed: the lists that have it may be others by now, the more so where nobody else on them is left.
    fn doubt_lists(&mut self, id: TargetId, now: Duration) {
        let Some(asked) = self.roster.get(id).map(|target| target.asked.clone()) else { return };
        for question in &asked {
            let on_it = |target: &&Target| !target.draining && target.asked.contains(question);
            let all_failed = self.roster.iter().filter(on_it).all(|target| matches!(target.health, Health::Failed { .. }));
            let hint = if all_failed { Hint::Exhausted } else { Hint::Failed };
            self.alarm |= self.sources.hint(std::slice::from_ref(question), hint, now);
        }
    }

    fn recover(&mut self, id: TargetId, now: Duration) {
        let Some(target) = self.roster.get_mut(id) else { return };
        let untried = target.health == Health::Untried;
        target.health = Health::Good;
        if !untried {
            target.announced = None;
            self.changed(now);
        }
    }

    /// Some target's health has changed.
    fn changed(&mut self, now: Duration) {
        self.revision += 1;
        self.alarm = true;
        if self.relist_on_change {
            self.relist(now);
        } else {
            self.rotate(now);
        }
    }
}

fn probe_at(target: &Target) -> Option<Duration> {
    match target.health {
        Health::Failed { probe_at, .. } | Health::Refusing { probe_at, .. } | Health::Unproven { probe_at }
            if !target.draining =>
        {
            Some(probe_at)
        }
        _ => None,
    }
}
