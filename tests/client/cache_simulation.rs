//! A cache among nodes that lag behind each other, answers that are slow, and logs that end: whatever it answers of the
//! cluster tree stood there, on the node whose log it follows, at some time since it last heard of that log.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use hanaming::client::cache::{Cache, Generation};
use hanaming::naming::{Source, Value, Version};
use hanaming::protocol::{Answer, Found, Position, Reply, WatchFrom, WatchNext, WatchRow, Watched};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::stage::{content, ms, node};

const NAMES: usize = 4;
const NODES: usize = 3;

/// A node has the first so many writes; each start has a log of its own, which begins there.
struct Node {
    applied: usize,
    log: u128,
}

/// A lookup under way.
struct Asked {
    name: usize,
    node: usize,
    moment: u64,
    /// What it was answered, once the node has had it.
    answer: Option<u64>,
}

struct World {
    rng: StdRng,
    now: Duration,
    /// The names that were written, one behind the other.
    writes: Vec<usize>,
    nodes: Vec<Node>,
    logs: u128,
    cache: Cache,
    /// What the cache follows, by what it was told.
    follows: Option<(usize, usize)>,
    feeder: usize,
    asked: VecDeque<Asked>,
    kept: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            rng: StdRng::seed_from_u64(seed),
            now: Duration::ZERO,
            writes: Vec::new(),
            nodes: (0..NODES).map(|log| Node { applied: 0, log: log as u128 }).collect(),
            logs: NODES as u128,
            cache: Cache::new(Generation::default()),
            follows: None,
            feeder: 0,
            asked: VecDeque::new(),
            kept: 0,
        }
    }

    /// The last of the first `applied` writes of a name, or 0.
    fn version(&self, name: usize, applied: usize) -> u64 {
        self.writes[..applied].iter().rposition(|written| *written == name).map_or(0, |at| at as u64 + 1)
    }

    fn step(&mut self) {
        self.now += ms(self.rng.random_range(0..50));
        match self.rng.random_range(0..100) {
            0..15 => self.writes.push(self.rng.random_range(0..NAMES)),
            15..40 => {
                let node = self.rng.random_range(0..NODES);
                self.nodes[node].applied = self.writes.len().min(self.nodes[node].applied + 1);
            }
            40..42 => {
                let node = self.rng.random_range(0..NODES);
                self.logs += 1;
                self.nodes[node].log = self.logs;
            }
            42..44 => {
                self.feeder = self.rng.random_range(0..NODES);
            }
            44..45 => {
                self.cache.lost();
                self.follows = None;
            }
            45..60 => self.feed(),
            60..75 => {
                let asked = Asked {
                    name: self.rng.random_range(0..NAMES),
                    node: self.rng.random_range(0..NODES),
                    moment: self.cache.moment(),
                    answer: None,
                };
                self.asked.push_back(asked);
            }
            75..85 => {
                for number in 0..self.asked.len() {
                    if self.asked[number].answer.is_none() && self.rng.random() {
                        let Asked { name, node, .. } = self.asked[number];
                        self.asked[number].answer = Some(self.version(name, self.nodes[node].applied));
                    }
                }
            }
            _ => self.arrive(),
        }
        self.check();
    }

    /// The cache asks the node that it is at by now.
    fn feed(&mut self) {
        let number = self.feeder;
        let at = &self.nodes[number];
        let position = Position { log: at.log, sequence: at.applied as u64 };
        let (mut rows, mut next) = (Vec::new(), WatchNext::Position(position));
        if let WatchFrom::Position(from) = self.cache.request().from {
            if from.log == at.log {
                let since = usize::try_from(from.sequence).unwrap();
                rows = self.writes[since..at.applied].iter().map(|name| row(*name)).collect();
            } else {
                next = WatchNext::Lost { log: at.log };
            }
        }
        self.follows = matches!(next, WatchNext::Position(_)).then_some((number, at.applied));
        self.cache.hear(Watched { node: named(number), rows, next }, self.now);
    }

    fn arrive(&mut self) {
        let Some(at) = self.asked.iter().position(|asked| asked.answer.is_some()) else { return };
        let Some(Asked { name, node, moment, answer: Some(version) }) = self.asked.remove(at) else { return };
        if version == 0 {
            return;
        }
        let found = Found {
            content: Value::Int(version.cast_signed()).to_content().unwrap(),
            source: Source::Cluster,
            node: named(node),
            version: Some(Version { actor: 1, sequence: version }),
            asked: Vec::new(),
        };
        self.cache.keep(&format!("n{name}"), &Reply::Done(Answer::Found(found)), moment, self.now);
    }

    fn check(&mut self) {
        for name in 0..NAMES {
            let Some(reply) = self.cache.answer(&format!("n{name}"), self.now) else { continue };
            let Reply::Done(Answer::Found(Found { version: Some(version), .. })) = reply else { panic!("{reply:?}") };
            let (node, heard) = self.follows.expect("nothing is answered without a log");
            let stood = (heard..=self.nodes[node].applied).any(|applied| self.version(name, applied) == version.sequence);
            assert!(stood, "n{name} was version {} at no time since the log was heard of", version.sequence);
            self.kept += 1;
        }
    }
}

fn named(number: usize) -> Arc<str> {
    node(['a', 'b', 'c'][number])
}

fn row(name: usize) -> WatchRow {
    WatchRow {
        name: format!("n{name}"),
        bound: Some((content(1), Version { actor: 1, sequence: 1 })),
        is_conflict: false,
        moved_from: None,
        ends_write: true,
    }
}

#[test]
fn what_is_kept_is_true() {
    let mut kept = 0;
    for seed in 0..600 {
        let mut world = World::new(seed);
        for _ in 0..300 {
            world.step();
        }
        kept += world.kept;
    }
    assert!(kept > 3_000, "it answered something: {kept} times");
}
