//! How slow the other side of a connection may be. Pure: it is told what is the case, and when.
//!
//! Each limit is on a whole: a hello, a frame from its first byte to its last, everything that waited to be taken at
//! one moment, and silence between frames. So a byte now and then earns nobody more time.

use std::time::Duration;

use tokio::time::Instant;

use crate::server::config::ServerLimits;

/// What is the case with a connection after its frames were taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Whole frames taken since it started.
    pub frames: u64,
    /// A frame has begun and its rest is wanted.
    pub mid_frame: bool,
    /// Bytes that wait to be taken by the other side.
    pub unsent: usize,
    /// Bytes taken by it since it started.
    pub taken: u64,
    /// Requests that wait for other nodes.
    pub in_flight: usize,
    /// The other side was welcomed.
    pub greeted: bool,
}

/// The times that run for a connection.
#[derive(Debug)]
pub struct Pace {
    handshake: Duration,
    frame: Duration,
    idle: Duration,
    unsent: Duration,
    started: Instant,
    /// When the state was noted last, and the state.
    noted: Instant,
    last: State,
    /// When the last frame was taken, or the last request answered.
    active: Instant,
    /// When the frame that is coming in began.
    frame_since: Option<Instant>,
    /// Since when something waits to be taken, and how many bytes will have been when all of it is.
    unsent_since: Option<(Instant, u64)>,
}

impl Pace {
    /// The times of a connection that started at `now`.
    pub fn new(now: Instant, limits: &ServerLimits) -> Self {
        Self {
            handshake: limits.handshake,
            frame: limits.frame_time,
            idle: limits.idle,
            unsent: limits.unsent_time,
            started: now,
            noted: now,
            last: State::default(),
            active: now,
            frame_since: None,
            unsent_since: None,
        }
    }

    /// Takes note of the state at `now`.
    pub fn note(&mut self, state: State, now: Instant) {
        let took_frames = state.frames != self.last.frames;
        if took_frames || state.in_flight < self.last.in_flight {
            self.active = now;
        }
        self.frame_since = match self.frame_since {
            _ if !state.mid_frame => None,
            Some(since) if !took_frames => Some(since),
            _ => Some(now),
        };
        self.unsent_since = match self.unsent_since {
            _ if state.unsent == 0 => None,
            Some((since, all)) if state.taken < all => Some((since, all)),
            _ => Some((now, state.taken + state.unsent as u64)),
        };
        self.noted = now;
        self.last = state;
    }

    /// When the next of the times runs out; where none runs, some time later than now, to look again.
    pub fn deadline(&self) -> Instant {
        let running = self.running().into_iter().flatten().map(|(at, _)| at);
        running.min().unwrap_or_else(|| self.noted + self.idle)
    }

    /// Which time has run out at `now`.
    pub fn over(&self, now: Instant) -> Option<&'static str> {
        self.running().into_iter().flatten().find(|(at, _)| *at <= now).map(|(_, what)| what)
    }

    fn running(&self) -> [Option<(Instant, &'static str)>; 4] {
        let waits = self.last.mid_frame || self.last.unsent > 0 || self.last.in_flight > 0;
        [
            (!self.last.greeted).then(|| (self.started + self.handshake, "no hello in time")),
            self.frame_since.map(|since| (since + self.frame, "a frame did not end in time")),
            self.unsent_since.map(|(since, _)| (since + self.unsent, "replies were not taken in time")),
            (!waits).then(|| (self.active + self.idle, "idle for too long")),
        ]
    }
}
