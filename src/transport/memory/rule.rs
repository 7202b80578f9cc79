//! Rules that strike single frames.

use std::ops::Range;
use std::time::Duration;

use crate::protocol::{FrameKind, Header};

/// What befalls a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Mishap {
    /// It is lost; what follows it arrives. As if the other side had never answered it.
    Lose,
    /// It is lost, with all that follows it on that connection in that direction: the connection hangs, silent.
    Silence,
    /// It is lost and its connection is reset.
    Reset,
    /// It arrives later, by a time drawn from the range; frames don't overtake each other.
    Delay(Range<Duration>),
}

/// Which frames are struck, how often, and what befalls them. A new rule strikes every frame.
#[derive(Clone, Debug)]
pub struct Rule {
    pub(super) mishap: Mishap,
    from: Option<String>,
    to: Option<String>,
    kind: Option<FrameKind>,
    operation: Option<u16>,
    pub(super) times: Option<u32>,
    pub(super) chance: f64,
}

impl Rule {
    /// Strikes every frame.
    pub fn new(mishap: Mishap) -> Self {
        Self { mishap, from: None, to: None, kind: None, operation: None, times: None, chance: 1.0 }
    }

    /// Only frames that this host sends.
    pub fn from(mut self, host: &str) -> Self {
        self.from = Some(host.to_owned());
        self
    }

    /// Only frames sent to this host.
    pub fn to(mut self, host: &str) -> Self {
        self.to = Some(host.to_owned());
        self
    }

    /// Only frames of this kind.
    pub fn kind(mut self, kind: FrameKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Only requests of the operation with this number (`Operation::code`).
    pub fn operation(mut self, code: u16) -> Self {
        self.operation = Some(code);
        self.kind(FrameKind::Request)
    }

    /// Only so many times; then the rule is spent.
    pub fn times(mut self, times: u32) -> Self {
        self.times = Some(times);
        self
    }

    /// Only with this probability, from 0 to 1.
    pub fn chance(mut self, chance: f64) -> Self {
        self.chance = chance;
        self
    }

    /// Whether the rule is meant for this frame.
    pub(super) fn fits(&self, from: &str, to: &str, header: &Header) -> bool {
        self.times != Some(0)
            && self.from.as_deref().is_none_or(|host| host == from)
            && self.to.as_deref().is_none_or(|host| host == to)
            && self.kind.is_none_or(|kind| kind == header.kind)
            && self.operation.is_none_or(|code| code == header.flags)
    }
}
