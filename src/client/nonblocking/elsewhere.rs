//! What comes from other threads: replies of a node in this process, and news of the fleet.

use std::time::Duration;

use crate::client::call::Input;
use crate::failure::Phase;
use crate::protocol::Reply;
use crate::transport::{TransportError, TransportErrorKind};

use super::super::direct::Direct;
use super::active::{Asked, Waits, Way};
use super::driver::Driver;
use super::effect::{Effect, Watch};
use super::inbox::{Inbox, Outlet};

/// The inbox's watch; no line has this number.
const INBOX: Watch = Watch(u64::MAX);

impl<T> Driver<T> {
    /// Whether a watch is the inbox's.
    pub(super) fn is_inbox(watch: Watch) -> bool {
        watch == INBOX
    }

    /// Where other threads put what they have for this driver.
    fn outlet(&mut self) -> std::io::Result<Outlet> {
        if let Some(inbox) = &self.inbox {
            return Ok(inbox.outlet());
        }
        let inbox = Inbox::new()?;
        let outlet = inbox.outlet();
        self.effect(Effect::WatchRead(inbox.fd(), INBOX));
        self.inbox = Some(inbox);
        Ok(outlet)
    }

    /// Hears of changes of the fleet from now on: a call waits for one.
    pub(super) fn listen(&mut self) {
        if self.listens {
            return;
        }
        // Without it a wait simply lasts as long as it may.
        if let Ok(outlet) = self.outlet() {
            self.listens = true;
            let bell = outlet.downgrade();
            self.base.listen(bell.clone());
            // Something may have come between the step that led here and this: the first wait is looked at once more.
            bell.ring();
        }
    }

    /// Asks the node of this process. What it can answer without waiting is taken at once.
    pub(super) fn ask_in_process(&mut self, id: u64, attempt: u64, ends: Duration, now: Duration) {
        let Some(service) = self.base.direct().map(|direct| direct.service().clone()) else { return };
        let Some(request) = self.calls.get(id).map(|active| active.call.request().clone()) else { return };
        if let Some(active) = self.calls.get_mut(id) {
            let (way, limit) = (Way::InProcess, ends.saturating_sub(now));
            active.waits = Waits::Answer(Asked { way, since: now, connects_by: None, ends, limit, reused: false });
        }
        if let Some(reply) = service.try_now(&request) {
            return self.replied(id, reply, now);
        }
        match self.outlet() {
            Ok(outlet) => {
                self.ring_at(ends, now);
                let within = ends.saturating_sub(now);
                service.submit(request, within, Box::new(move |reply| outlet.put(attempt, reply)));
            }
            Err(error) => {
                let error = TransportError::new(Phase::Connect, TransportErrorKind::Io(error.kind()));
                self.step_and_hold(id, now, Input::Broke { error, reused: false });
            }
        }
    }

    /// Takes what other threads brought.
    pub(super) fn take_inbox(&mut self, now: Duration) {
        let Some(inbox) = &mut self.inbox else { return };
        for (attempt, reply) in inbox.take() {
            if let Some(id) = self.calls.of_attempt(attempt) {
                self.replied(id, reply, now);
            }
        }
        let waiting: Vec<u64> =
            self.calls.iter().filter(|(_, active)| matches!(active.waits, Waits::Moment(_))).map(|(id, _)| id).collect();
        for id in waiting {
            self.step_and_hold(id, now, Input::Woke);
        }
        self.tidy();
    }

    /// The node of this process replied. Where it takes nothing any longer that is the end: there is nobody else.
    fn replied(&mut self, id: u64, reply: Reply, now: Duration) {
        let refused = self.base.direct().and_then(|_| Direct::refusal_for_good(&reply));
        let Some(reason) = refused else { return self.step_and_hold(id, now, Input::Reply(reply)) };
        let Some(active) = self.calls.get_mut(id) else { return };
        let error = self.base.with_fleet(|fleet| active.call.refused_for_good(fleet, now, reason));
        self.end(id, Err(error));
    }
}
