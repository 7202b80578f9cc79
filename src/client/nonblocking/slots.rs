//! Calls by number, found without hashing.
//!
//! A number is a slot's index and a sequence number that is never given out twice in a short time, so that what
//! comes late for an attempt or a call that has ended is recognised and dropped. Requests on the wire bear such
//! numbers too: the reply leads straight to its call.

/// Entries by index, each under the number that it bears now.
#[derive(Debug)]
pub(super) struct Slots<V> {
    rows: Vec<Slot<V>>,
    free: Vec<u32>,
    sequence: u32,
}

#[derive(Debug)]
struct Slot<V> {
    /// The number of the entry itself.
    birth: u32,
    /// The number of its attempt that is under way.
    attempt: u32,
    entry: Option<V>,
}

fn number(sequence: u32, index: u32) -> u64 {
    u64::from(sequence) << 32 | u64::from(index)
}

#[expect(clippy::cast_possible_truncation, reason = "a number is taken apart into its halves")]
fn halves(number: u64) -> (u32, u32) {
    ((number >> 32) as u32, number as u32)
}

impl<V> Slots<V> {
    pub(super) fn new() -> Self {
        Self { rows: Vec::new(), free: Vec::new(), sequence: 0 }
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    fn next_sequence(&mut self) -> u32 {
        self.sequence = self.sequence.wrapping_add(1);
        self.sequence
    }

    /// Takes an entry in, and gives its number; `None` where all numbers are taken.
    pub(super) fn insert(&mut self, entry: V) -> Option<u64> {
        let birth = self.next_sequence();
        let index = if let Some(index) = self.free.pop() {
            let slot = &mut self.rows[index as usize];
            (slot.birth, slot.attempt, slot.entry) = (birth, birth, Some(entry));
            index
        } else {
            let index = u32::try_from(self.rows.len()).ok()?;
            self.rows.push(Slot { birth, attempt: birth, entry: Some(entry) });
            index
        };
        Some(number(birth, index))
    }

    /// The entry of this number.
    pub(super) fn get(&self, id: u64) -> Option<&V> {
        let (birth, index) = halves(id);
        self.rows.get(index as usize).filter(|slot| slot.birth == birth)?.entry.as_ref()
    }

    /// The entry of this number.
    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut V> {
        let (birth, index) = halves(id);
        self.rows.get_mut(index as usize).filter(|slot| slot.birth == birth)?.entry.as_mut()
    }

    /// Takes the entry of this number out.
    pub(super) fn remove(&mut self, id: u64) -> Option<V> {
        let (birth, index) = halves(id);
        let entry = self.rows.get_mut(index as usize).filter(|slot| slot.birth == birth)?.entry.take()?;
        self.free.push(index);
        Some(entry)
    }

    /// Drops the entry of this number where it stands.
    pub(super) fn discard(&mut self, id: u64) {
        let (birth, index) = halves(id);
        if let Some(slot) = self.rows.get_mut(index as usize)
            && slot.birth == birth
            && slot.entry.is_some()
        {
            slot.entry = None;
            self.free.push(index);
        }
    }

    /// Gives the entry's next attempt a number of its own; the one before is forgotten.
    pub(super) fn begin_attempt(&mut self, id: u64) -> Option<u64> {
        self.get(id)?;
        let sequence = self.next_sequence();
        let (_, index) = halves(id);
        self.rows[index as usize].attempt = sequence;
        Some(number(sequence, index))
    }

    /// The number of the entry whose attempt under way has this number.
    pub(super) fn of_attempt(&self, attempt: u64) -> Option<u64> {
        let (sequence, index) = halves(attempt);
        let slot = self.rows.get(index as usize).filter(|slot| slot.attempt == sequence && slot.entry.is_some())?;
        Some(number(slot.birth, index))
    }

    /// The number of the entry's attempt that is under way.
    pub(super) fn attempt_of(&self, id: u64) -> Option<u64> {
        let (birth, index) = halves(id);
        let slot = self.rows.get(index as usize).filter(|slot| slot.birth == birth && slot.entry.is_some())?;
        Some(number(slot.attempt, index))
    }

    /// All entries with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        (0_u32..).zip(&self.rows).filter_map(|(index, slot)| Some((number(slot.birth, index), slot.entry.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_ends_with_its_entry() {
        let mut slots = Slots::new();
        let first = slots.insert("first").unwrap();
        assert_eq!(slots.remove(first), Some("first"));
        let second = slots.insert("second").unwrap();
        assert_ne!(first, second, "the slot is used again under another number");
        assert_eq!((slots.get(first), slots.get(second)), (None, Some(&"second")));
        assert_eq!(slots.remove(first), None);
        assert_eq!(slots.len(), 1);
    }

    #[test]
    fn a_late_reply_finds_no_attempt() {
        let mut slots = Slots::new();
        let call = slots.insert(()).unwrap();
        let first = slots.begin_attempt(call).unwrap();
        let second = slots.begin_attempt(call).unwrap();
        assert_eq!(slots.of_attempt(first), None);
        assert_eq!(slots.of_attempt(second), Some(call));
        assert_eq!(slots.attempt_of(call), Some(second));
        slots.remove(call);
        assert_eq!(slots.of_attempt(second), None);
        assert_eq!(slots.begin_attempt(call), None);
    }
}
