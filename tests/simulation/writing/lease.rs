//! Leases: who holds one renews it, at whichever node, and it must not go as long as a renewal that was confirmed covers it.

use std::collections::BTreeMap;
use std::time::Duration;

use hanaming::cluster::replica::Replica;
use hanaming::cluster::reply::Reply;
use hanaming::cluster::request::{Intent, Level, Request};
use hanaming::cluster::vector::{Dot, Seen};
use hanaming::naming::Name;
use hanaming::protocol::OperationId;

use crate::schedule::ms;

/// How long a lease is.
pub const LEASE: Duration = ms(1500);

/// How often it is renewed.
pub const RENEWED_EVERY: Duration = ms(400);

/// Handles of renewals begin where those of calls end.
const HANDLES: u64 = 8;

/// Whose renewal bears this handle; `None` where it is a call.
pub fn holder_of(handle: u64) -> Option<usize> {
    usize::try_from((handle >> 40).checked_sub(HANDLES + 1)?).ok()
}

/// A client's lease.
pub struct Holder {
    /// The name that it is of.
    pub name: Name,
    version: Dot,
    /// What it was given by: it may have run twice, and one of both was taken back.
    operation: OperationId,
    number: u64,
    renewals: u64,
    /// When the last renewal that was confirmed was sent.
    confirmed: Duration,
    /// When those were sent that were not answered.
    sent: BTreeMap<u64, Duration>,
    /// The client renews no longer.
    pub has_left: bool,
    /// It once renewed too late: the lease may have been let go by a node that froze before it could say so.
    has_lapsed: bool,
}

impl Holder {
    /// Client `number` was given a lease that it asked for then.
    pub fn new(number: usize, name: Name, (version, operation): (Dot, OperationId), asked: Duration) -> Self {
        let number = number as u64;
        let (sent, has_left, has_lapsed) = (BTreeMap::new(), false, false);
        Self { name, version, operation, number, renewals: 0, confirmed: asked, sent, has_left, has_lapsed }
    }

    /// The next renewal, and its handle.
    pub fn renew(&mut self, now: Duration) -> (u64, Request) {
        self.has_lapsed |= now >= self.confirmed + LEASE;
        self.renewals += 1;
        let handle = ((self.number + HANDLES + 1) << 40) | self.renewals;
        self.sent.insert(handle, now);
        let request = Request {
            operation: OperationId { client: u128::from(self.number + 1 + HANDLES), sequence: self.renewals },
            name: self.name.clone(),
            intent: Intent::Renew { version: self.version },
            is_retry: false,
            token: Seen::default(),
            level: Level::AllLive,
            within: RENEWED_EVERY,
        };
        (handle, request)
    }

    /// A renewal was answered.
    pub fn answered(&mut self, handle: u64, reply: &Reply) {
        if let (Some(sent), Reply::Done { .. }) = (self.sent.remove(&handle), reply) {
            self.confirmed = self.confirmed.max(sent);
        }
    }

    /// Whether a node has let it go, or heard that somebody has, before its time was over.
    pub fn check(&self, replica: &Replica, now: Duration) -> Result<(), String> {
        let record = replica.record(&self.name);
        let stands = || record.is_some_and(|record| record.siblings.iter().any(|s| s.operation == self.operation));
        let is_due = self.has_left || self.has_lapsed || now >= self.confirmed + LEASE;
        if !is_due && replica.seen().has(self.version) && !stands() {
            return Err(format!("the lease of {:?} is gone at {now:?}, and was renewed at {:?}", self.name, self.confirmed));
        }
        Ok(())
    }
}
