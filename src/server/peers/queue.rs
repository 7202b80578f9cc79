//! The names that one peer is to be asked for, without I/O: which go out together, and when.
//!
//! A miss asks every node, so one careless client could make much work for all. Three things bound it: only a few
//! requests to a peer are under way at once, and what comes meanwhile is collected, each name once, for the next; each
//! request takes many names; and requests for names of which nothing is known are paced, while a name that the peer
//! is remembered to have never waits for the pace.
//!
//! A name joins only a request that has not been sent yet. So an answer is never older than the question: whoever
//! binds a name and then looks it up is not told what was true before.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Requests to one peer under way at once.
const UNDER_WAY: usize = 4;

/// Names in one request.
pub const BATCH: usize = 512;

/// Requests for unknown names that may go out at once, after a quiet time.
const BURST: u32 = 256;

/// After that, one in each of these.
const PACE: Duration = Duration::from_millis(1);

/// One name and all who wait for it.
#[derive(Debug)]
pub struct Asked<W> {
    /// The name.
    pub name: Arc<str>,
    /// Who waits.
    pub waiters: Vec<W>,
    /// Until when the last of them waits.
    pub until: Duration,
}

/// What can be sent now.
#[derive(Debug)]
pub enum Take<W> {
    /// This, in one request; [`PeerQueue::finished`] must follow.
    Batch(Vec<Asked<W>>),
    /// Nothing before then.
    At(Duration),
    /// Nothing before something is added or finished.
    Nothing,
}

/// The names that one peer is to be asked for.
#[derive(Debug)]
pub struct PeerQueue<W> {
    waiting: HashMap<Arc<str>, Asked<W>>,
    order: VecDeque<Arc<str>>,
    /// Some name waiting is one that the peer is remembered to have.
    hurried: bool,
    under_way: usize,
    burst: u32,
    /// When `burst` was last reckoned.
    reckoned: Duration,
}

impl<W> Default for PeerQueue<W> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
            order: VecDeque::new(),
            hurried: false,
            under_way: 0,
            burst: BURST,
            reckoned: Duration::ZERO,
        }
    }
}

impl<W> PeerQueue<W> {
    /// `waiter` wants to know of `name` until `until`. `remembered`: the peer had it the last time.
    pub fn add(&mut self, name: &Arc<str>, waiter: W, until: Duration, remembered: bool) {
        self.hurried |= remembered;
        if let Some(asked) = self.waiting.get_mut(&**name) {
            asked.waiters.push(waiter);
            asked.until = asked.until.max(until);
            return;
        }
        self.order.push_back(Arc::clone(name));
        self.waiting.insert(Arc::clone(name), Asked { name: Arc::clone(name), waiters: vec![waiter], until });
    }

    /// What can be sent at `now`. Names whose last waiter's time is over are dropped.
    pub fn take(&mut self, now: Duration) -> Take<W> {
        while let Some(name) = self.order.front()
            && self.waiting.get(name).is_none_or(|asked| asked.until <= now)
        {
            self.waiting.remove(name);
            self.order.pop_front();
        }
        if self.order.is_empty() || self.under_way == UNDER_WAY {
            return Take::Nothing;
        }
        if !self.hurried && !self.spend(now) {
            return Take::At(self.reckoned + PACE);
        }
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some(name) = self.order.pop_front()
        {
            batch.extend(self.waiting.remove(&name).filter(|asked| asked.until > now));
        }
        self.hurried &= !self.order.is_empty();
        self.under_way += 1;
        Take::Batch(batch)
    }

    /// A request that was taken has ended.
    pub fn finished(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// Whether nothing waits and nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.under_way == 0 && self.order.is_empty()
    }

    /// Takes one of the requests that the pace allows.
    fn spend(&mut self, now: Duration) -> bool {
        let earned = now.saturating_sub(self.reckoned).as_nanos() / PACE.as_nanos();
        if let Ok(earned) = u32::try_from(earned)
            && self.burst.saturating_add(earned) < BURST
        {
            self.burst += earned;
            self.reckoned += PACE * earned;
        } else {
            self.burst = BURST;
            self.reckoned = now;
        }
        let allowed = self.burst > 0;
        self.burst = self.burst.saturating_sub(1);
        allowed
    }
}
