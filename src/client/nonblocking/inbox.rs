//! What other threads bring: replies in a bounded queue, news of the fleet, and one wake-up per batch.
//!
//! A node of this process answers on a thread of its own. Its reply is queued, and the first one of a batch makes a
//! descriptor readable, which the loop watches; the loop takes the whole batch. News of the fleet rings the same bell.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::protocol::Reply;

/// More replies than this are never queued: a loop that does not take any more is stuck, and the calls run into
/// their time limits.
const CAPACITY: usize = 1 << 17;

/// The queue's end on the loop's thread.
#[derive(Debug)]
pub(super) struct Inbox {
    bell: UnixStream,
    shared: Arc<Shared>,
}

/// The queue's end on any other thread.
#[derive(Clone, Debug)]
pub(super) struct Outlet(Arc<Shared>);

/// The same, for somebody who has no interest in keeping it.
#[derive(Clone, Debug)]
pub(super) struct WeakOutlet(Weak<Shared>);

#[derive(Debug)]
struct Shared {
    queue: Mutex<Vec<(u64, Reply)>>,
    /// The bell was rung and the batch not taken since.
    rung: AtomicBool,
    rope: UnixStream,
}

impl Inbox {
    pub(super) fn new() -> io::Result<Self> {
        let (bell, rope) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        rope.set_nonblocking(true)?;
        Ok(Self { bell, shared: Arc::new(Shared { queue: Mutex::new(Vec::new()), rung: AtomicBool::new(false), rope }) })
    }

    /// What to watch for reading.
    pub(super) fn fd(&self) -> RawFd {
        self.bell.as_raw_fd()
    }

    pub(super) fn outlet(&self) -> Outlet {
        Outlet(Arc::clone(&self.shared))
    }

    /// All replies that came, with their requests' ids.
    pub(super) fn take(&mut self) -> Vec<(u64, Reply)> {
        // The bell is silenced before the queue is emptied: a reply that comes between the two rings again.
        let mut bytes = [0; 64];
        while matches!(self.bell.read(&mut bytes), Ok(count) if count == bytes.len()) {}
        self.shared.rung.store(false, Ordering::SeqCst);
        std::mem::take(&mut *self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Ends the queue; the socket lives on until nobody watches it.
    pub(super) fn close(self) -> UnixStream {
        self.bell
    }
}

impl Outlet {
    /// Queues a reply, and wakes the loop where nobody else has.
    pub(super) fn put(&self, id: u64, reply: Reply) {
        {
            let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.len() >= CAPACITY {
                return;
            }
            queue.push((id, reply));
        }
        self.0.ring();
    }

    pub(super) fn downgrade(&self) -> WeakOutlet {
        WeakOutlet(Arc::downgrade(&self.0))
    }
}

impl WeakOutlet {
    /// Wakes the loop. Gives whether there still is one.
    pub(super) fn ring(&self) -> bool {
        self.0.upgrade().is_some_and(|shared| {
            shared.ring();
            true
        })
    }
}

impl Shared {
    fn ring(&self) {
        if !self.rung.swap(true, Ordering::SeqCst) {
            // A full socket is readable already; a closed one has nobody left to wake.
            let _ = (&self.rope).write(&[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Answer;

    fn rings(inbox: &Inbox) -> bool {
        let mut room = [std::mem::MaybeUninit::uninit()];
        socket2::SockRef::from(&inbox.bell).peek(&mut room).is_ok()
    }

    #[test]
    fn a_batch_rings_once_and_is_taken_whole() {
        let mut inbox = Inbox::new().unwrap();
        assert!(!rings(&inbox));
        let outlet = inbox.outlet();
        std::thread::spawn(move || {
            for id in 0..3 {
                outlet.put(id, Reply::Done(Answer::Accepted));
            }
        })
        .join()
        .unwrap();
        assert!(rings(&inbox));
        let ids: Vec<u64> = inbox.take().into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [0, 1, 2]);
        assert!(!rings(&inbox), "the bell is silent once the batch is taken");
        inbox.outlet().put(3, Reply::Done(Answer::Accepted));
        assert!(rings(&inbox), "the next batch rings again");
    }

    #[test]
    fn a_reply_for_a_closed_loop_is_dropped() {
        let inbox = Inbox::new().unwrap();
        let outlet = inbox.outlet();
        drop(inbox.close());
        outlet.put(1, Reply::Done(Answer::Accepted));
    }
}
