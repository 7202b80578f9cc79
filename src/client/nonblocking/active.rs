//! A call that is under way, and what it waits for.

use std::time::Duration;

use crate::client::call::{Call, Send};

use super::effect::Watch;

/// A call, whose it is, and what it waits for.
#[derive(Debug)]
pub(super) struct Active<T> {
    /// What the owner knows it by, until it has ended.
    pub(super) token: Option<T>,
    pub(super) call: Call,
    pub(super) waits: Waits,
}

/// What a call waits for.
#[derive(Debug)]
pub(super) enum Waits {
    /// For its owner to say that it is still wanted (see [`Driver::leaving`](super::Driver::leaving)).
    Owner(Send),
    /// For an answer.
    Answer(Asked),
    /// For a moment.
    Moment(Duration),
}

impl Waits {
    /// Until when it waits, where the clock ends it.
    pub(super) fn until(&self) -> Option<Duration> {
        match self {
            Self::Owner(_) => None,
            Self::Answer(asked) => Some(asked.connects_by.map_or(asked.ends, |by| by.min(asked.ends))),
            Self::Moment(until) => Some(*until),
        }
    }
}

/// A request that is on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) way: Way,
    pub(super) since: Duration,
    /// When its connection has to stand, as long as that isn't known to be so.
    pub(super) connects_by: Option<Duration>,
    /// When the attempt's time is over.
    pub(super) ends: Duration,
    /// How much it was given at first.
    pub(super) limit: Duration,
    /// The connection was open and idle when the request came to it: it may have died of that.
    pub(super) reused: bool,
}

/// Which way a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It waits in the line's queue.
    Queue(Watch),
    /// It was encoded for the line, and its frame ends at this place in the stream.
    Line(Watch, u64),
    /// To a node of this process.
    InProcess,
}

impl Way {
    /// The line it goes.
    pub(super) fn watch(self) -> Option<Watch> {
        match self {
            Self::Queue(watch) | Self::Line(watch, _) => Some(watch),
            Self::InProcess => None,
        }
    }
}
