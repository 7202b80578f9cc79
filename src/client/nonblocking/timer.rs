//! Time has passed: which attempts are over, and which are not.
//!
//! An event loop that is busy rings late, and reads late. So before anything is called silent, what lies in its socket is
//! read; a request that has not left is waited for as long as its connection shows life; and one that has is given more
//! time where its call [has patience](crate::client::call::Call::patience) with a server that is merely slow.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::client::call::Input;
use crate::failure::Phase;
use crate::transport::{TransportError, TransportErrorKind};

use super::active::{Asked, Waits, Way};
use super::connection::Stage;
use super::driver::Driver;
use super::effect::Watch;
use super::line::Line;

/// A line is read so often at most before its attempts are looked at. It's more than a kernel holds.
const READS_AT_MOST: usize = 64;

impl<T> Driver<T> {
    /// Time has passed: attempts end, waits end, connections that nobody needs are closed.
    pub fn on_timer(&mut self, now: Duration) {
        self.rings_at = None;
        self.catch_up(now);
        let mut due = Vec::new();
        for (id, active) in self.calls.iter() {
            if active.waits.until().is_some_and(|at| at <= now) {
                due.push(id);
            }
        }
        for id in due {
            match self.calls.get(id).map(|active| &active.waits) {
                Some(Waits::Answer(asked)) if asked.ends <= now => {
                    let asked = *asked;
                    self.run_out(id, asked, now);
                }
                Some(Waits::Answer(Asked { way, since, connects_by: Some(by), .. })) if *by <= now => {
                    let (way, allowed) = (*way, by.saturating_sub(*since));
                    self.should_be_connected(id, way, allowed, now);
                }
                Some(Waits::Moment(until)) if *until <= now => self.step_and_hold(id, now, Input::Woke),
                _ => {}
            }
        }
        self.tidy();
        if let Some(next) = self.calls.iter().filter_map(|(_, active)| active.waits.until()).min() {
            self.ring_at(next, now);
        }
    }

    /// Takes what came on the lines of attempts whose time is over.
    fn catch_up(&mut self, now: Duration) {
        let over = self.calls.iter().filter_map(|(_, active)| match &active.waits {
            Waits::Answer(asked) if active.waits.until().is_some_and(|at| at <= now) => Some(asked.way),
            _ => None,
        });
        let mut lines = BTreeSet::new();
        let mut in_process = false;
        for way in over {
            match way.watch() {
                Some(watch) => drop(lines.insert(watch.0)),
                None => in_process = true,
            }
        }
        if in_process {
            self.take_inbox(now);
        }
        for watch in lines.into_iter().map(Watch) {
            match self.lines.get(watch.0).map(|line| &line.connection) {
                Some(connection) if connection.stage() == Stage::Connecting => {
                    if connection.is_connected() {
                        self.on_writable(watch, now);
                    }
                }
                _ => drop((0..READS_AT_MOST).find(|_| !self.read(watch, now))),
            }
        }
    }

    /// The time that an attempt's connection had to be made in is over. Where it isn't, it's given up, with all who wait for it:
    /// nothing of theirs was sent.
    fn should_be_connected(&mut self, id: u64, way: Way, allowed: Duration, now: Duration) {
        if let Some(watch) = way.watch()
            && self.lines.get(watch.0).is_some_and(|line| line.connection.stage() == Stage::Connecting)
        {
            return self.fail(watch, &TransportErrorKind::TimedOut(allowed), now);
        }
        if let Some(Waits::Answer(asked)) = self.calls.get_mut(id).map(|active| &mut active.waits) {
            asked.connects_by = None;
        }
    }

    /// An attempt's time is over: it ends, or is given more.
    fn run_out(&mut self, id: u64, asked: Asked, now: Duration) {
        let Some((phase, outcome)) = self.phase_of(id) else { return };
        if let Some(ends) = self.more_time(id, asked, phase, now) {
            if let Some(active) = self.calls.get_mut(id) {
                active.waits = Waits::Answer(Asked { ends, ..asked });
            }
            return;
        }
        let kind = TransportErrorKind::TimedOut(asked.ends.saturating_sub(asked.since));
        if let Some(watch) = asked.way.watch()
            && let Some(line) = self.lines.get(watch.0)
            // The connection is no good, whoever is at fault. The next call opens another; what is outstanding on this one
            // may still be answered.
            && is_silent(line, asked, phase, now)
        {
            if line.connection.stage() == Stage::Connecting {
                // This call is among those that wait for it.
                return self.fail(watch, &kind, now);
            }
            self.retire(watch, &kind, now);
            if phase < Phase::Wait {
                // So is it here: it has not left.
                return;
            }
        }
        self.step_and_hold(id, now, Input::Broke { error: TransportError { phase, kind, outcome }, reused: false });
    }

    /// Until when an attempt may go on whose time is over.
    fn more_time(&self, id: u64, asked: Asked, phase: Phase, now: Duration) -> Option<Duration> {
        let call = &self.calls.get(id)?.call;
        if now >= call.deadline() {
            return None;
        }
        if let Some(watch) = asked.way.watch() {
            let line = self.lines.get(watch.0)?;
            if is_silent(line, asked, phase, now) {
                return None;
            }
            if phase < Phase::Wait {
                let ends = line.silent_at(asked.limit, asked.since).unwrap_or(now.saturating_add(asked.limit));
                return Some(ends.min(call.deadline()));
            }
        }
        self.base.with_fleet(|fleet| call.patience(fleet, now))
    }
}

/// Whether nothing has come on a line for as long as the attempt was given.
fn is_silent(line: &Line, asked: Asked, phase: Phase, now: Duration) -> bool {
    if phase < Phase::Wait {
        line.silent_at(asked.limit, asked.since).is_some_and(|at| at <= now)
    } else {
        line.heard <= asked.since
    }
}
