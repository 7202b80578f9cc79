//! A watch over nodes that lag, lose their logs and die, from seeds: whatever happens, the last event of each name is its
//! final state, `old` is what was told before, and nothing is told twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hanaming::client::EventKind;
use hanaming::client::watch::{Event, Follower, Told};
use hanaming::naming::{Content, Name, Version};
use hanaming::protocol::{Position, WatchFrom, WatchNext, WatchRequest, WatchRow, WatchScope, Watched};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const NODES: usize = 3;

type State = BTreeMap<&'static str, (String, u64)>;

/// What is bound at a name after a write, and from where it was moved.
type Written = (&'static str, Option<(String, u64)>, Option<&'static str>);

/// One write.
#[derive(Clone)]
struct Write(Vec<Written>);

/// A node: it has seen so many of all writes, and has some of their names in its log.
struct Node {
    log: u128,
    seen: usize,
    first: usize,
    /// What has changed, one by one, as the log counts it.
    changes: Vec<WatchRow>,
    state: State,
}

struct World {
    dice: StdRng,
    writes: Vec<Write>,
    nodes: Vec<Node>,
    logs: u128,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut world = Self { dice: StdRng::seed_from_u64(seed), writes: Vec::new(), nodes: Vec::new(), logs: 0 };
        for _ in 0..NODES {
            let node = world.blank();
            world.nodes.push(node);
        }
        world
    }

    fn blank(&mut self) -> Node {
        self.logs += 1;
        Node { log: self.logs, seen: 0, first: 0, changes: Vec::new(), state: State::new() }
    }

    fn truth(&self) -> State {
        let mut state = State::new();
        self.writes.iter().for_each(|write| apply(&mut state, write));
        state
    }

    fn write(&mut self) {
        let number = self.writes.len() as u64 + 1;
        let (one, other) = (NAMES[self.dice.random_range(0..5)], NAMES[self.dice.random_range(0..5)]);
        let state = self.truth();
        let write = match (self.dice.random_range(0..4), state.get(one)) {
            (0, Some(_)) => Write(vec![(one, None, None)]),
            (1, Some((value, _))) if one != other && !state.contains_key(other) => {
                Write(vec![(one, None, None), (other, Some((value.clone(), number)), Some(one))])
            }
            _ => Write(vec![(one, Some((number.to_string(), number)), None)]),
        };
        self.writes.push(write);
    }

    fn catch_up(&mut self, node: usize) {
        let node = &mut self.nodes[node];
        if let Some(write) = self.writes.get(node.seen) {
            apply(&mut node.state, write);
            let count = write.0.len();
            for (number, (name, bound, from)) in write.0.iter().enumerate() {
                node.changes.push(WatchRow { ends_write: number + 1 == count, ..row(name, bound.as_ref(), *from) });
            }
            node.seen += 1;
        }
    }

    /// A node dies, and another takes its place: it copies what somebody has, in one write.
    fn replace(&mut self, node: usize) {
        let from = self.dice.random_range(0..NODES);
        let (seen, state) = (self.nodes[from].seen, self.nodes[from].state.clone());
        let blank = self.blank();
        let changes = state.iter().map(|(name, bound)| row(name, Some(bound), None)).collect();
        self.nodes[node] = Node { seen, changes, state, ..blank };
    }

    fn answer(&mut self, node: usize, request: &WatchRequest) -> Watched {
        let limit = self.dice.random_range(1..4);
        let node = &self.nodes[node];
        let end = Position { log: node.log, sequence: node.changes.len() as u64 };
        let (rows, next) = match &request.from {
            WatchFrom::Start => node.page(end, None, limit),
            WatchFrom::Rest { position, after } if position.log == node.log => node.page(*position, Some(after), limit),
            WatchFrom::Behind(position) if node.has(*position) => node.behind(*position, limit),
            WatchFrom::Position(position) if node.has(*position) => node.since(*position, 2 * limit),
            _ => (Vec::new(), WatchNext::Lost { log: node.log }),
        };
        Watched { node: Arc::from("n"), rows, next }
    }
}

impl Node {
    fn has(&self, position: Position) -> bool {
        position.log == self.log && index(position) >= self.first
    }

    fn row(&self, name: &str) -> WatchRow {
        row(name, self.state.get(name), None)
    }

    fn page(&self, position: Position, after: Option<&str>, limit: usize) -> (Vec<WatchRow>, WatchNext) {
        let behind = self.state.keys().filter(|name| after.is_none_or(|after| **name > after));
        let rows: Vec<WatchRow> = behind.clone().take(limit).map(|name| self.row(name)).collect();
        let next = match rows.last() {
            Some(last) if behind.count() > limit => WatchNext::Rest { position, after: last.name.clone() },
            _ => WatchNext::Behind(position),
        };
        (rows, next)
    }

    fn behind(&self, position: Position, limit: usize) -> (Vec<WatchRow>, WatchNext) {
        let changes = &self.changes[index(position)..];
        let names: BTreeSet<&str> = changes.iter().take(limit).map(|change| &*change.name).collect();
        let sequence = position.sequence + changes.len().min(limit) as u64;
        let next = Position { sequence, ..position };
        let is_cut = index(next) < self.changes.len();
        let rows = names.into_iter().map(|name| self.row(name)).collect();
        (rows, if is_cut { WatchNext::Behind(next) } else { WatchNext::Position(next) })
    }

    fn since(&self, position: Position, limit: usize) -> (Vec<WatchRow>, WatchNext) {
        let rows: Vec<WatchRow> = self.changes[index(position)..].iter().take(limit).cloned().collect();
        let sequence = position.sequence + rows.len() as u64;
        (rows, WatchNext::Position(Position { sequence, ..position }))
    }
}

fn index(position: Position) -> usize {
    usize::try_from(position.sequence).unwrap()
}

fn row(name: &str, bound: Option<&(String, u64)>, moved_from: Option<&str>) -> WatchRow {
    let bound = bound.map(|(value, write)| (Content::link(value), Version { actor: 1, sequence: *write }));
    let moved_from = moved_from.map(str::to_owned);
    WatchRow { name: name.to_owned(), bound, is_conflict: false, moved_from, ends_write: true }
}

fn apply(state: &mut State, write: &Write) {
    for (name, bound, _) in &write.0 {
        match bound {
            Some(bound) => drop(state.insert(name, bound.clone())),
            None => drop(state.remove(name)),
        }
    }
}

/// Who believes only what is told.
#[derive(Default)]
struct Listener(BTreeMap<String, u64>);

impl Listener {
    fn hear(&mut self, seed: u64, event: &Event) {
        let of = |told: &Option<Told>| told.as_ref().map(|told| (told.name.to_string(), told.version.sequence));
        let (old, new, name) = (of(&event.old), of(&event.new), event.name.to_string());
        if event.kind == EventKind::Resynchronised {
            return;
        }
        let source = old.clone().map_or_else(|| name.clone(), |(name, _)| name);
        assert_eq!(self.0.remove(&source), old.as_ref().map(|(_, write)| *write), "seed {seed}: {event:?}");
        match event.kind {
            EventKind::Added => assert!(old.is_none() && new.is_some()),
            EventKind::Removed => assert!(old.is_some() && new.is_none()),
            EventKind::Renamed => assert!(source != name && !self.0.contains_key(&name), "seed {seed}: {event:?}"),
            _ => assert!(source == name && new.is_some()),
        }
        assert!(old != new, "seed {seed}: nothing changed in {event:?}");
        if let Some((name, write)) = new {
            self.0.insert(name, write);
        }
    }
}

fn run(seed: u64) -> Vec<EventKind> {
    let mut world = World::new(seed);
    let initial = world.dice.random_bool(0.7);
    for _ in 0..world.dice.random_range(0..8) {
        world.write();
        (0..NODES).for_each(|node| world.catch_up(node));
    }
    let mut listener = Listener::default();
    if !initial {
        listener.0 = world.truth().into_iter().map(|(name, (_, write))| (name.to_owned(), write)).collect();
    }
    let mut follower = Follower::new(Name::empty(), WatchScope::Subtree, initial);
    let mut kinds = Vec::new();
    let mut asked = 0;
    if !initial {
        // The first state is complete before anything else happens.
        while follower.request().hold == 0 {
            let request = follower.request();
            follower.hear(world.answer(asked, &request));
        }
    }
    let mut hear = |follower: &mut Follower, most: usize| {
        for event in follower.by_ref().take(most) {
            kinds.push(event.kind);
            listener.hear(seed, &event);
        }
        listener.0.clone()
    };
    for _ in 0..world.dice.random_range(10..60) {
        match world.dice.random_range(0..12) {
            0..3 => world.write(),
            3..6 => {
                let node = world.dice.random_range(0..NODES);
                world.catch_up(node);
            }
            6 => asked = world.dice.random_range(0..NODES),
            7 => {
                let node = world.dice.random_range(0..NODES);
                world.replace(node);
            }
            8 => {
                // The log of a node is bounded.
                let node = &mut world.nodes[asked];
                node.first = node.changes.len();
            }
            9 => drop(hear(&mut follower, 2)),
            _ => {
                let request = follower.request();
                let answer = world.answer(asked, &request);
                // An answer may be lost on its way.
                if world.dice.random_bool(0.8) {
                    follower.hear(answer);
                }
            }
        }
    }
    // All nodes catch up, and the watch is answered.
    for _ in 0..world.writes.len() {
        (0..NODES).for_each(|node| world.catch_up(node));
    }
    for _ in 0..200 {
        let request = follower.request();
        follower.hear(world.answer(asked, &request));
    }
    let heard = hear(&mut follower, usize::MAX);
    let truth: BTreeMap<String, u64> = world.truth().into_iter().map(|(name, (_, write))| (name.to_owned(), write)).collect();
    assert_eq!(heard, truth, "seed {seed}");
    kinds
}

#[test]
fn the_last_event_of_each_name_is_its_final_state() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..5_000 {
        for kind in run(seed) {
            *counts.entry(kind.as_str()).or_default() += 1;
        }
    }
    for kind in ["added", "removed", "changed", "renamed", "resynchronised"] {
        assert!(counts.get(kind).is_some_and(|count| *count > 20), "hardly any event of each kind: {counts:?}");
    }
}
