//! Watches: the current state of what is watched, page by page, and then what has changed since a position.
//!
//! A write is told whole, but for one that is longer than an answer: so that a rename is one event. Where
//! nothing has changed the question is held, and costs nothing but its place; it ends when the node leaves.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::{Duration, Instant, sleep_until};

use crate::naming::{Entry, Name, Snapshot, Tree};
use crate::protocol::{
    Answer, Position, RefusalReason, Reply, Scope, WatchFrom, WatchNext, WatchRequest, WatchRow, WatchScope, Watched,
};

use super::fault;
use super::own::parse;
use crate::server::core::Core;
use crate::server::log::ChangeLog;

/// Rows of one answer, and their bytes, after which no more are added.
const ROWS: usize = 1000;
const BYTES: usize = 512 << 10;

/// What stands around a row's texts and bytes.
const AROUND: usize = 96;

/// How long before its end a question that is held is answered.
const MARGIN: Duration = Duration::from_millis(20);

/// A tree, and its log.
struct Feed<'a> {
    core: &'a Core,
    tree: &'a Tree,
    log: &'a ChangeLog,
}

/// What is watched.
struct Aim {
    name: Name,
    /// What the names beneath it start with.
    beneath: String,
    scope: WatchScope,
}

impl Core {
    /// Answers a watch, unless nothing has changed and the question is to be held.
    pub fn watch_now(&self, scope: Scope, request: &WatchRequest) -> Option<Reply> {
        let answer = match Aim::of(request) {
            Ok(aim) => self.feed(scope).answer(&aim, &request.from),
            Err(refusal) => return Some(refusal),
        };
        let is_news = !answer.rows.is_empty() || !matches!(answer.next, WatchNext::Position(_));
        let asks_for_changes = matches!(request.from, WatchFrom::Position(_));
        (is_news || !asks_for_changes || request.hold == 0).then(|| Reply::Done(Answer::Watched(answer)))
    }

    /// Holds a watch's question until something has changed, and answers it before `deadline`.
    pub async fn watch(self: Arc<Self>, scope: Scope, request: WatchRequest, deadline: Instant) -> Reply {
        let ends = Instant::now() + Duration::from_millis(request.hold.into());
        let ends = ends.min(deadline.checked_sub(MARGIN).unwrap_or(deadline));
        let mut quiesce = self.quiesce.subscribe();
        let mut news = self.feed(scope).log.news();
        let aim = match Aim::of(&request) {
            Ok(aim) => aim,
            Err(refusal) => return refusal,
        };
        let mut from = request.from;
        let mut is_over = false;
        loop {
            news.mark_unchanged();
            let answer = self.feed(scope).answer(&aim, &from);
            match answer.next {
                WatchNext::Position(position) if answer.rows.is_empty() && !is_over => from = WatchFrom::Position(position),
                _ => return Reply::Done(Answer::Watched(answer)),
            }
            tokio::select! {
                _ = news.changed() => {}
                () = sleep_until(ends) => is_over = true,
                _ = quiesce.wait_for(Option::is_some) => return Reply::Failed(self.refused(RefusalReason::Quiescing)),
            }
        }
    }

    fn feed(&self, scope: Scope) -> Feed<'_> {
        match scope {
            Scope::Cluster => Feed { core: self, tree: &self.cluster, log: &self.cluster_log },
            Scope::Local | Scope::Peer => Feed { core: self, tree: &self.local, log: &self.local_log },
        }
    }
}

impl Feed<'_> {
    fn answer(&self, aim: &Aim, from: &WatchFrom) -> Watched {
        match from {
            // Of one moment: where the whole state is one page, what is told next follows from it.
            WatchFrom::Start => self.tree.at_rest(|snapshot| {
                let position = self.log.position();
                let page = self.page(aim, position, snapshot, None);
                let is_whole = matches!(page.next, WatchNext::Behind(_));
                if is_whole { Watched { next: WatchNext::Position(position), ..page } } else { page }
            }),
            WatchFrom::Rest { position, .. } | WatchFrom::Behind(position) | WatchFrom::Position(position)
                if position.log != self.log.id() =>
            {
                self.lost()
            }
            WatchFrom::Rest { position, after } => match Name::parse(after) {
                Ok(after) => self.page(aim, *position, &self.tree.snapshot(), Some(&after)),
                Err(_) => self.lost(),
            },
            WatchFrom::Behind(position) => self.tree.at_rest(|snapshot| self.changed(aim, *position, snapshot)),
            WatchFrom::Position(position) => self.changes(aim, *position),
        }
    }

    fn watched(&self, rows: Vec<WatchRow>, next: WatchNext) -> Watched {
        Watched { node: Arc::clone(&self.core.name), rows, next }
    }

    fn lost(&self) -> Watched {
        self.watched(Vec::new(), WatchNext::Lost { log: self.log.id() })
    }

    /// The state behind `after`.
    fn page(&self, aim: &Aim, position: Position, snapshot: &Snapshot, after: Option<&Name>) -> Watched {
        let mut page = Page::default();
        if after.is_none()
            && aim.scope != WatchScope::OneLevel
            && let Some(entry) = snapshot.get(&aim.name)
        {
            page.push(self.row(aim.name.text(), Some(entry)));
        }
        // The name itself stands before or behind what is beneath it: the next page begins with the first of these.
        let after = after.filter(|after| **after != aim.name);
        if aim.scope != WatchScope::Object {
            let deep = aim.scope == WatchScope::Subtree;
            let beneath = snapshot.beneath_after(&aim.name, after);
            for (name, entry) in beneath.take_while(|(name, _)| deep || aim.is_child(name)) {
                if page.is_full() {
                    let after = page.last_name();
                    return self.watched(page.rows, WatchNext::Rest { position, after });
                }
                page.push(self.row(name, Some(entry)));
            }
        }
        self.watched(page.rows, WatchNext::Behind(position))
    }

    /// The names that have changed behind a position, as they are now.
    fn changed(&self, aim: &Aim, position: Position, snapshot: &Snapshot) -> Watched {
        let mut names: BTreeSet<Arc<str>> = BTreeSet::new();
        let (mut is_cut, mut bytes) = (false, 0);
        let next = self.log.since(position, |change| {
            is_cut = names.len() >= ROWS || bytes >= BYTES;
            if !is_cut && aim.covers(&change.name) && names.insert(Arc::clone(&change.name)) {
                let value = snapshot_entry(snapshot, &change.name).map_or(0, |entry| entry.content.value.len());
                bytes += change.name.len() + value + AROUND;
            }
            !is_cut
        });
        let Some(next) = next else { return self.lost() };
        let rows = names.iter().map(|name| self.row(name, snapshot_entry(snapshot, name).as_ref()));
        self.watched(rows.collect(), if is_cut { WatchNext::Behind(next) } else { WatchNext::Position(next) })
    }

    /// Each change behind a position.
    fn changes(&self, aim: &Aim, position: Position) -> Watched {
        let mut page = Page::default();
        let mut is_whole = true;
        let next = self.log.since(position, |change| {
            // A write is told whole, unless it is longer than two answers.
            if (page.is_full() && is_whole) || page.is_overfull() {
                return false;
            }
            is_whole = change.ends_write;
            if aim.covers(&change.name) {
                page.push(WatchRow {
                    name: change.name.to_string(),
                    bound: change.entry.as_ref().map(|entry| (entry.content.clone(), entry.version)),
                    is_conflict: change.is_conflict,
                    moved_from: change.moved_from.as_ref().map(ToString::to_string),
                    ends_write: change.ends_write,
                });
            } else if change.ends_write
                && let Some(last) = page.rows.last_mut()
            {
                last.ends_write = true;
            }
            true
        });
        match next {
            Some(next) => self.watched(page.rows, WatchNext::Position(next)),
            None => self.lost(),
        }
    }

    fn row(&self, name: &Arc<str>, entry: Option<&Arc<Entry>>) -> WatchRow {
        WatchRow {
            name: name.to_string(),
            bound: entry.map(|entry| (entry.content.clone(), entry.version)),
            is_conflict: self.log.is_conflict(name),
            moved_from: None,
            ends_write: true,
        }
    }
}

fn snapshot_entry(snapshot: &Snapshot, name: &str) -> Option<Arc<Entry>> {
    Name::parse(name).ok().and_then(|name| snapshot.get(&name).cloned())
}

impl Aim {
    fn of(request: &WatchRequest) -> Result<Self, Reply> {
        let name = parse(&request.name).map_err(|error| Reply::Failed(fault::from_error(error)))?;
        let beneath = if name.is_empty() { String::new() } else { format!("{name}/") };
        Ok(Self { name, beneath, scope: request.scope })
    }

    fn covers(&self, name: &str) -> bool {
        let is_it = || name == self.name.as_str();
        match self.scope {
            WatchScope::Object => is_it(),
            WatchScope::OneLevel => self.is_child(name),
            WatchScope::Subtree => is_it() || name.starts_with(&self.beneath),
        }
    }

    /// Whether a name stands directly beneath the one that is watched.
    fn is_child(&self, name: &str) -> bool {
        name.starts_with(&self.beneath) && Name::parse(name).is_ok_and(|name| name.len() == self.name.len() + 1)
    }
}

/// Rows that are gathered, and how much they are.
#[derive(Default)]
struct Page {
    rows: Vec<WatchRow>,
    bytes: usize,
}

impl Page {
    fn push(&mut self, row: WatchRow) {
        let metadata = |content: &crate::naming::Content| content.instance.as_ref().map_or(0, |it| it.metadata.len());
        let content = row.bound.as_ref().map_or(0, |(content, _)| content.value.len() + metadata(content));
        self.bytes += row.name.len() + content + AROUND;
        self.rows.push(row);
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= ROWS || self.bytes >= BYTES
    }

    fn is_overfull(&self) -> bool {
        self.rows.len() >= 2 * ROWS || self.bytes >= 2 * BYTES
    }

    fn last_name(&self) -> String {
        self.rows.last().map(|row| row.name.clone()).unwrap_or_default()
    }
}
