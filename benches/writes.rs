//! What a write costs the cluster tree's engine, by itself: no network, no disk, no readers.
//!
//! ```text
//! cargo bench --bench writes
//! ```
//! One name that is written all the time remembers the operations that wrote it; its writes are not to cost more for
//! that than those of names that are written once.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program that measures and prints")]
#![allow(clippy::unwrap_used, reason = "a failure ends the program")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use hanaming::cluster::engine::{Engine, Input, Members, Timing};
use hanaming::cluster::replica::Replica;
use hanaming::cluster::request::{Binding, Intent, Level, Request};
use hanaming::cluster::rules::Rules;
use hanaming::cluster::vector::Seen;
use hanaming::naming::{Content, Name, Value};
use hanaming::protocol::OperationId;
use hanaming::topology::NodeId;
use rand::SeedableRng;
use rand::rngs::StdRng;

const ROUNDS: u32 = 15;
const WRITES: u64 = 5_000;

/// An engine, and the time and the operations of its one client.
struct Bench {
    engine: Engine,
    content: Content,
    now: Duration,
    sequence: u64,
}

impl Bench {
    fn new() -> Self {
        let rng = |seed| StdRng::seed_from_u64(seed);
        let replica = Replica::new("n1".into(), Duration::from_secs(1_000_000), rng(1), Rules::ALL);
        let mut engine = Engine::new(NodeId(1), replica, Timing::default(), rng(2), Rules::ALL, Duration::ZERO);
        let alone = BTreeSet::from([NodeId(1)]);
        engine.step(Duration::ZERO, Input::Members(Members { live: alone.clone(), guests: BTreeSet::new(), all: alone }));
        let content = Value::from("http://10.0.0.5:8080/service").to_content().unwrap();
        Self { engine, content, now: Duration::ZERO, sequence: 0 }
    }

    fn write(&mut self, name: &Name, intent: fn(Binding) -> Intent) {
        self.sequence += 1;
        self.now += Duration::from_micros(10);
        if self.now >= self.engine.next_wake() {
            self.engine.step(self.now, Input::Tick);
        }
        let request = Request {
            operation: OperationId { client: 7, sequence: self.sequence },
            name: name.clone(),
            intent: intent(Binding::of(self.content.clone())),
            is_retry: false,
            token: Seen::default(),
            level: Level::AllLive,
            within: Duration::from_secs(5),
        };
        let step = self.engine.step(self.now, Input::Request { asker: 1, request });
        assert_eq!(step.changes.len(), 1, "{:?}", step.outputs);
    }

    /// Microseconds for each of the writes, the median over rounds.
    fn measure(&mut self, intent: fn(Binding) -> Intent, mut name: impl FnMut(u64) -> Name) -> f64 {
        let mut rounds: Vec<Duration> = (0..ROUNDS)
            .map(|_| {
                let names: Vec<Name> = (0..WRITES).map(|_| name(self.sequence)).collect();
                let start = Instant::now();
                for name in &names {
                    self.write(name, intent);
                }
                start.elapsed()
            })
            .collect();
        rounds.sort_unstable();
        rounds[rounds.len() / 2].as_secs_f64() * 1e6 / f64::from(u32::try_from(WRITES).unwrap())
    }
}

fn main() {
    let named = |text: String| Name::parse(&text).unwrap();
    let mut fresh = 0_u64;
    let bound = Bench::new().measure(Intent::Bind, |_| {
        fresh += 1;
        named(format!("n{fresh}"))
    });
    println!("bind, each of another name     {bound:6.2} us");
    let spread = Bench::new().measure(Intent::Rebind, |n| named(format!("n{}", n % 1000)));
    println!("rebind, of a thousand names    {spread:6.2} us");
    let hot = Bench::new().measure(Intent::Rebind, |_| named("one".to_owned()));
    println!("rebind, of one name            {hot:6.2} us");
}
