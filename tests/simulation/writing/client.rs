//! A client: one call after the other, each repeated with the same operation id on another node until it is answered.

use std::collections::VecDeque;
use std::time::Duration;

use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::{Binding, Intent, Level, Request};
use hanaming::cluster::vector::Seen;
use hanaming::naming::{Content, EntryKind, Name};
use hanaming::protocol::OperationId;

use crate::random::Dice;
use crate::schedule::ms;

use super::plan::{Call, What};

/// How long one attempt may take.
pub const ATTEMPT: Duration = ms(700);

/// How long a call may take.
pub const PATIENCE: Duration = ms(6000);

/// What came of a call: the reply, or nothing until its time was up.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The call.
    pub call: Call,
    /// The final reply.
    pub reply: Option<Reply>,
}

/// A client.
pub struct Client {
    /// What is left to do, the current call first.
    pub calls: VecDeque<Call>,
    /// What is done.
    pub finished: Vec<Finished>,
    /// When the current call began; `None` between calls.
    pub began: Option<Duration>,
    number: u64,
    sequence: u64,
    attempt: u64,
    last_target: usize,
    token: Seen,
}

impl Client {
    /// A client with nothing to do.
    pub fn new(number: u64) -> Self {
        Self {
            calls: VecDeque::new(),
            finished: Vec::new(),
            began: None,
            number,
            sequence: 0,
            attempt: 0,
            last_target: 0,
            token: Seen::default(),
        }
    }

    /// Begins the next call, if there is one.
    pub fn begin(&mut self, now: Duration) -> bool {
        if self.began.is_some() || self.calls.is_empty() {
            return false;
        }
        self.began = Some(now);
        self.sequence += 1;
        self.attempt = 0;
        true
    }

    /// The next attempt: to whom, under which handle, and what; `None` where time is up.
    pub fn attempt(&mut self, now: Duration, names: &[Name], nodes: usize, dice: &mut Dice) -> Option<(usize, u64, Request)> {
        let (began, call) = (self.began?, *self.calls.front()?);
        let left = (began + PATIENCE).checked_sub(now).filter(|left| !left.is_zero());
        let Some(left) = left else {
            self.finish(None);
            return None;
        };
        let mut target = dice.index(nodes);
        if self.attempt > 0 && target == self.last_target {
            target = (target + 1) % nodes;
        }
        self.last_target = target;
        self.attempt += 1;
        let operation = OperationId { client: u128::from(self.number), sequence: self.sequence };
        let request = Request {
            operation,
            name: names[call.at].clone(),
            intent: intent(call.what, names),
            is_retry: self.attempt > 1,
            token: self.token.clone(),
            level: Level::AllLive,
            within: left,
        };
        Some((target, self.handle(), request))
    }

    /// Names the current attempt.
    pub fn handle(&self) -> u64 {
        (self.number << 40) | (self.sequence << 20) | self.attempt
    }

    /// A reply arrives; whether the current attempt is to be repeated (`Some(true)`), the call is done
    /// (`Some(false)`), or the reply is too late to matter.
    pub fn replied(&mut self, handle: u64, reply: Reply, token: Option<&Seen>) -> Option<bool> {
        if handle != self.handle() || self.began.is_none() {
            return None;
        }
        if let Some(token) = token {
            self.token.join(token);
        }
        if matches!(reply, Reply::Refused(_)) {
            return Some(true);
        }
        self.finish(Some(reply));
        Some(false)
    }

    fn finish(&mut self, reply: Option<Reply>) {
        if let Some(call) = self.calls.pop_front() {
            self.finished.push(Finished { call, reply });
        }
        self.began = None;
    }
}

fn intent(what: What, names: &[Name]) -> Intent {
    let content = |value: u64| Content {
        kind: EntryKind::Value,
        class_name: "int".into(),
        value: value.to_le_bytes().to_vec().into(),
        instance: None,
    };
    let with_parents = |value| Binding { content: content(value), create_parents: true, lease: None };
    match what {
        What::Bind(value) => Intent::Bind(with_parents(value)),
        What::Rebind(value) => Intent::Rebind(with_parents(value)),
        What::Unbind => Intent::Unbind,
        What::Move(to) => Intent::Rename { to: names[to].clone() },
        What::Create => Intent::CreateSubcontext { create_parents: true },
        What::Destroy => Intent::DestroySubcontext,
    }
}
