//! Identical events collapse: how often each kind came, when first and when last.

use std::collections::HashMap;

use super::Event;

/// More kinds than this are counted together.
const MOST_GROUPS: usize = 10_000;
const KEY_CHARS: usize = 80;

/// Events that are the same but for their time and their numbers.
#[derive(Clone, Debug)]
pub struct Group {
    /// The first of them, whole.
    pub first: Event,
    /// How many there were.
    pub count: u64,
    /// The first line of the last one.
    pub last_line: u64,
    /// The time of the last one that had any.
    pub last_time: Option<String>,
}

/// The groups of a log, in the order in which they first came.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    kept: Vec<Group>,
    by_key: HashMap<String, usize>,
    /// Events beyond the groups that are kept.
    pub others: u64,
}

impl Groups {
    /// Counts an event; says which group it is of, if that is kept.
    pub fn add(&mut self, event: &Event) -> Option<usize> {
        let key = key(event);
        if let Some(at) = self.by_key.get(&key) {
            let group = &mut self.kept[*at];
            group.count += 1;
            group.last_line = event.line;
            if event.time.is_some() {
                group.last_time.clone_from(&event.time);
            }
            return Some(*at);
        }
        if self.kept.len() >= MOST_GROUPS {
            self.others += 1;
            return None;
        }
        self.by_key.insert(key, self.kept.len());
        self.kept.push(Group { first: event.clone(), count: 1, last_line: event.line, last_time: event.time.clone() });
        Some(self.kept.len() - 1)
    }

    /// The groups.
    pub fn groups(&self) -> &[Group] {
        &self.kept
    }
}

/// What makes two events the same: the verdict, and the outermost exception without its numbers. What is deeper does
/// not count: the same event may come once whole and once cut short.
fn key(event: &Event) -> String {
    let verdict = &event.verdict;
    let outermost = event.chain.thrown.first();
    let class = outermost.map_or("", |thrown| thrown.class.as_str());
    let message = outermost.map_or("", |thrown| thrown.message.as_str());
    let mut key = format!("{}\t{:?}\t{}\t{class}\t", verdict.category, verdict.completion, verdict.action);
    for c in message.chars().take(KEY_CHARS) {
        match c {
            '0'..='9' if key.ends_with('#') => {}
            '0'..='9' => key.push('#'),
            c => key.push(c),
        }
    }
    key
}
