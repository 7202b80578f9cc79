//! A watch without I/O: what it asks next, what it has told, and what it is to tell.
//!
//! What was told last of each name is remembered, so a node's answers may be of any kind: change by change, or the whole
//! state, of the node asked before or of another. A state is compared with what was told, and the difference is told next:
//! nobody's death loses the last state of any name. Changes are told one by one as long as somebody listens; where more
//! wait than is good, a name that changes again is told once, as it is, and at last nothing more is asked.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::naming::Name;
use crate::protocol::{Position, WatchFrom, WatchNext, WatchRequest, WatchRow, WatchScope, Watched};

use super::event::{Event, EventKind, Told};
use super::news::{Known, News, Piece};

/// For how long a node may hold a question, in milliseconds: a dead one is noticed that much later.
const HOLD: u32 = 1000;

/// A watch's state.
#[derive(Debug)]
pub struct Follower {
    name: Name,
    scope: WatchScope,
    from: WatchFrom,
    /// The first state is taken for known, and not told.
    is_silent: bool,
    /// The first state is not whole yet.
    is_new: bool,
    /// While a state comes in: the names that were spoken of.
    present: Option<BTreeSet<Arc<str>>>,
    /// The log that was followed last.
    log: Option<u128>,
    told: HashMap<Arc<str>, Known>,
    news: News,
    is_resynchronised: bool,
}

impl Follower {
    /// A watch of `name`. With `initial` the state that there is comes first.
    pub fn new(name: Name, scope: WatchScope, initial: bool) -> Self {
        Self {
            name,
            scope,
            from: WatchFrom::Start,
            is_silent: !initial,
            is_new: true,
            present: Some(BTreeSet::new()),
            log: None,
            told: HashMap::new(),
            news: News::default(),
            is_resynchronised: false,
        }
    }

    /// What is to be asked next.
    pub fn request(&self) -> WatchRequest {
        let hold = if matches!(self.from, WatchFrom::Position(_)) { HOLD } else { 0 };
        WatchRequest { name: self.name.as_str().to_owned(), scope: self.scope, from: self.from.clone(), hold }
    }

    /// Whether it has heard of a state: what is written from now on will be told.
    pub fn has_begun(&self) -> bool {
        !(self.is_silent || self.is_new && matches!(self.from, WatchFrom::Start))
    }

    /// Whether so much waits to be told that nothing more should be asked.
    pub fn is_full(&self) -> bool {
        self.news.is_full()
    }

    /// Whether there may be something to tell.
    pub fn has_news(&self) -> bool {
        self.is_resynchronised || !self.news.is_empty()
    }

    /// Takes a node's answer to what was asked last.
    pub fn hear(&mut self, watched: Watched) {
        let Watched { node, rows, next } = watched;
        match self.from {
            WatchFrom::Position(_) => self.take_changes(rows, &node),
            _ => rows.into_iter().for_each(|row| self.take_state(row, &node)),
        }
        self.from = match next {
            WatchNext::Rest { position, after } => self.at(position, WatchFrom::Rest { position, after }),
            WatchNext::Behind(position) => self.at(position, WatchFrom::Behind(position)),
            WatchNext::Position(position) => {
                if let Some(present) = self.present.take() {
                    self.conclude(&present);
                }
                self.at(position, WatchFrom::Position(position))
            }
            WatchNext::Lost { log } => {
                // Another node's state says what has become of all that was told. Of the same node it is known that some
                // of what happened was missed.
                self.is_resynchronised |= !self.is_new && self.log == Some(log);
                self.present = Some(BTreeSet::new());
                WatchFrom::Start
            }
        };
    }

    fn at(&mut self, position: Position, from: WatchFrom) -> WatchFrom {
        self.log = Some(position.log);
        from
    }

    /// A state is whole: what was not spoken of is gone.
    fn conclude(&mut self, present: &BTreeSet<Arc<str>>) {
        if self.is_silent {
            self.told.retain(|name, _| present.contains(name));
        }
        let known = self.told.keys().chain(self.news.names());
        let gone: BTreeSet<Arc<str>> = known.filter(|name| !present.contains(*name)).cloned().collect();
        for name in gone {
            self.note(name, None);
        }
        self.is_new = false;
        self.is_silent = false;
    }

    /// A name is bound like this in the state that comes in.
    fn take_state(&mut self, row: WatchRow, node: &Arc<str>) {
        let (name, known) = read(row, node);
        if let Some(present) = &mut self.present {
            present.insert(Arc::clone(&name));
        }
        match known {
            known if !self.is_silent => self.note(name, known),
            Some(known) => drop(self.told.insert(name, known)),
            None => drop(self.told.remove(&name)),
        }
    }

    /// Names were changed, one after the other.
    fn take_changes(&mut self, rows: Vec<WatchRow>, node: &Arc<str>) {
        let mut write: Vec<WatchRow> = Vec::new();
        let mut rows = rows.into_iter().peekable();
        while let Some(row) = rows.next() {
            let ends = row.ends_write || rows.peek().is_none();
            write.push(row);
            if ends {
                self.take_write(std::mem::take(&mut write), node);
            }
        }
    }

    /// Names were changed together: what was moved from one to the other is one piece of news.
    fn take_write(&mut self, mut rows: Vec<WatchRow>, node: &Arc<str>) {
        let moves: Vec<(String, String)> =
            rows.iter().filter_map(|row| Some((row.moved_from.clone()?, row.name.clone()))).collect();
        for (from, to) in moves {
            let place = |name: &str| rows.iter().position(|row| row.name == name);
            let (Some(left), Some(came)) = (place(&from), place(&to)) else { continue };
            if rows[left].bound.is_some() || rows[came].bound.is_none() {
                continue;
            }
            let (name, known) = read(rows.remove(came.max(left)), node);
            let (other, other_known) = read(rows.remove(came.min(left)), node);
            let (from, to, known) = match (known, other_known) {
                (Some(known), _) => (other, name, known),
                (None, Some(known)) => (name, other, known),
                (None, None) => continue,
            };
            self.news.push(Piece::Move { from, to, known });
        }
        for row in rows {
            let (name, known) = read(row, node);
            self.note(name, known);
        }
    }

    /// A name is bound like this now, which is no news where it was known.
    fn note(&mut self, name: Arc<str>, known: Option<Known>) {
        let before = if self.news.holds(&name) { self.news.latest(&name) } else { self.told.get(&name) };
        let is_known = match (before, &known) {
            (None, None) => true,
            (Some(before), Some(known)) => before.is_same(known) && before.is_conflict == known.is_conflict,
            _ => false,
        };
        if !is_known {
            self.news.push(Piece::Change { name, known });
        }
    }

    /// The event that tells a piece of news, where it is one to whoever listens.
    fn tell(&mut self, piece: Piece) -> Option<Event> {
        let (name, new) = match piece {
            Piece::Change { name, known } => (name, known),
            Piece::Move { from, to, known } => {
                let old = self.told.get(&from).filter(|old| old.content == known.content && !known.is_conflict).cloned();
                if let Some(old) = old.filter(|_| !self.told.contains_key(&to)) {
                    self.told.remove(&from);
                    self.told.insert(Arc::clone(&to), known.clone());
                    return Some(event(EventKind::Renamed, Some((&from, &old)), Some((&to, &known))));
                }
                self.news.put_back(Piece::Change { name: to, known: Some(known) });
                (from, None)
            }
        };
        let old = self.told.remove(&name);
        let kind = match (&old, &new) {
            (None, None) => return None,
            (None, Some(_)) => EventKind::Added,
            (Some(_), None) => EventKind::Removed,
            (Some(old), Some(new)) if new.is_conflict && !old.is_conflict => EventKind::Conflict,
            (Some(old), Some(new)) if old.is_same(new) => {
                // That a conflict is over is no news.
                self.told.insert(name, new.clone());
                return None;
            }
            (Some(_), Some(_)) => EventKind::Changed,
        };
        if let Some(new) = &new {
            // What appears with a conflict is told first, and then its conflict.
            let is_conflict = new.is_conflict && kind != EventKind::Added;
            self.told.insert(Arc::clone(&name), Known { is_conflict, ..new.clone() });
            if new.is_conflict && !is_conflict {
                self.news.put_back(Piece::Change { name: Arc::clone(&name), known: Some(new.clone()) });
            }
        }
        Some(event(kind, old.as_ref().map(|old| (&name, old)), new.as_ref().map(|new| (&name, new))))
    }
}

/// What there is to tell; there may be more later.
impl Iterator for Follower {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.is_resynchronised) {
            return Some(Event { kind: EventKind::Resynchronised, name: self.name.clone(), old: None, new: None });
        }
        loop {
            let piece = self.news.pop()?;
            if let Some(event) = self.tell(piece) {
                return Some(event);
            }
        }
    }
}

fn read(row: WatchRow, node: &Arc<str>) -> (Arc<str>, Option<Known>) {
    let (is_conflict, node) = (row.is_conflict, Arc::clone(node));
    let known = row.bound.map(|(content, version)| Known { content, version, is_conflict, node });
    (Arc::from(row.name), known)
}

fn event(kind: EventKind, old: Option<(&Arc<str>, &Known)>, new: Option<(&Arc<str>, &Known)>) -> Event {
    let told = |(name, known): (&Arc<str>, &Known)| Told {
        name: Name::parse(name).unwrap_or_else(|_| Name::empty()),
        content: known.content.clone(),
        version: known.version,
        node: Arc::clone(&known.node),
    };
    let (old, new) = (old.map(told), new.map(told));
    let name = new.as_ref().or(old.as_ref()).map_or_else(Name::empty, |told| told.name.clone());
    Event { kind, name, old, new }
}
