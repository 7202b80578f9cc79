//! The calls of one event loop: how they begin, how their requests go out, how they end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::client::call::{Call, Input, Output, Send};
use crate::client::driver::{bearing, closed, closed_under};
use crate::client::invocation::{Invocation, Product};
use crate::client::target::TargetId;
use crate::client::trail::Trail;
use crate::failure::Phase;
use crate::naming::{ErrorKind, Name, NamingError};
use crate::transport::{TransportError, TransportErrorKind};

use super::active::{Active, Asked, Waits, Way};
use super::base::Base;
use super::connection::{Connection, Incoming, Stage};
use super::effect::{Closed, Effect, Watch};
use super::inbox::Inbox;
use super::line::Line;
use super::slots::Slots;

/// So many calls are under way on one loop at most.
const CALLS_AT_MOST: usize = 1 << 17;

/// The timer rings at most so often: attempts that end within this time are handled together.
const TIMER_GRAIN: Duration = Duration::from_millis(2);

/// Names a call that is under way. It's not used again in a short time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallId(pub(super) u64);

impl CallId {
    /// Names a call that ended before it got a number of its own.
    const OVER: Self = Self(u64::MAX);
}

/// A call that has ended.
#[derive(Debug)]
pub struct Finished<T> {
    /// What its owner knows it by.
    pub token: T,
    /// How it ended.
    pub result: Result<Product, NamingError>,
    /// Every attempt that was made.
    pub trail: Trail,
}

/// The calls of one event loop. See the [module](super) for the rules.
#[derive(Debug)]
pub struct Driver<T> {
    pub(super) base: Arc<Base>,
    pub(super) calls: Slots<Active<T>>,
    pub(super) lines: Slots<Line>,
    /// The line that takes new requests, for each target that has one.
    pub(super) current: BTreeMap<TargetId, Watch>,
    /// What other threads bring, once there is a need.
    pub(super) inbox: Option<Inbox>,
    /// The fleet's news come to the inbox.
    pub(super) listens: bool,
    /// Calls whose next request waits for their owners.
    held: Vec<u64>,
    /// Lines with something to write at the end of the loop's turn.
    dirty: Vec<Watch>,
    pub(super) incoming: Vec<Incoming>,
    pub(super) scratch: Vec<u8>,
    effects: Vec<Effect>,
    finished: Vec<Finished<T>>,
    /// When the timer is to ring.
    pub(super) rings_at: Option<Duration>,
    closed: bool,
}

impl<T> Driver<T> {
    /// A driver on one loop. Nothing is dialled before the first call.
    pub fn new(base: Arc<Base>) -> Self {
        Self {
            base,
            calls: Slots::new(),
            lines: Slots::new(),
            current: BTreeMap::new(),
            inbox: None,
            listens: false,
            held: Vec::new(),
            dirty: Vec::new(),
            incoming: Vec::new(),
            scratch: vec![0; 64 << 10],
            effects: Vec::new(),
            finished: Vec::new(),
            rings_at: None,
            closed: false,
        }
    }

    /// Begins a call. It may have ended when this returns: see [`take_finished`](Self::take_finished).
    ///
    /// `timeout` is the time that it has; `None` is the configured one.
    pub fn submit(&mut self, mut invocation: Invocation, timeout: Option<Duration>, now: Duration, token: T) -> CallId {
        if let Some(direct) = self.base.direct()
            && !self.is_closed()
            && let Some(product) = direct.at_once(&mut invocation)
        {
            let trail = direct.trail_at_once();
            self.finished.push(Finished { token, result: Ok(product), trail });
            return CallId::OVER;
        }
        if let Some(error) = self.refusal(&invocation) {
            self.finished.push(Finished { token, result: Err(error), trail: Trail::default() });
            return CallId::OVER;
        }
        let timeout = timeout.unwrap_or(self.base.config().timeout);
        let call = Call::new(invocation, self.base.config(), now, timeout);
        let active = Active { token: Some(token), call, waits: Waits::Moment(now) };
        let Some(id) = self.calls.insert(active) else { return CallId::OVER };
        if let Some(send) = self.step(id, now, Input::Start) {
            self.ask(id, send, now);
        }
        CallId(id)
    }

    /// Why no further call is taken.
    fn refusal(&self, invocation: &Invocation) -> Option<NamingError> {
        if self.is_closed() {
            return Some(closed(invocation));
        }
        if self.calls.len() < CALLS_AT_MOST {
            return None;
        }
        let message = format!("{CALLS_AT_MOST} calls are under way on this event loop, the most there can be; await some first");
        Some(bearing(invocation.given().map(Name::as_str), NamingError::new(ErrorKind::LimitExceeded, message)))
    }

    /// Ends a call that nobody awaits any more. Its last attempt tells how far it had come.
    pub fn cancel(&mut self, call: CallId, now: Duration) -> Option<Finished<T>> {
        let left = self.phase_of(call.0)?.0 >= Phase::Wait;
        let way = self.way_of(call.0);
        let given_up = self.calls.get_mut(call.0)?;
        let token = given_up.token.take()?;
        let error = self.base.with_fleet(|fleet| given_up.call.abandon(fleet, now, left));
        let trail = given_up.call.take_trail();
        self.calls.discard(call.0);
        if let Some(Way::Line(watch, _)) = way.filter(|_| !left) {
            // Its frame is among the bytes that the kernel has not taken yet, where nothing can be taken out.
            self.retire(watch, &TransportErrorKind::Cancelled, now);
        }
        Some(Finished { token, result: Err(error), trail })
    }

    fn way_of(&self, id: u64) -> Option<Way> {
        match &self.calls.get(id)?.waits {
            Waits::Answer(asked) => Some(asked.way),
            _ => None,
        }
    }

    /// What the owner knows a call by.
    pub fn token(&self, call: CallId) -> Option<&T> {
        self.calls.get(call.0)?.token.as_ref()
    }

    /// All calls under way.
    pub fn calls(&self) -> impl Iterator<Item = (CallId, &T)> {
        self.calls.iter().filter_map(|(id, active)| Some((CallId(id), active.token.as_ref()?)))
    }

    /// Calls of which a request is about to leave that should not leave for nobody: further attempts, and mutations that
    /// were not written at once. The owner looks whether they are still wanted, [cancels](Self::cancel) those that aren't,
    /// and then calls [`flush`](Self::flush). First reads are not asked about, as they do no harm and are many.
    pub fn leaving(&self) -> impl Iterator<Item = CallId> {
        let queued = self.dirty.iter().filter_map(|watch| self.lines.get(watch.0)).flat_map(Line::queued);
        let queued = queued.filter_map(|attempt| self.calls.of_attempt(attempt));
        let mutates = |id: &u64| self.calls.get(*id).is_some_and(|active| active.call.invocation().is_mutation());
        self.held.iter().copied().chain(queued.filter(mutates)).map(CallId)
    }

    /// Whether a request waits for its owner's word (see [`leaving`](Self::leaving)).
    pub fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    /// Sends what waits: requests after the first of a call, and what was queued during this turn of the loop.
    pub fn flush(&mut self, now: Duration) {
        // A request that fails at once (a refused connection) leads to the next one, until its call has had enough.
        while let Some(id) = self.held.pop() {
            let Some(active) = self.calls.get_mut(id) else { continue };
            match std::mem::replace(&mut active.waits, Waits::Moment(now)) {
                Waits::Owner(send) => self.ask(id, send, now),
                other => active.waits = other,
            }
        }
        for watch in std::mem::take(&mut self.dirty) {
            self.pump(watch, now);
        }
    }

    /// Closes all connections; the calls under way end with [`ErrorKind::ContextClosed`].
    pub fn close(&mut self, now: Duration) {
        self.closed = true;
        let calls: Vec<u64> = self.calls.iter().map(|(id, _)| id).collect();
        for id in calls {
            if let Some(Finished { token, result, trail }) = self.cancel(CallId(id), now) {
                self.finished.push(Finished { token, result: result.map_err(closed_under), trail });
            }
        }
        let lines: Vec<u64> = self.lines.iter().map(|(id, _)| id).collect();
        for id in lines {
            self.hang_up(Watch(id));
        }
        self.listens = false;
        if let Some(inbox) = self.inbox.take() {
            self.effects.push(Effect::Close(inbox.fd(), Closed::Inbox(inbox.close())));
        }
        self.rings_at = None;
    }

    /// Whether there is nothing to be done for it: no effects, no finished calls, no request that waits for its owner.
    pub fn is_content(&self) -> bool {
        self.effects.is_empty() && self.finished.is_empty() && self.held.is_empty()
    }

    /// What is to be done, in order; `emptied` is used for what comes next.
    pub fn take_effects(&mut self, emptied: &mut Vec<Effect>) {
        emptied.clear();
        std::mem::swap(emptied, &mut self.effects);
    }

    /// The calls that have ended; `emptied` is used for what comes next.
    pub fn take_finished(&mut self, emptied: &mut Vec<Finished<T>>) {
        emptied.clear();
        std::mem::swap(emptied, &mut self.finished);
    }

    /// How many calls are under way.
    pub fn under_way(&self) -> usize {
        self.calls.len()
    }

    fn is_closed(&self) -> bool {
        self.closed || self.base.is_closed()
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Lets a call take an event in. A request that it wants sent is given back, and not sent: the first one of a call
    /// goes out at once, those after it by way of [`step_and_hold`](Self::step_and_hold).
    #[inline]
    pub(super) fn step(&mut self, id: u64, now: Duration, input: Input) -> Option<Send> {
        let active = self.calls.get_mut(id)?;
        match self.base.with_fleet(|fleet| active.call.step(fleet, now, input)) {
            Output::Send(send) => Some(send),
            Output::Wait { until } => {
                active.waits = Waits::Moment(until);
                self.ring_at(until, now);
                self.listen();
                None
            }
            Output::Done(result) => {
                self.end(id, result);
                None
            }
        }
    }

    /// Lets a call take an event in. A request that it wants sent waits until its owner has had a look.
    #[inline]
    pub(super) fn step_and_hold(&mut self, id: u64, now: Duration, input: Input) {
        let Some(send) = self.step(id, now, input) else { return };
        if let Some(active) = self.calls.get_mut(id) {
            active.waits = Waits::Owner(send);
            self.held.push(id);
        }
    }

    #[inline]
    pub(super) fn end(&mut self, id: u64, result: Result<Product, NamingError>) {
        // Taken apart where it stands: a call is large, and moving it costs as much as carrying it out.
        let Some(ended) = self.calls.get_mut(id) else { return };
        if let Ok(product) = &result {
            self.base.leases().note(ended.call.invocation(), product);
        }
        let trail = ended.call.take_trail();
        if let Some(token) = ended.token.take() {
            self.finished.push(Finished { token, result, trail });
        }
        self.calls.discard(id);
    }

    /// Sends a request on its way.
    fn ask(&mut self, id: u64, send: Send, now: Duration) {
        // A connection that was found dead is gone from here: what is `fresh` or opened since is as good as asked for.
        let Send { target, connects_by, ends, .. } = send;
        let Some(attempt) = self.calls.begin_attempt(id) else { return };
        if self.base.direct().is_some() {
            return self.ask_in_process(id, attempt, ends, now);
        }
        let line = match self.line_to(target, now) {
            Ok(watch) => watch,
            Err(error) => return self.step_and_hold(id, now, Input::Broke { error, reused: false }),
        };
        let connecting = self.lines.get(line.0).is_some_and(|line| line.connection.stage() == Stage::Connecting);
        let connects_by = connecting.then_some(connects_by);
        self.ring_at(connects_by.unwrap_or(ends), now);
        let (Some(way), Some(active)) = (self.lines.get_mut(line.0), self.calls.get_mut(id)) else { return };
        let reused = way.is_open_and_idle();
        let (way_there, limit) = (Way::Queue(line), ends.saturating_sub(now));
        active.waits = Waits::Answer(Asked { way: way_there, since: now, connects_by, ends, limit, reused });
        if way.queue(attempt, active.call.invocation().is_mutation()) {
            self.pump(line, now);
        } else if way.has_next() {
            self.put_off(line);
        }
    }

    /// Puts a line's writing off to the end of this turn of the loop.
    pub(super) fn put_off(&mut self, watch: Watch) {
        let Some(line) = self.lines.get_mut(watch.0).filter(|line| !line.is_dirty) else { return };
        line.is_dirty = true;
        self.dirty.push(watch);
        if self.dirty.len() == 1 {
            self.effects.push(Effect::FlushSoon);
        }
    }

    /// The line that takes requests for a target; it is opened where there is none.
    fn line_to(&mut self, target: TargetId, now: Duration) -> Result<Watch, TransportError> {
        if let Some(watch) = self.current.get(&target) {
            return Ok(*watch);
        }
        let Some(address) = self.base.with_fleet(|fleet| fleet.target(target).and_then(|target| target.address)) else {
            return Err(TransportError::new(Phase::Connect, TransportErrorKind::Unreachable));
        };
        let connection = Connection::open(address, self.base.hello(), self.base.config().limits)?;
        let fd = connection.fd();
        let connecting = connection.stage() == Stage::Connecting;
        let mut line = Line::new(target, connection, now);
        line.watches_write = connecting;
        let Some(watch) = self.lines.insert(line).map(Watch) else {
            return Err(TransportError::new(Phase::Connect, TransportErrorKind::Io(std::io::ErrorKind::OutOfMemory)));
        };
        self.current.insert(target, watch);
        self.base.opened(target);
        self.effects.push(Effect::WatchRead(fd, watch));
        if connecting {
            self.effects.push(Effect::WatchWrite(fd, watch));
        }
        if self.base.stays() {
            // It may go over to another server while nobody calls: this connection is closed then.
            self.listen();
        }
        Ok(watch)
    }

    /// Sees to it that the timer rings at `at` or soon after.
    pub(super) fn ring_at(&mut self, at: Duration, now: Duration) {
        if self.rings_at.is_none_or(|rings_at| at < rings_at) {
            let at = at.max(now + TIMER_GRAIN);
            if self.rings_at.is_none_or(|rings_at| at < rings_at) {
                self.rings_at = Some(at);
                self.effects.push(Effect::Wake(at.saturating_sub(now)));
            }
        }
    }
}
