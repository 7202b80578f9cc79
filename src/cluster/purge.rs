//! Dropping what nobody needs any more: tombstones, and what became of old operations.
//!
//! A tombstone tells a peer of a deletion. Once everybody's vector covers it, nobody has to be told, and it goes; the
//! *floor* takes it up, so that a peer that turns up from before is recognised and gets a full sync.

use std::sync::Arc;
use std::time::Duration;

use crate::naming::Name;

use super::record::Record;
use super::replica::Replica;
use super::stamp::Stamp;
use super::vector::Vector;

/// So many records forget in one step; the others follow.
const MOST_AT_ONCE: usize = 1000;

impl Replica {
    /// Drops the tombstones that are old enough and that everybody has seen, `everybody` being what the vectors of all
    /// other members cover. How many went.
    pub fn purge(&mut self, now: Duration, everybody: &Vector) -> usize {
        let covered = everybody.meet(self.seen.vector());
        let ripe = |name: &Name, since: Duration| {
            let record = self.records.get(name)?;
            let old = now >= since + self.retention.tombstones && record.history.is_empty();
            (old && covered.includes(&record.last) && covered.includes(&record.coverage)).then(|| Arc::clone(record))
        };
        let ripe: Vec<(Name, Arc<Record>)> =
            self.index.tombstones.iter().filter_map(|(name, &since)| Some((name.clone(), ripe(name, since)?))).collect();
        for (name, record) in &ripe {
            self.floor.join(&record.last);
            self.floor.join(&record.coverage);
            self.put(now, name, None);
        }
        debug_assert!(self.seen.vector().includes(&self.floor), "invariant 6: purged what was not seen");
        ripe.len()
    }

    /// Forgets what became of operations that are older than the retention, and remembers that it did.
    pub fn forget_operations(&mut self, now: Duration) {
        let reading = self.clock.reading(now);
        let before = |age: Duration| Stamp(reading.0.saturating_sub(Stamp::of(age).0));
        let limit = before(self.retention.operations);
        let due = self.index.oldest.iter().take_while(|(stamp, _)| *stamp < limit).take(MOST_AT_ONCE);
        let due: Vec<(Stamp, Name)> = due.cloned().collect();
        for entry in due {
            self.index.oldest.remove(&entry);
            let (_, name) = entry;
            let Some(record) = self.records.get(&name) else { continue };
            let mut record = Record::clone(record);
            let gone = record.history.forget_before(limit);
            if let Some(oldest) = record.history.oldest() {
                self.index.remembers(&name, oldest);
            }
            for &operation in &gone {
                self.horizons.raise(operation, reading);
            }
            if !gone.is_empty() {
                self.put(now, &name, Some(Arc::new(record)));
            }
        }
        self.horizons.forget_before(before(self.retention.clients));
    }
}
