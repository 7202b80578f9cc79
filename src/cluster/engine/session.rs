//! Clients who have seen more than this node, and what it missed when it stood still (3.5).
//!
//! A node that is behind a client tries to catch up for a moment, and refuses otherwise. One that stood still (its
//! process was stopped, its machine slept) doesn't know what the others did meanwhile, nor that they may have given it
//! up: it *wakes* by asking them, and is behind everybody before one of them has told.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::time::Duration;

use crate::cluster::reply::{Refusal, Reply};
use crate::cluster::rules::Rule;
use crate::cluster::vector::Seen;
use crate::protocol::OperationId;
use crate::topology::NodeId;

use super::timer::Timer;
use super::{Engine, Output};

/// Who waits for this node to catch up.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// This node stood still, and no peer has told it yet what it missed.
    is_waking: bool,
    /// The last beat before that: for one freeze it wakes once.
    last_beat_before: Duration,
    /// Readers, and what they have seen.
    ahead: BTreeMap<u64, Seen>,
    /// Requests whose clients have seen more.
    ahead_requests: BTreeSet<OperationId>,
    /// Peers will be asked soon for what those have seen.
    asks_around: bool,
}

impl Engine {
    /// Whether this node stood still and does not know yet what it missed: until then it serves nobody.
    pub fn is_waking(&self) -> bool {
        self.sessions.is_waking
    }

    /// Whether this node may answer somebody who has seen that much.
    pub fn is_current(&self, token: &Seen) -> bool {
        !self.sessions.is_waking && self.replica.seen().includes(token)
    }

    /// This node stood still for longer than its pulse allows. The others may have gone on without it.
    pub(super) fn wake_up(&mut self) {
        let is_new = mem::replace(&mut self.sessions.last_beat_before, self.last_beat) != self.last_beat;
        if is_new && self.peers().next().is_some() && self.rules.hold(Rule::FrozenCatchesUp) {
            self.sessions.is_waking = true;
            // What is answered now was asked before.
            for peer in self.peers().collect::<Vec<_>>() {
                self.pull_anew_from(peer);
            }
        }
    }

    /// A peer has told this node all that it missed.
    pub(super) fn told_by(&mut self, peer: NodeId) {
        if self.live.contains(&peer) {
            self.sessions.is_waking = false;
        }
    }

    /// A client wants to read what is no older than what it has seen.
    pub(super) fn read(&mut self, asker: u64, token: Seen) {
        if self.is_current(&token) {
            self.outputs.push(Output::Readable { asker, is_current: true });
            return;
        }
        self.sessions.ahead.insert(asker, token);
        self.timers.add(self.now + self.timing.catch_up, Timer::StillStale(asker));
        self.ask_around_soon();
    }

    /// Whether a request has to wait until this node has caught up with its client; it does so then.
    pub(super) fn waits_for_token(&mut self, operation: OperationId, token: &Seen) -> bool {
        if self.is_current(token) || !self.rules.hold(Rule::TokenChecked) {
            return false;
        }
        self.sessions.ahead_requests.insert(operation);
        self.timers.add(self.now + self.timing.catch_up, Timer::StillBehind(operation));
        self.ask_around_soon();
        true
    }

    /// What a client has seen and this node has not is most likely on its way here. Only where it does not arrive, others
    /// are asked.
    fn ask_around_soon(&mut self) {
        if !mem::replace(&mut self.sessions.asks_around, true) {
            self.timers.add(self.now + self.timing.on_its_way, Timer::AskAround);
        }
    }

    pub(super) fn ask_around(&mut self) {
        self.sessions.asks_around = false;
        if self.sessions.ahead.is_empty() && self.sessions.ahead_requests.is_empty() {
            return;
        }
        for peer in self.peers().filter(|peer| !self.pulls.has(*peer)).collect::<Vec<_>>() {
            self.pull_from(peer);
        }
        self.ask_around_soon();
    }

    /// After each step: this node has perhaps caught up with those who wait for that.
    pub(super) fn recheck_ahead(&mut self) {
        // Where nobody else serves, nobody knows more.
        if self.peers().next().is_none() {
            self.sessions.is_waking = false;
        }
        if self.sessions.is_waking || (self.sessions.ahead.is_empty() && self.sessions.ahead_requests.is_empty()) {
            return;
        }
        let (seen, outputs) = (self.replica.seen(), &mut self.outputs);
        self.sessions.ahead.retain(|&asker, token| {
            let is_current = seen.includes(token);
            if is_current {
                outputs.push(Output::Readable { asker, is_current });
            }
            !is_current
        });
        let is_current = |operation: &&OperationId| self.has_token_of(**operation);
        for operation in self.sessions.ahead_requests.iter().filter(is_current).copied().collect::<Vec<_>>() {
            self.sessions.ahead_requests.remove(&operation);
            self.route(operation);
        }
    }

    pub(super) fn still_stale(&mut self, asker: u64) {
        if self.sessions.ahead.remove(&asker).is_some() {
            self.outputs.push(Output::Readable { asker, is_current: false });
        }
    }

    pub(super) fn still_behind(&mut self, operation: OperationId) {
        if self.sessions.ahead_requests.remove(&operation) {
            self.answer(operation, &Reply::Refused(Refusal::Behind));
        }
    }
}
