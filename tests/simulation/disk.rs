//! A disk that forgets what was not synced, tears, fills up and fails.

use std::collections::BTreeMap;

use hanaming::cluster::store::{Meta, State, Store, StoreError, Transaction};

/// What is wrong with a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ailment {
    /// No room.
    Full,
    /// Each access fails.
    Io,
}

/// A disk of one node. It keeps what was committed; a group that was never committed is nowhere.
#[derive(Default)]
pub struct Disk {
    held: Option<State>,
    damaged: bool,
    /// What is wrong with it now.
    pub ailment: Option<Ailment>,
    /// An error was met: nothing more is taken until it is loaded again.
    refusing: bool,
}

impl Disk {
    /// A crash in the middle of a commit: the group is there, or it isn't, or (a store that can't tell) it is torn.
    pub fn crash(&mut self, group: &[Transaction], fate: Fate) {
        match fate {
            Fate::Lost => {}
            Fate::Kept => self.take_up(group),
            Fate::Torn => self.damaged = self.damaged || !group.is_empty(),
        }
        self.refusing = false;
    }

    /// What a backup of now would hold.
    pub fn copy(&self) -> Option<State> {
        self.held.clone()
    }

    /// Puts a backup in the place of what is held.
    pub fn replace(&mut self, state: Option<State>) {
        *self = Self { held: state, ..Self::default() };
    }

    fn take_up(&mut self, group: &[Transaction]) {
        for transaction in group {
            if let Some(meta) = &transaction.meta {
                match &mut self.held {
                    Some(held) => held.meta = meta.clone(),
                    None => self.held = Some(State { records: BTreeMap::new(), meta: meta.clone() }),
                }
            }
            let Some(held) = &mut self.held else { continue };
            for (name, record) in &transaction.records {
                match record {
                    Some(record) => held.records.insert(name.clone(), record.clone()),
                    None => held.records.remove(name),
                };
            }
        }
    }
}

/// What a crash makes of a group that was being committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing of it is there.
    Lost,
    /// All of it is there, though nobody heard so.
    Kept,
    /// The file is torn.
    Torn,
}

impl Store for Disk {
    fn load(&mut self) -> Result<Option<State>, StoreError> {
        if self.damaged {
            return Err(StoreError::Damaged);
        }
        if self.ailment == Some(Ailment::Io) {
            return Err(StoreError::Io);
        }
        self.refusing = false;
        Ok(self.held.clone())
    }

    fn commit(&mut self, group: &[Transaction]) -> Result<(), StoreError> {
        if let Some(ailment) = self.ailment {
            self.refusing = true;
            return Err(if ailment == Ailment::Full { StoreError::Full } else { StoreError::Io });
        }
        if self.refusing {
            return Err(StoreError::Io);
        }
        self.take_up(group);
        Ok(())
    }

    fn reopen(&mut self) -> Result<Option<Meta>, StoreError> {
        Ok(self.load()?.map(|state| state.meta))
    }
}
