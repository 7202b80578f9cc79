//! A node of the replication scenario: a replica, its disk, and what waits for the disk.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hanaming::cluster::record::Record;
use hanaming::cluster::replica::{Replica, Retention};
use hanaming::cluster::rules::Rules;
use hanaming::cluster::store::{State, Store, StoreError, Transaction};
use hanaming::cluster::sync::{Pull, SyncPart, SyncRequest};
use hanaming::cluster::vector::Dot;
use hanaming::naming::Name;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::disk::{Disk, Fate};
use crate::random::Dice;

/// What nodes send each other.
#[derive(Clone, Debug)]
pub enum Message {
    /// A record that was just written.
    Fan { name: usize, record: Arc<Record> },
    /// Asks for what the sender lacks.
    Ask(SyncRequest),
    /// A part of the answer.
    Part(SyncPart),
}

/// What one step led to, to be released when it is durable.
#[derive(Default)]
pub struct Effects {
    /// Messages, and to whom.
    pub messages: Vec<(usize, Message)>,
    /// Writes that this node made (they can be lost with the step).
    pub made: Vec<Dot>,
    /// Writes that this node holds once the step is durable.
    pub holds: Vec<Dot>,
}

/// A node.
pub struct Host {
    /// Its copy, while the process lives.
    pub replica: Option<Replica>,
    /// Its disk.
    pub disk: Disk,
    /// Counts the starts: what was scheduled for a process that died is void.
    pub life: u64,
    /// Counts the losses of data.
    pub generation: u32,
    /// Until when it stands still.
    pub frozen_until: Duration,
    /// Syncs that it asked for, by peer.
    pub pulls: BTreeMap<usize, Pull>,
    /// The steps that are not yet durable.
    pub uncommitted: Vec<(Transaction, Effects)>,
    /// How many of them are being committed.
    pub committing: usize,
    /// A backup of its disk, and of which generation.
    pub backup: Option<State>,
    label: Arc<str>,
    epoch: Duration,
    dice: Dice,
}

impl Host {
    /// A blank node whose clock is off by what the dice say.
    pub fn new(index: usize, mut dice: Dice) -> Self {
        // Most clocks are nearly right; one in forty is off by up to an hour.
        let skew = if dice.chance(25) { dice.below(3_600_000) } else { dice.below(400) };
        Self {
            replica: None,
            disk: Disk::default(),
            life: 0,
            generation: 0,
            frozen_until: Duration::ZERO,
            pulls: BTreeMap::new(),
            uncommitted: Vec::new(),
            committing: 0,
            backup: None,
            label: Arc::from(format!("n{index}")),
            epoch: Duration::from_secs(1_000_000) + Duration::from_millis(skew),
            dice,
        }
    }

    /// Starts the process from its disk; torn data is given up, as by a person who follows the remedy. Whether it runs.
    pub fn start(&mut self, rules: Rules) -> bool {
        let rng = StdRng::seed_from_u64(self.dice.next());
        let at_once = Retention { operations: Duration::ZERO, tombstones: Duration::ZERO, clients: Duration::ZERO };
        let state = match self.disk.load() {
            Ok(state) => state,
            Err(StoreError::Damaged) => {
                self.lose_data();
                None
            }
            Err(_) => return false,
        };
        let (label, epoch) = (Arc::clone(&self.label), self.epoch);
        let replica = match state {
            Some(state) => Replica::restore(state, label, epoch, rng, rules),
            None => Replica::new(label, epoch, rng, rules),
        };
        self.replica = Some(replica.with_retention(at_once));
        self.life += 1;
        true
    }

    /// The process dies. Returns the writes that were lost with what it had not committed.
    pub fn crash(&mut self, fate: Fate) -> (Vec<Effects>, Vec<Effects>) {
        self.replica = None;
        self.pulls.clear();
        self.frozen_until = Duration::ZERO;
        let committing = std::mem::take(&mut self.committing);
        let waiting = self.uncommitted.split_off(committing);
        let (group, effects): (Vec<_>, Vec<_>) = self.uncommitted.drain(..).unzip();
        self.disk.crash(&group, fate);
        let lost = waiting.into_iter().map(|(_, effects)| effects);
        match fate {
            Fate::Kept => (effects, lost.collect()),
            Fate::Lost | Fate::Torn => (Vec::new(), effects.into_iter().chain(lost).collect()),
        }
    }

    /// The data goes.
    pub fn lose_data(&mut self) {
        self.disk.replace(None);
        self.generation += 1;
    }
}

/// The names of the scenario.
pub fn names(count: usize) -> Vec<Name> {
    (0..count).map(|index| Name::from_components([format!("name{index}")])).collect()
}
