//! The thread that makes the engine's steps durable.
//!
//! A disk may take long, so no worker of the runtime waits for one, and nobody who holds the engine. The thread takes
//! what has gathered while it wrote, commits it as one group, and then carries the steps out in their order: under
//! load a sync of the disk is shared by many changes.
//!
//! When a commit fails, the group stays with the thread, which opens the store again and again until the group is
//! stored, or is found stored already; the node takes nothing meanwhile.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fmt, io, mem, process};

use crate::cluster::engine::Step;
use crate::cluster::store::{Meta, Store, StoreError, Transaction};
use crate::server::data::{Folder, Identity};

use super::Replication;
use super::journal::weight;

/// How long after an error the store is tried again, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(3)];

/// How long the end waits for a disk.
const END: Duration = Duration::from_secs(5);

/// Owns the thread: ends it, and gives the folder free, when it is dropped.
pub struct Keeper {
    replication: Arc<Replication>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    /// The process that started it: in one that was forked from it there is no such thread.
    process: u32,
}

/// What the thread has.
struct Work<S> {
    replication: Arc<Replication>,
    store: S,
    /// What the store knew beside the records when it was committed last.
    last: Option<Meta>,
    folder: Option<Folder>,
    /// Whose folder it is, where that is not yet written.
    identity: Option<Box<Identity>>,
}

impl Keeper {
    /// Begins to store what `replication`, which was restored from `store`, does; `last` is what the store knows beside
    /// the records. The folder is held until the end.
    pub fn start(
        replication: Arc<Replication>,
        store: impl Store + Send + 'static,
        last: Option<Meta>,
        folder: Option<Folder>,
    ) -> io::Result<Self> {
        let (sender, ended) = sync_channel::<()>(0);
        let mut work = Work { replication: Arc::clone(&replication), store, last, folder, identity: None };
        let thread = thread::Builder::new().name("hanaming-disk".to_owned()).spawn(move || {
            work.run();
            // The folder is free before the end is heard of.
            drop(work);
            drop(sender);
        })?;
        Ok(Self { replication, ended, thread: Some(thread), process: process::id() })
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if self.process != process::id() {
            return;
        }
        self.replication.close();
        if self.ended.recv_timeout(END) == Err(RecvTimeoutError::Timeout) {
            tracing::error!("the disk of the data folder does not answer: what was not acknowledged may be lost");
            return;
        }
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

impl<S: Store> Work<S> {
    fn run(&mut self) {
        while let Some((mut group, identity)) = self.replication.next_group() {
            self.identity = identity.or(self.identity.take());
            let take = |step: &mut Step| mem::take(&mut step.transaction);
            let transactions: Vec<Transaction> = group.iter_mut().map(take).collect();
            let bytes = transactions.iter().map(weight).sum();
            if !self.make_durable(transactions) {
                return;
            }
            self.write_identity();
            self.replication.carry_out_group(group, bytes);
        }
    }

    /// Stores a group, however long that takes; `false` where the node ends first.
    fn make_durable(&mut self, mut group: Vec<Transaction>) -> bool {
        group.retain(|transaction| !transaction.is_empty());
        if group.is_empty() {
            return true;
        }
        let meta = group.iter_mut().rev().find_map(|transaction| transaction.meta.clone());
        let mut done = self.store.commit(&group);
        let mut pause = PAUSES[0];
        while let Err(error) = done {
            self.replication.suspend(error);
            if self.replication.closes_within(pause) {
                return false;
            }
            pause = (pause * 2).min(PAUSES[1]);
            done = match self.store.reopen() {
                Ok(stored) if stored.is_some() && stored == meta => Ok(()),
                Ok(stored) if stored == self.last => self.store.commit(&group),
                // It is neither what was there before nor what was to be there.
                Ok(_) => Err(StoreError::Damaged),
                Err(error) => Err(error),
            };
        }
        self.last = meta.or(self.last.take());
        true
    }

    /// Not vital: where it fails it is tried again with what is written next.
    fn write_identity(&mut self) {
        let (Some(folder), Some(identity)) = (&self.folder, &self.identity) else { return };
        match folder.keep(identity) {
            Ok(()) => self.identity = None,
            Err(error) => tracing::warn!("{}: {error}", folder.path().display()),
        }
    }
}
