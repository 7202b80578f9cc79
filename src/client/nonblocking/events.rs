//! What the loop tells the driver: a descriptor is ready, or time has passed.

use std::time::Duration;

use crate::client::call::Input;
use crate::client::target::Target;
use crate::failure::Phase;
use crate::protocol::{Outcome, ProtocolError, Reply};
use crate::transport::{TransportError, TransportErrorKind};

use super::active::{Waits, Way};
use super::connection::{Incoming, Stage};
use super::driver::Driver;
use super::effect::{Closed, Effect, Watch};

/// A request that waited for longer has its time from when it leaves.
const QUEUED_FOR_LONG: Duration = Duration::from_millis(2);

impl<T> Driver<T> {
    /// A descriptor is readable. All that came is taken, up to a bound; what is left makes it readable again.
    pub fn on_readable(&mut self, watch: Watch, now: Duration) {
        if Self::is_inbox(watch) {
            return self.take_inbox(now);
        }
        self.read(watch, now);
    }

    /// Takes what came on a line; gives whether there may be more.
    pub(super) fn read(&mut self, watch: Watch, now: Duration) -> bool {
        let Some(line) = self.lines.get_mut(watch.0) else { return false };
        let (more, mut broke) = match line.connection.read(&mut self.scratch) {
            Ok(more) => (more, None),
            Err(kind) => (false, Some(kind)),
        };
        let mut incoming = std::mem::take(&mut self.incoming);
        loop {
            match line.connection.next() {
                Ok(Some(frame)) => incoming.push(frame),
                Ok(None) => break,
                Err(error) => {
                    broke = Some(error.into());
                    break;
                }
            }
        }
        let replies = incoming.iter().filter(|frame| matches!(frame, Incoming::Reply { .. })).count();
        if replies > 0 {
            line.batch = replies;
            line.outstanding = line.outstanding.saturating_sub(replies);
        }
        if !incoming.is_empty() {
            line.shows_life(now);
        }
        for frame in incoming.drain(..) {
            broke = self.take(watch, frame, now).or(broke);
        }
        self.incoming = incoming;
        match broke {
            Some(kind) => self.fail(watch, &kind, now),
            None => self.flush_soon(watch),
        }
        more
    }

    /// A descriptor takes bytes again, or its connecting has ended.
    pub fn on_writable(&mut self, watch: Watch, now: Duration) {
        let Some(line) = self.lines.get_mut(watch.0) else { return };
        if line.connection.stage() == Stage::Connecting {
            if let Err(error) = line.connection.connected() {
                return self.fail(watch, &error.kind, now);
            }
            line.shows_life(now);
        }
        if let Err(kind) = line.connection.write() {
            return self.fail(watch, &kind, now);
        }
        self.watch_write(watch);
        self.flush_soon(watch);
    }

    /// Takes one frame in; an error ends the connection.
    fn take(&mut self, watch: Watch, frame: Incoming, now: Duration) -> Option<TransportErrorKind> {
        let line = self.lines.get_mut(watch.0)?;
        let target = line.target;
        match frame {
            Incoming::Reply { id, flags, body } => {
                if let Some(call) = self.calls.of_attempt(id) {
                    let input = match Reply::decode(flags, &body) {
                        Ok(reply) => Input::Reply(reply),
                        Err(error) => Input::Broke { error: unreadable(flags, error), reused: false },
                    };
                    self.step_and_hold(call, now, input);
                }
                None
            }
            Incoming::Welcome(welcome) => {
                line.welcomed();
                self.base.with_fleet(|fleet| fleet.welcomed(target, &welcome, now));
                None
            }
            Incoming::View(view) => {
                self.base.with_fleet(|fleet| fleet.saw_view(target, &view, now));
                self.tidy();
                None
            }
            Incoming::Brought(brought) => {
                self.base.with_fleet(|fleet| fleet.saw(target, &brought));
                None
            }
            Incoming::Rejected(fault) => Some(TransportErrorKind::Rejected(fault)),
        }
    }

    /// How far a call's attempt has come that is under way.
    pub(super) fn phase_of(&self, id: u64) -> Option<(Phase, Option<Outcome>)> {
        let Waits::Answer(asked) = &self.calls.get(id)?.waits else { return Some((Phase::Resolve, None)) };
        Some(match asked.way {
            Way::InProcess => (Phase::Wait, None),
            Way::Queue(watch) => (self.lines.get(watch.0)?.connection.waiting_phase(), None),
            Way::Line(watch, place) => self.lines.get(watch.0)?.connection.fate(self.calls.attempt_of(id)?, place),
        })
    }

    /// Writes what a line's window and the kernel allow. Attempts that are not under way any longer are passed over: they
    /// have thus not left.
    pub(super) fn pump(&mut self, watch: Watch, now: Duration) {
        let mut too_long: Vec<(u64, ProtocolError)> = Vec::new();
        let wrote = loop {
            let Some(line) = self.lines.get_mut(watch.0) else { return };
            line.is_dirty = false;
            while let Some(attempt) = line.next() {
                let Some(id) = self.calls.of_attempt(attempt) else { continue };
                let Some(active) = self.calls.get_mut(id) else { continue };
                let Waits::Answer(asked) = &mut active.waits else { continue };
                if now.saturating_sub(asked.since) >= QUEUED_FOR_LONG {
                    asked.ends = active.call.leaves(now);
                }
                asked.since = now;
                match line.encode(attempt, active.call.request(), now) {
                    Ok(place) => asked.way = Way::Line(watch, place),
                    Err(error) => too_long.push((id, error)),
                }
            }
            if line.connection.stage() == Stage::Connecting {
                break Ok(());
            }
            match line.connection.write() {
                Ok(()) if line.connection.has_output() || !line.has_next() => break Ok(()),
                Ok(()) => {}
                Err(kind) => break Err(kind),
            }
        };
        if let Err(kind) = wrote {
            self.fail(watch, &kind, now);
        } else {
            self.watch_write(watch);
            self.close_if_done(watch);
        }
        for (id, error) in too_long {
            let error = TransportError::new(Phase::Send, error.into());
            self.step_and_hold(id, now, Input::Broke { error, reused: false });
        }
    }

    /// Watches for room to write exactly as long as there is something to write.
    fn watch_write(&mut self, watch: Watch) {
        let Some(line) = self.lines.get_mut(watch.0) else { return };
        let wanted = line.connection.stage() == Stage::Connecting || line.connection.has_output();
        if wanted != line.watches_write {
            line.watches_write = wanted;
            let fd = line.connection.fd();
            self.effect(if wanted { Effect::WatchWrite(fd, watch) } else { Effect::UnwatchWrite(fd) });
        }
    }

    /// A connection ended: each request on it broke, in the phase that it had reached.
    pub(super) fn fail(&mut self, watch: Watch, kind: &TransportErrorKind, now: Duration) {
        let stage = self.lines.get(watch.0).map(|line| line.connection.stage());
        // A server that refuses the hello, or that is none of ours, has run nothing of what came behind it.
        let turned_away =
            stage == Some(Stage::Greeting) && matches!(kind, TransportErrorKind::Rejected(_) | TransportErrorKind::Protocol(_));
        let mut broken = Vec::new();
        for (id, active) in self.calls.iter() {
            if let Waits::Answer(asked) = &active.waits
                && asked.way.watch() == Some(watch)
                && let Some((phase, outcome)) = self.phase_of(id)
            {
                let phase = if turned_away { Phase::Handshake } else { phase };
                let error = TransportError { phase, kind: kind.clone(), outcome };
                broken.push((id, Input::Broke { error, reused: asked.reused }));
            }
        }
        self.hang_up(watch);
        for (id, input) in broken {
            self.step_and_hold(id, now, input);
        }
    }

    /// The line takes no new requests, and nothing more is written. Requests that had not left completely break, and never
    /// will leave; those that had are waited for.
    pub(super) fn retire(&mut self, watch: Watch, kind: &TransportErrorKind, now: Duration) {
        let Some(line) = self.lines.get_mut(watch.0) else { return };
        line.retired = true;
        line.connection.discard_output();
        line.drop_queue();
        let phase = line.connection.waiting_phase();
        let target = line.target;
        let has_left = |way| matches!(way, Way::Line(_, place) if line.connection.has_taken(place));
        let stuck: Vec<u64> = self
            .calls
            .iter()
            .filter(|(_, active)| match &active.waits {
                Waits::Answer(asked) => asked.way.watch() == Some(watch) && !has_left(asked.way),
                _ => false,
            })
            .map(|(id, _)| id)
            .collect();
        if self.current.get(&target) == Some(&watch) {
            self.current.remove(&target);
        }
        self.watch_write(watch);
        for id in stuck {
            let error = TransportError::new(phase, kind.clone());
            self.step_and_hold(id, now, Input::Broke { error, reused: false });
        }
        self.close_if_done(watch);
    }

    /// Closes lines that have nothing outstanding and to whose target nothing more is sent: it has failed, or is gone.
    pub(super) fn tidy(&mut self) {
        let idle: Vec<Watch> =
            self.lines.iter().filter(|(_, line)| line.is_idle() || line.retired).map(|(id, _)| Watch(id)).collect();
        for watch in idle {
            let Some(line) = self.lines.get(watch.0) else { continue };
            let target = line.target;
            let unwanted = self.base.with_fleet(|fleet| !fleet.target(target).is_some_and(Target::keeps_connections));
            let abandoned = line.retired && !self.is_awaited(watch);
            if abandoned || (unwanted && line.is_idle()) {
                self.hang_up(watch);
            }
        }
    }

    fn close_if_done(&mut self, watch: Watch) {
        if self.lines.get(watch.0).is_some_and(|line| line.retired) && !self.is_awaited(watch) {
            self.hang_up(watch);
        }
    }

    /// Asks for a flush at the end of this turn where a line has something that may go.
    fn flush_soon(&mut self, watch: Watch) {
        match self.lines.get(watch.0) {
            Some(line) if line.retired => self.close_if_done(watch),
            Some(line) if line.has_next() => self.put_off(watch),
            _ => {}
        }
    }

    /// Whether a call still waits for an answer on this line.
    fn is_awaited(&self, watch: Watch) -> bool {
        self.calls.iter().any(|(_, active)| matches!(&active.waits, Waits::Answer(asked) if asked.way.watch() == Some(watch)))
    }

    /// Closes a connection. Nobody may be waiting for it.
    pub(super) fn hang_up(&mut self, watch: Watch) {
        let Some(line) = self.lines.remove(watch.0) else { return };
        self.base.ended(line.target);
        if self.current.get(&line.target) == Some(&watch) {
            self.current.remove(&line.target);
        }
        let fd = line.connection.fd();
        self.effect(Effect::Close(fd, Closed::Socket(line.connection.close())));
    }
}

/// The reply's header came, its body can't be read: the outcome is known, the value isn't.
fn unreadable(flags: u16, error: ProtocolError) -> TransportError {
    TransportError { phase: Phase::Receive, kind: error.into(), outcome: Some(Outcome::from_flags(flags)) }
}
