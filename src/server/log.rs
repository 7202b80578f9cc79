//! What has changed in a tree, in its order: what watches ask for.
//!
//! A log is shared by all watches and bounded, in changes and in bytes, so a watch that reads slowly costs nobody anything.
//! One that comes too late finds that its position is gone, and asks for the whole state.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::naming::{Entry, Observer, Touched};
use crate::protocol::Position;

/// How many changes are kept at most, and how many bytes of what was bound by them.
const KEPT: Room = Room { changes: 64 * 1024, bytes: 16 << 20 };

/// The log of one tree.
#[derive(Debug)]
pub struct ChangeLog {
    id: u128,
    room: Room,
    state: Mutex<State>,
    sequence: watch::Sender<u64>,
}

/// How much a log keeps.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// So many changes.
    pub changes: usize,
    /// So many bytes of names and values.
    pub bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    /// How many changes there were, those that are no longer kept among them.
    sequence: u64,
    changes: VecDeque<Change>,
    bytes: usize,
    conflicts: HashSet<Arc<str>>,
}

/// One name that changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its canonical text.
    pub name: Arc<str>,
    /// What was bound there then.
    pub entry: Option<Arc<Entry>>,
    /// Versions of it disagreed.
    pub is_conflict: bool,
    /// The name from which what was bound there then had been moved.
    pub moved_from: Option<Arc<str>>,
    /// The write that it was part of ends here.
    pub ends_write: bool,
}

impl ChangeLog {
    /// An empty log, whose positions bear `id`.
    pub fn new(id: u128) -> Self {
        Self::with_room(id, KEPT)
    }

    /// A log that keeps so much.
    pub fn with_room(id: u128, room: Room) -> Self {
        Self { id, room, state: Mutex::default(), sequence: watch::Sender::new(0) }
    }

    /// What its positions bear.
    pub fn id(&self) -> u128 {
        self.id
    }

    /// Its end at this moment.
    pub fn position(&self) -> Position {
        Position { log: self.id, sequence: self.lock().sequence }
    }

    /// Gives `take` each change behind a position, as long as it wants more, and then where it stopped; `None` where the
    /// position is not in the log, or no longer.
    pub fn since(&self, position: Position, mut take: impl FnMut(&Change) -> bool) -> Option<Position> {
        let state = self.lock();
        let first = state.sequence - state.changes.len() as u64;
        if position.log != self.id || !(first..=state.sequence).contains(&position.sequence) {
            return None;
        }
        let known = usize::try_from(position.sequence - first).ok()?;
        let taken = state.changes.range(known..).take_while(|change| take(change)).count();
        // The one that was refused comes first the next time.
        Some(Position { sequence: position.sequence + taken as u64, ..position })
    }

    /// Notes whether versions of a name disagree.
    pub fn note_conflict(&self, name: &Arc<str>, is_conflict: bool) {
        let mut state = self.lock();
        if is_conflict {
            state.conflicts.insert(Arc::clone(name));
        } else if !state.conflicts.is_empty() {
            state.conflicts.remove(name);
        }
    }

    /// Whether versions of a name disagree.
    pub fn is_conflict(&self, name: &str) -> bool {
        self.lock().conflicts.contains(name)
    }

    /// Tells when there is more.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.sequence.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for ChangeLog {
    fn wrote(&self, touched: &mut dyn Iterator<Item = Touched<'_>>) {
        let mut state = self.lock();
        for Touched { name, entry, moved_from } in touched {
            let is_conflict = state.conflicts.contains(name);
            let (name, entry, moved_from) = (Arc::clone(name), entry.cloned(), moved_from.cloned());
            state.push(Change { name, entry, is_conflict, moved_from, ends_write: false });
        }
        while state.changes.len() > self.room.changes || state.bytes > self.room.bytes {
            state.drop_oldest();
        }
        if let Some(last) = state.changes.back_mut() {
            last.ends_write = true;
        }
        let sequence = state.sequence;
        drop(state);
        self.sequence.send_replace(sequence);
    }
}

impl State {
    fn push(&mut self, change: Change) {
        self.sequence += 1;
        self.bytes += change.weight();
        self.changes.push_back(change);
    }

    fn drop_oldest(&mut self) {
        if let Some(oldest) = self.changes.pop_front() {
            self.bytes -= oldest.weight();
        }
    }
}

impl Change {
    fn weight(&self) -> usize {
        self.name.len() + self.entry.as_ref().map_or(0, |entry| entry.content.value.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(log: &ChangeLog, names: &[&str]) {
        let names: Vec<Arc<str>> = names.iter().map(|name| Arc::from(*name)).collect();
        log.wrote(&mut names.iter().map(|name| Touched { name, entry: None, moved_from: None }));
    }

    fn read(log: &ChangeLog, sequence: u64, most: usize) -> Option<(Vec<String>, u64)> {
        let mut names = Vec::new();
        let position = log.since(Position { log: log.id(), sequence }, |change| {
            (names.len() < most).then(|| names.push(change.name.to_string())).is_some()
        })?;
        Some((names, position.sequence))
    }

    #[test]
    fn what_comes_behind_a_position_is_told_in_order_and_where_to_go_on() {
        let log = ChangeLog::new(7);
        write(&log, &["a"]);
        write(&log, &["b", "c"]);
        assert_eq!(log.position(), Position { log: 7, sequence: 3 });
        assert_eq!(read(&log, 0, 2), Some((vec!["a".into(), "b".into()], 2)));
        assert_eq!(read(&log, 2, 2), Some((vec!["c".into()], 3)));
        assert_eq!(read(&log, 3, 2), Some((vec![], 3)));
        assert_eq!(*log.news().borrow(), 3);
    }

    #[test]
    fn a_position_that_is_gone_or_never_was_is_not_answered() {
        let log = ChangeLog::with_room(7, Room { changes: 2, bytes: 99 });
        write(&log, &["a"]);
        write(&log, &["b"]);
        write(&log, &["c"]);
        assert_eq!(read(&log, 0, 9), None);
        assert_eq!(read(&log, 1, 9), Some((vec!["b".into(), "c".into()], 3)));
        assert_eq!(read(&log, 4, 9), None);
        assert_eq!(log.since(Position { log: 8, sequence: 3 }, |_| true), None);
    }

    #[test]
    fn the_oldest_changes_make_room_for_long_ones() {
        let log = ChangeLog::with_room(7, Room { changes: 9, bytes: 4 });
        write(&log, &["aa"]);
        write(&log, &["bb"]);
        assert_eq!(read(&log, 0, 9), Some((vec!["aa".into(), "bb".into()], 2)));
        write(&log, &["c"]);
        assert_eq!(read(&log, 0, 9), None);
        assert_eq!(read(&log, 1, 9), Some((vec!["bb".into(), "c".into()], 3)));
        write(&log, &["longer than all"]);
        assert_eq!(read(&log, 4, 9), Some((vec![], 4)));
        assert_eq!(read(&log, 3, 9), None);
    }

    #[test]
    fn the_last_change_of_a_write_ends_it() {
        let log = ChangeLog::new(7);
        write(&log, &["a", "b"]);
        let mut ends = Vec::new();
        log.since(Position { log: 7, sequence: 0 }, |change| {
            ends.push(change.ends_write);
            true
        });
        assert_eq!(ends, [false, true]);
    }

    #[test]
    fn conflicts_come_and_go() {
        let log = ChangeLog::new(7);
        let name = Arc::from("a");
        log.note_conflict(&name, true);
        assert!(log.is_conflict("a") && !log.is_conflict("b"));
        log.note_conflict(&name, false);
        assert!(!log.is_conflict("a"));
    }
}
