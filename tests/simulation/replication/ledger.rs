//! What an all-knowing observer wrote down, and what it says about the nodes.
//!
//! For each write: what its writer saw superseded by it (*observed*), what its writer had seen at all (*known*), and
//! who acknowledged it, durably. The promises are checked against that, not against the engine's own idea.

use std::collections::{BTreeMap, BTreeSet};

use hanaming::cluster::record::Record;
use hanaming::cluster::replica::Replica;
use hanaming::cluster::vector::Dot;

/// More writes at one name than this are not followed (a plan has fewer).
const MOST: usize = 128;

/// A disk as it was between two losses of data.
pub type Holder = (usize, u32);

/// A write.
struct Entry {
    dot: Dot,
    binds: bool,
    value: u64,
    /// Earlier writes here that this one supersedes, as bits.
    observed: u128,
    /// Earlier writes here that its writer had seen, as bits.
    known: u128,
    /// Later writes that observed this one, as bits.
    superseders: u128,
    holders: BTreeSet<Holder>,
}

/// The writes at each name.
#[derive(Default)]
pub struct Ledger {
    names: Vec<Vec<Entry>>,
    places: BTreeMap<Dot, (usize, usize)>,
}

impl Ledger {
    /// An empty ledger for so many names.
    pub fn new(names: usize) -> Self {
        Self { names: (0..names).map(|_| Vec::new()).collect(), places: BTreeMap::new() }
    }

    /// Whether more writes at this name can be followed.
    pub fn has_room(&self, name: usize) -> bool {
        self.names[name].len() < MOST
    }

    /// Writes down a write, given what its writer had there before.
    pub fn write(
        &mut self,
        name: usize,
        dot: Dot,
        value: Option<u64>,
        before: Option<&Record>,
        writer: &Replica,
    ) -> Result<(), String> {
        if self.places.contains_key(&dot) {
            return Err(format!("the dot {dot} was used twice"));
        }
        let entries = &mut self.names[name];
        let bit = |dot: Dot| self.places.get(&dot).filter(|(at, _)| *at == name).map(|(_, index)| *index);
        let (mut observed, mut known) = (0_u128, 0_u128);
        for index in before.into_iter().flat_map(Record::dots).filter_map(bit) {
            observed |= (1 << index) | entries[index].observed;
        }
        for (index, entry) in entries.iter().enumerate() {
            if writer.seen().has(entry.dot) {
                known |= 1 << index;
            }
        }
        let index = entries.len();
        for (earlier, entry) in entries.iter_mut().enumerate() {
            if observed & (1 << earlier) != 0 {
                entry.superseders |= 1 << index;
            }
        }
        let binds = value.is_some();
        let holders = BTreeSet::new();
        entries.push(Entry { dot, binds, value: value.unwrap_or(0), observed, known, superseders: 0, holders });
        self.places.insert(dot, (name, index));
        Ok(())
    }

    /// A write was lost before anything of it left its node: it never happened.
    pub fn retract(&mut self, dot: Dot) {
        if let Some((name, index)) = self.places.remove(&dot) {
            // What was built on it on the same node was lost with it.
            let entry = &mut self.names[name][index];
            entry.binds = false;
            entry.holders.clear();
            entry.superseders = 0;
            let bit = !(1_u128 << index);
            for entry in &mut self.names[name] {
                entry.superseders &= bit;
            }
        }
    }

    /// A disk holds these writes durably.
    pub fn hold(&mut self, holder: Holder, dots: &[Dot]) {
        for dot in dots {
            if let Some(&(name, index)) = self.places.get(dot) {
                self.names[name][index].holders.insert(holder);
            }
        }
    }

    /// At any time: a node that has seen a write shows nothing that this write superseded, nor what nobody wrote.
    pub fn check_shown(&self, name: usize, replica: &Replica, record: Option<&Record>) -> Result<(), String> {
        for sibling in record.into_iter().flat_map(|record| &record.siblings) {
            let Some(&(at, index)) = self.places.get(&sibling.dot) else {
                return Err(format!("shows {}, which nobody wrote", sibling.dot));
            };
            let entry = &self.names[at][index];
            if at != name || entry.value.to_le_bytes()[..] != sibling.content.value[..] {
                return Err(format!("shows {} as something else than was written", sibling.dot));
            }
            let mut superseders = entry.superseders;
            while superseders != 0 {
                let later = &self.names[name][superseders.trailing_zeros() as usize];
                if replica.seen().has(later.dot) {
                    return Err(format!("shows {} although it has seen {}, which superseded it", sibling.dot, later.dot));
                }
                superseders &= superseders - 1;
            }
        }
        Ok(())
    }

    /// In the end, `seen` and the live versions being the same everywhere: nothing acknowledged was lost (a write that
    /// is held by a disk which kept its data is present or was causally superseded), and nothing came back.
    pub fn check_end(&self, replica: &Replica, live: &BTreeSet<Dot>, kept: impl Fn(Holder) -> bool) -> Result<(), String> {
        for entries in &self.names {
            let seen: u128 = entries.iter().enumerate().filter(|(_, e)| replica.seen().has(e.dot)).map(|(i, _)| 1 << i).sum();
            for (index, entry) in entries.iter().enumerate() {
                let is_held = entry.holders.iter().any(|holder| kept(*holder));
                if is_held && seen & (1 << index) == 0 {
                    return Err(format!("the acknowledged write {} was lost", entry.dot));
                }
                let over = entries.iter().enumerate().any(|(i, e)| e.known & (1 << index) != 0 && seen & (1 << i) != 0);
                if is_held && entry.binds && !over && !live.contains(&entry.dot) {
                    return Err(format!("the acknowledged version {} was lost", entry.dot));
                }
                if live.contains(&entry.dot) && entry.superseders & seen != 0 {
                    return Err(format!("{} came back after it was superseded", entry.dot));
                }
            }
        }
        Ok(())
    }
}
