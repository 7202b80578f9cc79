//! One operation's attempts under one deadline: who is asked, for how long, what an answer or its absence means, and when
//! it's over.
//!
//! A call is a state machine without I/O. Its driver gives it what happened ([`Input`]) and does what it says
//! ([`Output`]). An operation consists of hops; a hop is carried in [rounds](super::rounds), in each of which every server
//! has its turn once. What a broken attempt allows is decided in one table,
//! [`verdict::action`](crate::failure::verdict::action); this module only says which servers are left.

mod heard;
mod next;
mod patience;
mod recall;
mod report;
mod settle;

use std::sync::Arc;
use std::time::Duration;

use crate::failure::verdict::Need;
use crate::failure::{CompletionStatus, Phase};
use crate::naming::{ErrorKind, Listed, NamingError};
use crate::protocol::{Fault, Operation, OperationId, Reply, Request, Scope};
use crate::transport::TransportError;

use super::config::{ClientConfig, LONGEST};
use super::fleet::Fleet;
use super::invocation::{Freshness, Invocation, Product};
use super::rounds::Rounds;
use super::session::Extent;
use super::target::TargetId;
use super::trail::{Outcome, Trail, Try};

/// What happened.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it's made once for each answer, moved once, and never kept")]
pub enum Input {
    /// The call begins.
    Start,
    /// The server replied to the request that was sent.
    Reply(Reply),
    /// No usable reply came.
    Broke {
        /// How it broke.
        error: TransportError,
        /// The connection had been idle before: it may have died of that, and the server be well.
        reused: bool,
    },
    /// The time to wait is over, or the fleet has changed.
    Woke,
}

/// What to do.
#[derive(Debug)]
pub enum Output {
    /// Send [`Call::request`] and tell what came of it.
    Send(Send),
    /// Wait until then, or until something changes in the fleet, and say [`Input::Woke`].
    Wait {
        /// The time to wait for, in the driver's time.
        until: Duration,
    },
    /// The call is over.
    Done(Result<Product, NamingError>),
}

/// A request to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    /// To whom.
    pub target: TargetId,
    /// When a connection has to stand, if one is to be made: at `ends` at the latest.
    pub connects_by: Duration,
    /// When the attempt ends, unless the call has [patience](Call::patience): the request's `time_left` says the same. A
    /// request that leaves later has its time [from then on](Call::leaves).
    pub ends: Duration,
    /// Use no idle connection: one was just found dead.
    pub fresh: bool,
}

/// The attempt under way.
#[derive(Debug)]
struct Current {
    target: TargetId,
    /// How much a server has that answers it.
    extent: Extent,
    label: Arc<str>,
    node: Option<Arc<str>>,
    /// When its request left, as far as the call was told.
    started: Duration,
    /// The time that it has from then on.
    limit: Duration,
    /// What the cache had heard when it was asked.
    asked_at: u64,
    /// It has less time than an attempt gets, since the call is about to end.
    hurried: bool,
}

/// One operation's attempts.
#[derive(Debug)]
pub struct Call {
    invocation: Invocation,
    request: Request,
    timeout: Duration,
    deadline: Duration,
    attempt_limit: Duration,
    trail: Trail,
    current: Option<Current>,
    rounds: Rounds,
    /// Somebody would have nothing to do with this client, and why, in this round.
    rejected: Option<Box<Fault>>,
    /// Nobody had it in this hop, and some nodes were silent.
    incomplete: bool,
    /// These were, and have their turn after all others; `None` once they have it.
    silent: Option<Vec<TargetId>>,
    /// What those who answered have on the way to the name, in place of a context.
    not_context: Option<String>,
    /// Ask this one next, on a fresh connection.
    fresh: Option<TargetId>,
    /// Who was asked on a fresh connection already, in this hop.
    freshened: Vec<TargetId>,
    /// The worst completion status of this hop's attempts.
    worst: CompletionStatus,
    /// What a listing had where some node was silent.
    partial: Vec<Listed>,
    /// How what is answered is known.
    freshness: Freshness,
    /// No server has all that the client has seen: it takes what there is.
    settles: bool,
    /// The answer lacks some of that.
    is_stale: bool,
}

impl Call {
    /// A call that begins at `now` and has `timeout` in all.
    pub fn new(invocation: Invocation, config: &ClientConfig, now: Duration, timeout: Duration) -> Self {
        let timeout = timeout.min(LONGEST);
        let attempt_limit = if invocation.is_mutation() {
            config.mutation_timeout
        } else if invocation.is_thorough() {
            timeout
        } else {
            // The limit is for a page of rows, or a thousand names; more names take longer.
            let thousands = u32::try_from(invocation.weight().div_ceil(1000)).unwrap_or(u32::MAX);
            config.attempt_timeout.saturating_mul(thousands.max(1)).saturating_add(invocation.is_held())
        };
        let request = Request {
            time_left: 0,
            scope: config.scope,
            operation_id: None,
            is_retry: false,
            operation: Operation::Status,
            known: None,
        };
        Self {
            invocation,
            request,
            timeout,
            deadline: now.saturating_add(timeout),
            attempt_limit,
            trail: Trail::default(),
            current: None,
            rounds: Rounds::default(),
            rejected: None,
            incomplete: false,
            silent: Some(Vec::new()),
            not_context: None,
            fresh: None,
            freshened: Vec::new(),
            worst: CompletionStatus::No,
            partial: Vec::new(),
            freshness: Freshness::Asked,
            settles: false,
            is_stale: false,
        }
    }

    /// The request that [`Output::Send`] means.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The operation that it carries.
    pub fn invocation(&self) -> &Invocation {
        &self.invocation
    }

    /// When the call ends at the latest.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// The tries made so far.
    pub fn trail(&self) -> &Trail {
        &self.trail
    }

    /// The tries made, to keep.
    pub fn take_trail(&mut self) -> Trail {
        std::mem::take(&mut self.trail)
    }

    /// Takes what happened at `now`, and says what to do.
    pub fn step(&mut self, fleet: &mut Fleet, now: Duration, input: Input) -> Output {
        let output = match input {
            Input::Start => {
                if let Some(product) = self.invocation.at_once() {
                    return Output::Done(Ok(product));
                }
                self.begin_hop(fleet);
                self.advance(fleet, now)
            }
            Input::Woke => self.advance(fleet, now),
            Input::Reply(reply) => self.replied(fleet, now, reply),
            Input::Broke { error, reused } => self.broke(fleet, now, &error, reused),
        };
        self.settle_cache(fleet, output)
    }

    /// The caller gives up: the attempt under way is settled, `left` saying whether its request had left. The error tells
    /// what is then known of the operation.
    pub fn abandon(&mut self, fleet: &mut Fleet, now: Duration, left: bool) -> NamingError {
        if let Some(current) = self.current.take() {
            fleet.end(current.target);
            let phase = if left { Phase::Wait } else { Phase::Send };
            self.note(&current, now, phase, Outcome::Abandoned, phase.completion());
        }
        self.given_up(fleet)
    }

    /// Makes ready for the next request of the operation.
    fn begin_hop(&mut self, fleet: &mut Fleet) {
        self.request.operation = self.invocation.operation();
        self.request.operation_id = self.invocation.is_mutation().then(|| fleet.next_operation_id());
        self.request.is_retry = false;
        self.rounds.begin();
        self.rejected = None;
        self.incomplete = false;
        self.silent = Some(Vec::new());
        self.not_context = None;
        self.fresh = None;
        self.freshened.clear();
        self.worst = CompletionStatus::No;
    }

    /// What the operation needs of a server. The cluster recognises a change of its tree that it is sent again, by its id,
    /// and then says what it said before; a node's local tree does not.
    fn need(&self) -> Need {
        let reads = !self.invocation.is_mutation();
        let is_recognised = self.request.scope == Scope::Cluster && !self.invocation.is_pinned();
        Need { idempotent: reads || is_recognised, value: is_recognised || self.invocation.needs_reply() }
    }

    /// The id of the mutation that is under way.
    pub fn operation_id(&self) -> Option<OperationId> {
        self.request.operation_id
    }

    fn note(&mut self, current: &Current, now: Duration, phase: Phase, outcome: Outcome, completion: CompletionStatus) {
        self.worst = self.worst.worst(completion);
        self.request.is_retry |= self.request.operation_id.is_some() && completion != CompletionStatus::No;
        self.trail.push(Try {
            is_stale: self.is_stale,
            label: Arc::clone(&current.label),
            node: current.node.clone(),
            phase,
            outcome,
            completion,
            elapsed: now.saturating_sub(current.started),
            hurried: current.hurried,
            why_next: None,
        });
    }

    /// The last word; a name that is waited for has others.
    fn finish(&mut self, fleet: &mut Fleet, now: Duration, error: NamingError) -> Output {
        let passing = matches!(
            error.kind(),
            ErrorKind::NameNotFound
                | ErrorKind::NotContext
                | ErrorKind::ServiceUnavailable
                | ErrorKind::Communication
                | ErrorKind::TimeLimitExceeded
        );
        if self.invocation.waits() && passing {
            return self.poll_again(fleet, now);
        }
        self.last_known(fleet, now, error)
    }
}
