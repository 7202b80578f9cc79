//! What waits for the disk: the engine's steps from when they were made until they are durable.
//!
//! They wait in the order in which they were made. A step that changes nothing waits too where others do, as what it
//! says may tell of theirs. A node without a data folder has no journal.

use std::collections::VecDeque;
use std::mem;

use crate::cluster::engine::{Input, Members, Step};
use crate::cluster::store::{StoreError, Transaction};
use crate::server::data::Identity;

/// More steps than this do not wait.
const MOST: usize = 16 * 1024;

/// Nor more bytes, about, though a single step may have more.
const MOST_BYTES: usize = 64 << 20;

/// No more bytes than this, about, make one group.
const GROUP_BYTES: usize = 8 << 20;

/// What a step takes beside its records.
const STEP: usize = 256;

/// Steps on their way to the disk.
#[derive(Debug, Default)]
pub(super) struct Journal {
    waiting: VecDeque<(Step, usize)>,
    /// How many are being committed, and how many bytes all weigh.
    committing: usize,
    weight: usize,
    /// How many have been made since the start.
    pub(super) made: u64,
    /// Why nothing can be stored.
    pub(super) trouble: Option<StoreError>,
    missed: Missed,
    /// Whose folder it is, to be written.
    pub(super) identity: Option<Box<Identity>>,
    pub(super) is_closing: bool,
}

/// What the engine is to be told when its node can store again. Messages and time that pass meanwhile it misses.
#[derive(Debug, Default)]
struct Missed {
    members: Option<Members>,
    quiesce: bool,
}

impl Journal {
    /// Whether all steps that were made are carried out.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.committing == 0
    }

    /// Whether nothing more is to be begun.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() + self.committing >= MOST || self.weight >= MOST_BYTES
    }

    pub(super) fn push(&mut self, step: Step) {
        let weight = weight(&step.transaction);
        self.weight += weight;
        self.made += 1;
        self.waiting.push_back((step, weight));
    }

    /// What has gathered, to be committed as one.
    pub(super) fn take_group(&mut self) -> Vec<Step> {
        let mut bytes = 0;
        let fits = self.waiting.iter().take_while(|(_, weight)| {
            let fits = bytes < GROUP_BYTES;
            bytes += weight;
            fits
        });
        self.committing = fits.count();
        self.waiting.drain(..self.committing).map(|(step, _)| step).collect()
    }

    /// The group is carried out. It weighed so much.
    pub(super) fn finish_group(&mut self, weight: usize) {
        self.committing = 0;
        self.weight = self.weight.saturating_sub(weight);
    }

    /// Nothing can be stored, so the engine is given nothing: what has to be made up for is kept.
    pub(super) fn miss(&mut self, input: Input) {
        match input {
            Input::Members(members) => self.missed.members = Some(members),
            Input::Quiesce => self.missed.quiesce = true,
            _ => {}
        }
    }

    /// Stores again: what the engine is to be told.
    pub(super) fn make_up(&mut self) -> Vec<Input> {
        self.trouble = None;
        let Missed { members, quiesce } = mem::take(&mut self.missed);
        let members = members.map(Input::Members);
        members.into_iter().chain(quiesce.then_some(Input::Quiesce)).chain([Input::Tick, Input::Resumed]).collect()
    }
}

/// About how many bytes a transaction takes.
pub(super) fn weight(transaction: &Transaction) -> usize {
    let record = |(name, record): (&crate::naming::Name, &Option<std::sync::Arc<crate::cluster::record::Record>>)| {
        name.as_str().len() + record.as_ref().map_or(0, |record| record.weight())
    };
    STEP + transaction.records.iter().map(record).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::engine::Output;

    fn step() -> Step {
        Step { outputs: vec![Output::Ready], ..Step::default() }
    }

    #[test]
    fn steps_leave_in_order_and_count_until_they_are_carried_out() {
        let mut journal = Journal::default();
        assert!(journal.is_empty());
        for _ in 0..3 {
            journal.push(step());
        }
        assert_eq!(journal.take_group().len(), 3);
        assert!(!journal.is_empty(), "what is being committed is not through");
        journal.push(step());
        journal.finish_group(3 * STEP);
        assert!(!journal.is_empty());
        assert_eq!(journal.take_group().len(), 1);
        journal.finish_group(STEP);
        assert!(journal.is_empty());
        assert_eq!((journal.weight, journal.made), (0, 4));
    }

    #[test]
    fn a_journal_is_full_by_number() {
        let mut journal = Journal::default();
        for _ in 0..MOST {
            assert!(!journal.is_full());
            journal.push(step());
        }
        assert!(journal.is_full());
        let taken = journal.take_group();
        assert!(journal.is_full(), "what is being committed counts");
        journal.finish_group(STEP * taken.len());
        assert!(!journal.is_full());
    }

    #[test]
    fn who_stores_again_is_told_of_the_last_members() {
        let mut journal = Journal { trouble: Some(StoreError::Full), ..Journal::default() };
        journal.miss(Input::Members(Members::default()));
        let last = Members { all: [crate::topology::NodeId(1)].into(), ..Members::default() };
        journal.miss(Input::Members(last.clone()));
        journal.miss(Input::Tick);
        let told = journal.make_up();
        assert!(matches!(&told[..], [Input::Members(members), Input::Tick, Input::Resumed] if *members == last));
        assert_eq!((journal.trouble, journal.make_up().len()), (None, 2));
    }
}
