//! Answers to lookups, kept for as long as they are known to be true.
//!
//! ```text
//! cache    what was answered, and whether that still holds
//!  ├ trace   pure: follows one node's log of the cluster tree, and says which names have changed
//!  └ feed    carries the trace's questions, on the keeper's thread
//! ```
//!
//! What stands in the cluster tree is true while that node's log is followed and has not named it. So such an answer is
//! kept only where the node that gave it is the one that is followed: another may lag behind it, and what it says late
//! would never be put right. Lookups therefore prefer that node. Nothing tells of the nodes' local trees, nor of names
//! that are bound nowhere: what was answered of these is kept for a moment.
//!
//! What can't be known to be true any longer is not answered, and not forgotten either: it is the *last known good* where
//! no server is left to ask.

mod feed;
mod trace;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::naming::{ErrorKind, Source};
use crate::protocol::{Answer, Found, LinkMet, Reply, WatchRequest, Watched};

pub use feed::feed;
use trace::{Recent, Trace};

/// How many answers are kept, and how many bytes they may take. Beyond that the oldest go.
const NAMES: usize = 10_000;
const BYTES: usize = 16 << 20;

/// For how long an answer is kept of which no log tells.
const LOCAL_TTL: Duration = Duration::from_secs(1);

/// What stands around an answer's texts and bytes.
const AROUND: usize = 256;

/// Grows whenever something that was answered from a cache may be answered otherwise.
pub type Generation = Arc<AtomicU64>;

/// The kept answers of one client.
#[derive(Debug)]
pub struct Cache {
    kept: BTreeMap<Arc<str>, Kept>,
    /// The names and the numbers under which they were kept, the oldest first.
    order: VecDeque<(Arc<str>, u64)>,
    last_number: u64,
    bytes: usize,
    trace: Trace,
    recent: Recent,
    generation: Generation,
    /// Somebody looks up, so that the log is to be followed; and whether it is.
    is_wanted: bool,
    is_fed: bool,
}

#[derive(Debug)]
struct Kept {
    reply: Reply,
    truth: Truth,
    number: u64,
    size: usize,
}

/// Until when an answer is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    /// While this log is followed.
    Followed(u64),
    /// Until then.
    Until(Duration),
}

impl Cache {
    /// Nothing is kept.
    pub fn new(generation: Generation) -> Self {
        Self {
            kept: BTreeMap::new(),
            order: VecDeque::new(),
            last_number: 0,
            bytes: 0,
            trace: Trace::default(),
            recent: Recent::default(),
            generation,
            is_wanted: false,
            is_fed: false,
        }
    }

    /// What a lookup of this name is answered, where that is known.
    pub fn answer(&mut self, name: &str, now: Duration) -> Option<Reply> {
        self.is_wanted = true;
        let kept = self.kept.get(name)?;
        let holds = match kept.truth {
            Truth::Followed(log) => self.trace.vouches_for(log, now),
            Truth::Until(end) => now < end,
        };
        holds.then(|| kept.reply.clone())
    }

    /// What this name was bound to when that was last known.
    pub fn last_known(&self, name: &str) -> Option<Reply> {
        self.kept.get(name).map(|kept| &kept.reply).filter(|reply| matches!(reply, Reply::Done(_))).cloned()
    }

    /// The node whose log is followed: what it answers can be kept.
    pub fn followed(&self, now: Duration) -> Option<&Arc<str>> {
        self.trace.followed(now)
    }

    /// What has been heard so far: told with an answer, it says what that answer can't know.
    pub fn moment(&self) -> u64 {
        self.recent.moment()
    }

    /// Takes what a lookup was answered that was asked at that [moment](Self::moment).
    pub fn keep(&mut self, name: &str, reply: &Reply, asked_at: u64, now: Duration) {
        let Some(truth) = self.truth_of(reply, now) else { return };
        if !self.recent.is_unchanged_since(asked_at, name) {
            return;
        }
        self.drop_one(name);
        let name: Arc<str> = Arc::from(name);
        let size = name.len() + size_of(reply) + AROUND;
        self.last_number += 1;
        self.bytes += size;
        self.order.push_back((Arc::clone(&name), self.last_number));
        self.kept.insert(name, Kept { reply: reply.clone(), truth, number: self.last_number, size });
        while self.kept.len() > NAMES || self.bytes > BYTES || self.order.len() > 2 * NAMES {
            self.drop_oldest();
        }
    }

    fn truth_of(&self, reply: &Reply, now: Duration) -> Option<Truth> {
        let found = match reply {
            Reply::Done(Answer::Found(found) | Answer::Link(LinkMet { found, .. })) => found,
            Reply::Failed(fault) if ErrorKind::from_code(fault.code) == ErrorKind::NameNotFound => {
                return Some(Truth::Until(now + LOCAL_TTL));
            }
            _ => return None,
        };
        match found.source {
            Source::Cluster => {
                let is_followed = self.trace.followed(now).is_some_and(|node| **node == *found.node);
                is_followed.then_some(Truth::Followed(self.trace.log()))
            }
            _ => Some(Truth::Until(now + LOCAL_TTL)),
        }
    }

    /// This client changes a name, or has changed it.
    pub fn changed(&mut self, name: &str) {
        self.recent.note(name);
        self.forget(name);
    }

    /// The members are others: what was answered from their local trees may be gone.
    pub fn members_changed(&mut self) {
        self.recent.note("");
        let of_locals = self.kept.iter().filter(|(_, kept)| matches!(kept.truth, Truth::Until(_)));
        let names: Vec<Arc<str>> = of_locals.map(|(name, _)| Arc::clone(name)).collect();
        for name in names {
            self.drop_one(&name);
        }
    }

    /// Whether the log is to be followed and is not yet, once.
    pub fn take_hunger(&mut self) -> bool {
        self.is_hungry() && {
            self.is_fed = true;
            true
        }
    }

    /// Whether the log is to be followed and is not yet.
    pub fn is_hungry(&self) -> bool {
        self.is_wanted && !self.is_fed
    }

    /// What is asked next about the log.
    pub fn request(&self) -> WatchRequest {
        self.trace.request()
    }

    /// Takes a node's answer to that.
    pub fn hear(&mut self, watched: Watched, now: Duration) {
        let log = self.trace.log();
        for name in self.trace.hear(watched, now) {
            self.changed(&name);
        }
        if self.trace.log() != log {
            self.turned();
        }
    }

    /// Nobody answered: nothing is known to be true until somebody does.
    pub fn lost(&mut self) {
        self.trace.lose();
        self.turned();
    }

    /// Another log is followed, or none: what changed meanwhile is not known.
    fn turned(&mut self) {
        self.recent.note("");
        self.renewed();
    }

    fn renewed(&self) {
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// Forgets what is kept of a name, of what lies beneath it, which may be reached by way of it, and of the contexts that
    /// it lies in, which may be there for it.
    fn forget(&mut self, name: &str) {
        if name.is_empty() {
            self.kept.clear();
            self.order.clear();
            self.bytes = 0;
            return self.renewed();
        }
        let mut above = name;
        while !above.is_empty() {
            self.drop_one(above);
            above = above.rsplit_once('/').map_or("", |(context, _)| context);
        }
        let beneath = format!("{name}/");
        let from = (Bound::Included(beneath.as_str()), Bound::Unbounded);
        while let Some((next, _)) = self.kept.range::<str, _>(from).next().filter(|(next, _)| next.starts_with(&beneath)) {
            let next = Arc::clone(next);
            self.drop_one(&next);
        }
    }

    fn drop_one(&mut self, name: &str) {
        if let Some(gone) = self.kept.remove(name) {
            self.bytes -= gone.size;
            self.renewed();
        }
    }

    fn drop_oldest(&mut self) {
        let Some((name, number)) = self.order.pop_front() else { return };
        // It may have been kept anew since.
        if self.kept.get(&name).is_some_and(|kept| kept.number == number) {
            self.drop_one(&name);
        }
    }
}

fn size_of(reply: &Reply) -> usize {
    let content = |found: &Found| found.content.value.len() + found.content.class_name.len();
    match reply {
        Reply::Done(Answer::Found(found)) => content(found),
        Reply::Done(Answer::Link(met)) => content(&met.found) + met.at.len() + met.target.len() + met.rest.len(),
        Reply::Failed(fault) => fault.message.len(),
        Reply::Done(_) | Reply::Stale(_) => 0,
    }
}
