//! A disk in memory that tests hold shut, fill and break.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use hanaming::cluster::store::{Meta, State, Store, StoreError, Transaction};

/// Cheap to clone: the clones are one disk.
#[derive(Clone, Default)]
pub struct Disk(Arc<(Mutex<Platter>, Condvar)>);

#[derive(Default)]
pub struct Platter {
    pub held: Option<State>,
    /// How many transactions with records each group had that was committed.
    pub groups: Vec<usize>,
    /// Commits wait.
    pub is_shut: bool,
    /// How many commits have begun.
    pub begun: usize,
    /// What each access ends with.
    pub ailment: Option<StoreError>,
    /// A commit that fails is stored all the same.
    pub keeps_failed: bool,
    /// An error was met: nothing is taken until it is opened again.
    refuses: bool,
}

impl Disk {
    pub fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.0.lock().unwrap()
    }

    /// Changes what is wrong with it.
    pub fn set(&self, change: impl FnOnce(&mut Platter)) {
        change(&mut self.platter());
        self.0.1.notify_all();
    }

    /// Waits until so many commits have begun.
    pub fn await_begun(&self, count: usize) {
        let waited = self.0.1.wait_timeout_while(self.platter(), crate::nodes::LONG, |platter| platter.begun < count).unwrap();
        assert!(!waited.1.timed_out(), "no commit");
    }
}

impl Platter {
    fn take_up(&mut self, group: &[Transaction]) {
        self.groups.push(group.iter().filter(|transaction| !transaction.records.is_empty()).count());
        for transaction in group {
            if let Some(meta) = &transaction.meta {
                let held = self.held.get_or_insert_with(|| State { records: BTreeMap::new(), meta: meta.clone() });
                held.meta = meta.clone();
            }
            let held = self.held.as_mut().expect("what is known beside the records is in the first transaction");
            for (name, record) in &transaction.records {
                match record {
                    Some(record) => held.records.insert(name.clone(), Arc::clone(record)),
                    None => held.records.remove(name),
                };
            }
        }
    }
}

impl Store for Disk {
    fn load(&mut self) -> Result<Option<State>, StoreError> {
        self.reopen()?;
        Ok(self.platter().held.clone())
    }

    fn commit(&mut self, group: &[Transaction]) -> Result<(), StoreError> {
        let mut platter = self.platter();
        platter.begun += 1;
        self.0.1.notify_all();
        let mut platter = self.0.1.wait_while(platter, |platter| platter.is_shut).unwrap();
        assert!(!platter.refuses, "a commit without opening the store after an error");
        let Some(ailment) = platter.ailment else {
            platter.take_up(group);
            return Ok(());
        };
        platter.refuses = true;
        if platter.keeps_failed {
            platter.take_up(group);
        }
        Err(ailment)
    }

    fn reopen(&mut self) -> Result<Option<Meta>, StoreError> {
        let mut platter = self.platter();
        if let Some(error) = platter.ailment.filter(|error| *error == StoreError::Io) {
            return Err(error);
        }
        platter.refuses = false;
        Ok(platter.held.as_ref().map(|held| held.meta.clone()))
    }
}
