//! Drives the [queues of names](super::queue) that peers are asked for.
//!
//! Each peer has a line of its own. A request is carried by a task that lives as long as the request; what was
//! collected meanwhile goes out when it ends, and no task is left where nothing is asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::protocol::{Answer, ManyItem, Operation, Reply};
use crate::topology::NodeId;

use super::delegation::{Heard, Reach};
use super::queue::{Asked, PeerQueue, Take};
use super::{Peers, question};
use crate::server::clock::Clock;

/// One who waits for a peer's word on a name.
type Waiter = oneshot::Sender<Heard<ManyItem>>;

/// Asks peers for names, many at a time.
#[derive(Debug)]
pub struct Inquiries {
    peers: Arc<dyn Peers>,
    clock: Clock,
    lines: Mutex<HashMap<NodeId, Arc<Line>>>,
    sent: AtomicU64,
}

/// What one peer is to be asked.
#[derive(Debug)]
struct Line {
    peer: NodeId,
    queue: Mutex<PeerQueue<Waiter>>,
    /// A task waits for the pace to allow the next request.
    paced: AtomicBool,
}

impl Inquiries {
    /// Asks through `peers`.
    pub fn new(peers: Arc<dyn Peers>, clock: Clock) -> Arc<Self> {
        Arc::new(Self { peers, clock, lines: Mutex::default(), sent: AtomicU64::new(0) })
    }

    /// Asks `peer` for `name`. The receiver gives its word; it is closed without one where `until` passes first.
    pub fn ask(
        self: &Arc<Self>,
        peer: NodeId,
        name: &Arc<str>,
        until: Duration,
        remembered: bool,
    ) -> oneshot::Receiver<Heard<ManyItem>> {
        let (waiter, word) = oneshot::channel();
        let line = self.line(peer);
        lock(&line.queue).add(name, waiter, until, remembered);
        self.pump(&line);
        word
    }

    /// Lets go of the lines to nodes that left.
    pub fn retain(&self, live: &[NodeId]) {
        lock(&self.lines).retain(|peer, _| live.contains(peer));
    }

    /// How many requests were sent to peers.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    fn line(&self, peer: NodeId) -> Arc<Line> {
        let mut lines = lock(&self.lines);
        let line =
            lines.entry(peer).or_insert_with(|| Arc::new(Line { peer, queue: Mutex::default(), paced: AtomicBool::new(false) }));
        Arc::clone(line)
    }

    /// Sends what can be sent now, and sees to it that the rest is not forgotten.
    fn pump(self: &Arc<Self>, line: &Arc<Line>) {
        loop {
            let take = lock(&line.queue).take(self.clock.now());
            match take {
                Take::Batch(batch) => {
                    tokio::spawn(Arc::clone(self).exchange(Arc::clone(line), batch));
                }
                Take::At(at) => {
                    if !line.paced.swap(true, Ordering::AcqRel) {
                        tokio::spawn(Arc::clone(self).resume(Arc::clone(line), at));
                    }
                    return;
                }
                Take::Nothing => return,
            }
        }
    }

    async fn resume(self: Arc<Self>, line: Arc<Line>, at: Duration) {
        self.clock.sleep_until(at).await;
        line.paced.store(false, Ordering::Release);
        self.pump(&line);
    }

    /// One request, from its sending to the last waiter's word.
    async fn exchange(self: Arc<Self>, line: Arc<Line>, batch: Vec<Asked<Waiter>>) {
        let until = batch.iter().map(|asked| asked.until).max().unwrap_or_default();
        let within = until.saturating_sub(self.clock.now());
        let names = batch.iter().map(|asked| &*asked.name).collect();
        self.sent.fetch_add(1, Ordering::Relaxed);
        let reply = self.peers.ask(line.peer, question(Operation::LookupMany { names }, within), within).await;
        lock(&line.queue).finished();
        match reply {
            // A peer gives as many answers as fit a frame: what is left is asked again, as long as it gives any.
            Ok(Reply::Done(Answer::Many(items))) if !items.is_empty() => {
                let mut rest = batch.into_iter();
                for (item, asked) in items.iter().zip(rest.by_ref()) {
                    tell(asked, &item.map_or(Heard::Broke, heard));
                }
                let mut queue = lock(&line.queue);
                for asked in rest {
                    for waiter in asked.waiters {
                        queue.add(&asked.name, waiter, asked.until, true);
                    }
                }
            }
            Ok(Reply::Failed(fault)) if fault.refusal.is_none() => {
                let error = Heard::Error(ManyItem::Fault(Box::new(fault)));
                tell_all(batch, &error);
            }
            // At the latest after `within`: then nobody waits any longer who would hear it.
            Ok(_) | Err(_) => tell_all(batch, &Heard::Broke),
        }
        self.pump(&line);
    }
}

/// What a peer's item means to the rule.
fn heard(item: ManyItem) -> Heard<ManyItem> {
    match item {
        ManyItem::Found { .. } | ManyItem::Link(_) => Heard::Positive(item),
        ManyItem::Absent { not_context, resolved } => Heard::Absent(Reach { not_context, resolved }),
        ManyItem::Fault(_) => Heard::Error(item),
        // A peer answers from its own tree alone and always knows.
        ManyItem::Unknown { .. } => Heard::Broke,
    }
}

fn tell_all(batch: Vec<Asked<Waiter>>, word: &Heard<ManyItem>) {
    for asked in batch {
        tell(asked, word);
    }
}

/// Tells all who wait for a name. One who no longer does is no matter.
fn tell(asked: Asked<Waiter>, word: &Heard<ManyItem>) {
    for waiter in asked.waiters {
        let _ = waiter.send(word.clone());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds one of these; if something did, the data would still be whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
