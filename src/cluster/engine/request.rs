//! A client's request: is this node up to date for that client, whose name is it, and did it run before?
//!
//! *Every* execution looks up what is known of its operation id, whether the client calls it a retry or not: the
//! first message may have been delivered after all. Only a retry asks the peers too, since only then can another node
//! know more than this one.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::cluster::history::Outcome;
use crate::cluster::message::Message;
use crate::cluster::oplog::Standing;
use crate::cluster::record::{Named, Record};
use crate::cluster::reply::{Refusal, Reply, Uncertainty};
use crate::cluster::request::{Intent, Request};
use crate::cluster::rules::Rule;
use crate::cluster::vector::{Dot, Seen};
use crate::naming::Name;
use crate::protocol::OperationId;
use crate::topology::{NodeId, owner};

use super::nothing::is_nothing;
use super::timer::Timer;
use super::{Engine, Output};

/// Who waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    /// A client of this node.
    Client(u64),
    /// Another node, for a client of its own.
    Node(NodeId),
}

/// A request under way.
#[derive(Debug)]
pub(super) struct Caller {
    pub askers: Vec<Asker>,
    pub request: Request,
    pub until: Duration,
    /// The owner, where it was asked and did not answer in time.
    pub silent_owner: Option<NodeId>,
    stage: Stage,
}

/// What a request waits for.
#[derive(Debug, PartialEq, Eq)]
enum Stage {
    /// This node to catch up with the client.
    Token,
    /// The owner's answer.
    Owner,
    /// What these peers know of the operation; some had forgotten it.
    Peers { silent: BTreeSet<NodeId>, is_forgotten: bool },
    /// Nothing but its own execution.
    Execution,
}

impl Engine {
    /// A request arrives: from a client, or forwarded by the node that the client asked.
    pub(super) fn request(&mut self, asker: Asker, request: Request) {
        let operation = request.operation;
        if let Some(caller) = self.callers.get_mut(&operation)
            && caller.request.digest() == request.digest()
        {
            // It is under way here. A forwarded request that comes back is run here at last.
            caller.askers.retain(|known| *known != asker);
            caller.askers.push(asker);
            caller.request.is_retry |= request.is_retry;
            caller.until = caller.until.max(self.now + request.within);
            if caller.stage == Stage::Owner && matches!(asker, Asker::Node(_)) {
                self.start(operation);
            }
            return;
        }
        if let Some(refusal) = self.serves_nobody() {
            self.refuse(asker, operation, refusal);
            return;
        }
        let (until, token) = (self.now + request.within, request.token.clone());
        self.callers.insert(operation, Caller { askers: vec![asker], request, until, silent_owner: None, stage: Stage::Token });
        if !self.waits_for_token(operation, &token) {
            self.route(operation);
        }
    }

    /// Whether this node has seen what the operation's client has.
    pub(super) fn has_token_of(&self, operation: OperationId) -> bool {
        self.callers.get(&operation).is_none_or(|caller| self.replica.seen().includes(&caller.request.token))
    }

    /// To the owner, once; what was forwarded here is run here, whoever owns it by now.
    pub(super) fn route(&mut self, operation: OperationId) {
        let Some(caller) = self.callers.get_mut(&operation) else { return };
        let was_forwarded = caller.askers.iter().any(|asker| matches!(asker, Asker::Node(_)));
        // Who comes again has been with the owner, who is asked with all others what it knows.
        let is_retry = caller.request.is_retry && self.rules.hold(Rule::RetryStays);
        let owner = owner_among(&caller.request.name, &self.live);
        match owner.filter(|owner| *owner != self.id && !was_forwarded && !is_retry && !self.lagging.contains_key(owner)) {
            Some(owner) => {
                caller.stage = Stage::Owner;
                let request = caller.request.clone();
                self.send(owner, Message::Forward(request));
                self.timers.add(self.now + self.timing.patience, Timer::OwnerSilent(operation));
            }
            None => self.start(operation),
        }
    }

    pub(super) fn forwarded(&mut self, operation: OperationId, reply: &Reply, token: &Seen) {
        // Where it runs here meanwhile, that execution answers; the owner's version and this one are of one operation.
        let Some(caller) = self.callers.get(&operation).filter(|caller| caller.stage == Stage::Owner) else { return };
        match reply {
            // The owner is no owner now: it joins or leaves, or lacks what this node has.
            Reply::Refused(Refusal::Joining | Refusal::Quiescing | Refusal::ReadOnly | Refusal::Overloaded | Refusal::Behind) => {
                self.start(operation);
            }
            // The client has come again meanwhile, perhaps to others too: the owner did not know that, and remembers nothing.
            reply if caller.request.is_retry && is_nothing(reply) && self.rules.hold(Rule::NothingRemembered) => {
                self.start(operation);
            }
            reply => self.answer_with(operation, reply, token),
        }
    }

    /// The owner may be running it, or stand still. Whoever was waited for once is not waited for again.
    pub(super) fn owner_silent(&mut self, operation: OperationId) {
        let Some(caller) = self.callers.get_mut(&operation) else { return };
        let owner = owner_among(&caller.request.name, &self.live).filter(|owner| *owner != self.id);
        match &mut caller.stage {
            Stage::Owner => {
                caller.request.is_retry = true;
                caller.silent_owner = owner;
                if let Some(owner) = owner.filter(|_| self.rules.hold(Rule::SilentOwnerLags)) {
                    self.mark_lagging(owner);
                }
                self.start(operation);
            }
            Stage::Peers { silent, .. } => {
                if let Some(owner) = owner.filter(|owner| silent.remove(owner)) {
                    let is_last = silent.is_empty();
                    caller.silent_owner = Some(owner);
                    if is_last {
                        self.peers_silent(operation);
                    }
                }
            }
            Stage::Token | Stage::Execution => {}
        }
    }

    /// The way from a node broke: what waits for it as the owner waits no longer.
    pub(super) fn owners_gone(&mut self, owner: NodeId) {
        let is_its = |caller: &Caller| owner_among(&caller.request.name, &self.live) == Some(owner);
        let waiting = self.callers.iter().filter(|(_, caller)| caller.stage == Stage::Owner && is_its(caller));
        for operation in waiting.map(|(operation, _)| *operation).collect::<Vec<_>>() {
            self.owner_silent(operation);
        }
    }

    /// The owner of some requests may have fallen away: none of them waits for an owner any longer.
    pub(super) fn owners_silent(&mut self) {
        let waiting = self.callers.iter().filter(|(_, caller)| caller.stage == Stage::Owner);
        for operation in waiting.map(|(operation, _)| *operation).collect::<Vec<_>>() {
            if let Some(caller) = self.callers.get_mut(&operation) {
                caller.request.is_retry = true;
            }
            self.start(operation);
        }
    }

    /// Runs the request here, unless it ran already.
    fn start(&mut self, operation: OperationId) {
        let Some(caller) = self.callers.get_mut(&operation) else { return };
        caller.stage = Stage::Execution;
        // A lease is renewed as often as that is asked: nothing of it is remembered.
        if matches!(caller.request.intent, Intent::Renew { .. }) {
            self.execute(operation);
            return;
        }
        if self.is_writing(operation) || self.settle_from_memory(operation) {
            return;
        }
        let silent = self.callers.get(&operation).and_then(|caller| caller.silent_owner);
        let silent = silent.filter(|_| self.rules.hold(Rule::SilentOwnerLags));
        let peers: BTreeSet<NodeId> = self.peers().filter(|peer| Some(*peer) != silent).collect();
        let Some(caller) = self.callers.get_mut(&operation) else { return };
        if caller.request.is_retry && !peers.is_empty() && self.rules.hold(Rule::RetryAsksPeers) {
            for &peer in &peers {
                self.outputs.push(Output::Send { to: peer, message: Message::Inquire(operation) });
            }
            caller.stage = Stage::Peers { silent: peers, is_forgotten: false };
            self.timers.add(self.now + self.timing.patience, Timer::PeersSilent(operation));
            if self.rules.hold(Rule::RetryStays) {
                self.timers.add(self.now + self.timing.owner_known_silent, Timer::OwnerSilent(operation));
            }
        } else {
            self.execute(operation);
        }
    }

    /// Answers from what is known of the operation; whether that was possible.
    pub(super) fn settle_from_memory(&mut self, operation: OperationId) -> bool {
        let Some(caller) = self.callers.get(&operation) else { return true };
        if !caller.request.is_retry && !self.rules.hold(Rule::EveryExecutionChecks) {
            return false;
        }
        let (name, is_bind) = (caller.request.principal().clone(), caller.request.intent.is_exclusive());
        let digest = caller.request.digest();
        match self.replica.standing(operation, Some(&name)) {
            Standing::Unknown | Standing::Withdrawn => return false,
            Standing::Forgotten if !self.rules.hold(Rule::ForgottenRefused) => return false,
            Standing::Forgotten => {
                let receipt = self.receipt([]);
                self.answer(operation, &Reply::Unknown { reason: Uncertainty::Forgotten, receipt });
            }
            Standing::Pending(event) | Standing::Done(event) | Standing::Nothing(event)
                if event.digest.asked != digest && self.rules.hold(Rule::DigestChecked) =>
            {
                self.answer(operation, &Reply::Misused);
            }
            // Others may still object to a bind. Its coordinator may be dead: it is made again, beside itself.
            Standing::Pending(_) if is_bind && self.rules.hold(Rule::RetryBeside) => return false,
            // Only a bind is ever pending; without the rule it is adopted as it is.
            Standing::Pending(event) => self.done(operation, event.dot),
            Standing::Done(event) if !self.stands(&name, event.dot) => self.done(operation, event.dot),
            // It is fanned out again, so that the receipt is true.
            Standing::Done(event) => self.repeat(operation, &name, event.dot),
            Standing::Nothing(_) => self.comes_to_nothing_again(operation),
        }
        true
    }

    /// Who is known to have seen it held it.
    pub(super) fn done(&mut self, operation: OperationId, dot: Dot) {
        let has_seen = |peer: &NodeId| self.vectors.get(peer).is_some_and(|vector| vector.covers(dot));
        let receipt = self.receipt(self.peers().filter(has_seen).chain([self.id]));
        self.answer(operation, &Reply::Done { version: Some(dot), receipt });
    }

    /// Whether the write is the last word at its name, as far as its actor goes.
    fn stands(&self, name: &Name, dot: Dot) -> bool {
        self.replica.record(name).is_some_and(|record| record.dots().any(|known| known == dot))
    }

    pub(super) fn inquired(&mut self, from: NodeId, operation: OperationId) {
        let names: Vec<Name> = self.replica.events_of(operation).map(|(name, _)| name.clone()).collect();
        let records = self.bundle(&names);
        let is_forgotten = self.replica.standing(operation, None) == Standing::Forgotten;
        self.send(from, Message::Informed { operation, records, is_forgotten });
    }

    pub(super) fn informed(&mut self, from: NodeId, operation: OperationId, records: &[Named], forgot: bool) {
        self.take_up(records);
        self.status_heard(from, operation, forgot);
        let settled = matches!(self.replica.standing(operation, None), Standing::Done(_));
        let Some(caller) = self.callers.get_mut(&operation) else { return };
        if let Stage::Peers { silent, is_forgotten } = &mut caller.stage {
            silent.remove(&from);
            *is_forgotten |= forgot;
            if silent.is_empty() || settled {
                self.peers_silent(operation);
            }
        }
    }

    /// All peers said what they know, or time is up.
    pub(super) fn peers_silent(&mut self, operation: OperationId) {
        let Some(caller) = self.callers.get_mut(&operation) else { return };
        let Stage::Peers { is_forgotten, .. } = caller.stage else { return };
        caller.stage = Stage::Execution;
        if self.settle_from_memory(operation) {
            return;
        }
        if is_forgotten && self.rules.hold(Rule::ForgottenRefused) {
            let receipt = self.receipt([]);
            self.answer(operation, &Reply::Unknown { reason: Uncertainty::Forgotten, receipt });
        } else {
            self.execute(operation);
        }
    }

    /// How long a write of the operation waits before those that are silent lag: all in all, the time that its caller has
    /// spent on a silent owner included.
    pub(super) fn waits_for_peers(&self, operation: OperationId) -> Duration {
        let has_waited = self.callers.get(&operation).is_some_and(|caller| caller.silent_owner.is_some());
        let waited = if has_waited && self.rules.hold(Rule::SilentOwnerLags) { self.timing.patience } else { Duration::ZERO };
        self.timing.lagging_after.saturating_sub(waited)
    }

    /// Whether a version is settled: not one that its coordinator may yet withdraw.
    pub(super) fn is_settled(record: &Record, dot: Dot) -> bool {
        record.history.get(dot).is_none_or(|event| event.outcome != Outcome::Pending)
    }
}

/// Whose the name is.
pub(super) fn owner_among(name: &Name, live: &BTreeSet<NodeId>) -> Option<NodeId> {
    owner(name.get(0).unwrap_or(""), live.iter().copied())
}
