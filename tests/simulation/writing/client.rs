//! A client: one call after the other, each repeated with the same operation id on another node until it is answered.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use hanaming::cluster::engine::Input;
use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::{Binding, Intent, Level, Request};
use hanaming::cluster::vector::{Dot, Seen};
use hanaming::naming::{Content, EntryKind, Name};
use hanaming::protocol::OperationId;

use crate::random::Dice;
use crate::schedule::ms;

use super::lease::LEASE;
use super::plan::{Call, What};

/// How long the first attempt may take, and each after it.
const ATTEMPTS: [Duration; 2] = [ms(265), ms(700)];

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
    /// The versions that it wrote or found: what it is shown later is no older than any of them.
    known: BTreeSet<Dot>,
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
            known: BTreeSet::new(),
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
    pub fn attempt(&mut self, now: Duration, names: &[Name], nodes: usize, dice: &mut Dice) -> Option<(usize, u64, Input)> {
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
        if call.what == What::Read {
            return Some((target, self.handle(), Input::Read { asker: self.handle(), token: self.token.clone() }));
        }
        let request = Request {
            operation: self.operation(),
            name: names[call.at].clone(),
            intent: intent(call.what, names),
            is_retry: self.attempt > 1,
            token: self.token.clone(),
            level: Level::AllLive,
            within: left,
        };
        Some((target, self.handle(), Input::Request { asker: self.handle(), request }))
    }

    /// The current call's.
    pub fn operation(&self) -> OperationId {
        OperationId { client: u128::from(self.number), sequence: self.sequence }
    }

    /// How long the current attempt may take.
    pub fn patience(&self) -> Duration {
        ATTEMPTS[usize::from(self.attempt > 1)]
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
        if let Reply::Done { version, .. } = &reply {
            self.known.extend(version);
        }
        self.finish(Some(reply));
        Some(false)
    }

    /// A node that had seen so much showed these versions; the same as of a reply.
    pub fn shown(&mut self, handle: u64, sight: Option<(Seen, Vec<Dot>)>) -> Result<Option<bool>, String> {
        if handle != self.handle() || self.began.is_none() {
            return Ok(None);
        }
        let Some((seen, shown)) = sight else { return Ok(Some(true)) };
        if let Some(missing) = self.known.iter().find(|dot| !seen.has(**dot)) {
            return Err(format!("client {} was shown a tree without {missing}, which it knows", self.number));
        }
        self.token.join(&seen);
        self.known.extend(shown);
        self.calls.pop_front();
        self.began = None;
        Ok(Some(false))
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
        What::Lease(value) => Intent::Rebind(Binding { lease: Some(LEASE), ..with_parents(value) }),
        What::Read => unreachable!("it is no request"),
    }
}
