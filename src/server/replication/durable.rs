//! How what an engine did becomes durable, seen from its driver; and what is done while nothing can be stored.

use std::path::Path;
use std::sync::PoisonError;
use std::time::Duration;

use crate::cluster::engine::{Input, Step};
use crate::cluster::message::Message;
use crate::cluster::reply::{Receipt, Refusal, Reply, Uncertainty};
use crate::cluster::store::StoreError;
use crate::server::data::Identity;
use crate::topology::NodeId;

use super::{Asking, Replication, State};

/// How far the steps have come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// So many are carried out.
    done: u64,
    is_suspended: bool,
}

impl Replication {
    /// Whether a change is through as soon as nobody else has to hold it.
    pub fn is_immediate(&self) -> bool {
        self.folder.is_none()
    }

    /// Waits until all that this node knows is durable, or nothing can be stored: then what is not may still be lost.
    pub async fn settled(&self) {
        let Some(made) = self.lock().journal.as_ref().map(|journal| journal.made) else { return };
        let is_settled = |progress: &Progress| progress.done >= made || progress.is_suspended;
        // The sender lives in `self`.
        let _ = self.progress.subscribe().wait_for(is_settled).await;
    }

    /// Why nothing can be stored, and what is to be done, in words.
    pub fn trouble(&self) -> Option<String> {
        let error = self.lock().journal.as_ref()?.trouble?;
        Some(told(error, self.folder.as_deref()?))
    }

    /// The peers that can store nothing for now.
    pub fn suspended(&self) -> Vec<NodeId> {
        self.lock().engine.suspended().collect()
    }

    /// Whose folder it is from now on.
    pub fn remember(&self, identity: Identity) {
        if let Some(journal) = &mut self.lock().journal {
            journal.identity = Some(Box::new(identity));
            self.work.notify_one();
        }
    }

    /// Why a change is not begun; the engine is not asked then.
    pub(super) fn not_begun(state: &State) -> Option<Refusal> {
        let journal = state.journal.as_ref()?;
        match journal.trouble {
            Some(_) => Some(Refusal::ReadOnly),
            None => journal.is_full().then_some(Refusal::Overloaded),
        }
    }

    /// Whether a peer's message is not for the engine: it is lost then, and the peer told where it can't be stored.
    pub(super) fn turns_away(&self, state: &State, from: NodeId, message: &Message) -> bool {
        let refusal = Self::not_begun(state);
        if refusal == Some(Refusal::ReadOnly) && *message != Message::Suspended {
            self.peers.tell(from, vec![Message::Suspended]);
        }
        refusal.is_some()
    }

    /// Gives the steps that wait, as soon as there are any, with whose folder it is; `None` at the end.
    pub(super) fn next_group(&self) -> Option<(Vec<Step>, Option<Box<Identity>>)> {
        let mut state = self.lock();
        loop {
            let journal = state.journal.as_mut()?;
            let (group, identity) = (journal.take_group(), journal.identity.take());
            if !group.is_empty() || identity.is_some() {
                return Some((group, identity));
            }
            if journal.is_closing {
                return None;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A group is durable: shows and tells what it did.
    pub(super) fn carry_out_group(&self, group: Vec<Step>, weight: usize) {
        let mut state = self.lock();
        let count = group.len() as u64;
        for step in group {
            self.take_effect(&mut state, step);
        }
        let Some(journal) = &mut state.journal else { return };
        journal.finish_group(weight);
        let was_suspended = journal.trouble.is_some();
        let missed = if was_suspended { journal.make_up() } else { Vec::new() };
        self.progress.send_modify(|progress| *progress = Progress { done: progress.done + count, is_suspended: false });
        if was_suspended {
            tracing::warn!("the data folder can be written again: this node takes changes");
        }
        for input in missed {
            self.step_locked(&mut state, input);
        }
    }

    /// Nothing can be stored. Whoever waits is told that what he asked for is not settled, and the peers that they should
    /// not wait.
    pub(super) fn suspend(&self, error: StoreError) {
        let mut state = self.lock();
        let State { engine, asking, journal: Some(journal), .. } = &mut *state else { return };
        if journal.trouble.replace(error) != Some(error)
            && let Some(folder) = &self.folder
        {
            tracing::error!("{}", told(error, folder));
        }
        self.progress.send_modify(|progress| progress.is_suspended = true);
        let receipt = Receipt::default();
        for (_, waits) in asking.drain() {
            // Whoever asked may have given up.
            match waits {
                Asking::Change(waits) => {
                    let reply = Reply::Unknown { reason: Uncertainty::DiskFailed, receipt: receipt.clone() };
                    let _ = waits.send(reply.into());
                }
                Asking::Sight(waits) => drop(waits.send(false)),
                Asking::Status(waits) => drop(waits),
            }
        }
        for peer in engine.audience() {
            self.peers.tell(peer, vec![Message::Suspended]);
        }
    }

    /// Waits that long; whether the node ends meanwhile.
    pub(super) fn closes_within(&self, pause: Duration) -> bool {
        let is_open = |state: &mut State| state.journal.as_ref().is_some_and(|journal| !journal.is_closing);
        let waited = self.work.wait_timeout_while(self.lock(), pause, is_open);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !is_open(&mut state)
    }

    /// Nothing more comes: what waits is stored, if it can be.
    pub(super) fn close(&self) {
        if let Some(journal) = &mut self.lock().journal {
            journal.is_closing = true;
        }
        self.work.notify_all();
    }

    /// The engine is to be given something that it can't be given now.
    pub(super) fn is_missed(&self, state: &mut State, input: Input) -> Option<Input> {
        match &mut state.journal {
            Some(journal) if journal.trouble.is_some() => {
                journal.miss(input);
                state.wake = self.clock.now() + super::PAUSE;
                None
            }
            _ => Some(input),
        }
    }
}

fn told(error: StoreError, folder: &Path) -> String {
    let folder = folder.display();
    match error {
        StoreError::Full => {
            format!("this node takes no changes: the disk of its data folder {folder} is full. Make room; it goes on by itself")
        }
        StoreError::Io => format!(
            "this node takes no changes: its data folder {folder} can't be written. Look at the disk and the log; it goes on by \
             itself when that works"
        ),
        StoreError::Damaged => {
            format!("this node takes no changes: the data in {folder} is damaged. Start it anew with --resync-from-peers")
        }
    }
}
