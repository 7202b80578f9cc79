//! A node of the writing scenarios: an engine, a failure detector, and a process that can stand still.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use hanaming::cluster::engine::{Engine, Input, Members, Output, Timing};
use hanaming::cluster::history::Outcome;
use hanaming::cluster::message::Message;
use hanaming::cluster::replica::Replica;
use hanaming::cluster::reply::{Refusal, Reply};
use hanaming::cluster::rules::Rules;
use hanaming::cluster::store::{Store, Transaction};
use hanaming::topology::NodeId;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::disk::Disk;
use crate::random::Dice;
use crate::reader::Reader;
use crate::schedule::ms;

/// How often a node says that it lives.
pub const PULSE: Duration = ms(100);

/// After how much silence a node is taken for dead.
const SILENCE: Duration = ms(1500);

/// A pulse that is later than this tells of a freeze: what was not heard meanwhile proves nothing.
const TOO_LATE: Duration = ms(250);

/// What arrives at a process.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// A node lives.
    Pulse { from: usize },
    /// A node says something.
    Message { from: usize, message: Message },
    /// A client asks.
    Request(Input),
    /// The detector's own pulse is due.
    Beat,
    /// The engine's wake-up is due.
    Wake,
}

/// A node.
pub struct Host {
    /// Its engine.
    pub engine: Engine,
    /// What its readers are shown.
    pub reader: Reader,
    /// It stands still: what arrives waits.
    pub frozen: bool,
    /// What waits.
    pub inbox: Vec<Delivery>,
    /// What was about to leave when it froze.
    pub held: Vec<Output>,
    /// Freeze at the end of the next handler, with so many messages gone, for so long.
    pub freeze_next: Option<(usize, Duration)>,
    /// For when a wake-up is scheduled.
    pub wake_at: Duration,
    /// It is dead: what arrives is lost.
    pub crashed: bool,
    /// Its disk takes nothing: its engine is given nothing, and its driver says so.
    pub suspended: bool,
    disk: Disk,
    dice: Dice,
    timing: Timing,
    rules: Rules,
    heard: Vec<Duration>,
    live: BTreeSet<usize>,
    last_beat: Duration,
}

/// The id of a node.
pub fn id(node: usize) -> NodeId {
    NodeId(node as u128 + 1)
}

/// The node of an id.
pub fn index(id: NodeId) -> usize {
    usize::try_from(id.0).unwrap() - 1
}

impl Host {
    /// A node among so many, all of them live.
    pub fn new(node: usize, nodes: usize, mut dice: Dice, timing: Timing, rules: Rules, now: Duration) -> Self {
        let mut disk = Disk::default();
        Self {
            engine: start(node, &mut disk, &mut dice, timing, rules, now),
            reader: Reader::default(),
            frozen: false,
            inbox: Vec::new(),
            held: Vec::new(),
            freeze_next: None,
            wake_at: Duration::MAX,
            crashed: false,
            suspended: false,
            disk,
            dice,
            timing,
            rules,
            heard: vec![now; nodes],
            live: (0..nodes).collect(),
            last_beat: now,
        }
    }

    /// The process dies, and with it what was about to leave or waited to be read. Whether its pulse was among that.
    pub fn crash(&mut self) -> bool {
        self.crashed = true;
        self.suspended = false;
        self.frozen = false;
        self.freeze_next = None;
        self.held.clear();
        self.inbox.drain(..).any(|delivery| matches!(delivery, Delivery::Beat))
    }

    /// The process starts again from its disk.
    pub fn restart(&mut self, now: Duration) -> Result<Vec<Output>, String> {
        let node = index(self.engine.id());
        self.engine = start(node, &mut self.disk, &mut self.dice, self.timing, self.rules, now);
        self.reader = Reader::of(self.engine.replica());
        self.crashed = false;
        self.wake_at = Duration::MAX;
        self.heard.fill(now);
        self.live = (0..self.heard.len()).collect();
        self.last_beat = now;
        self.members(now)
    }

    /// The disk takes something again.
    pub fn resume(&mut self, now: Duration) -> Result<Vec<Output>, String> {
        self.suspended = false;
        let mut outputs = self.members(now)?;
        outputs.extend(self.step(now, Input::Tick)?);
        outputs.extend(self.step(now, Input::Resumed)?);
        Ok(outputs)
    }

    /// All others are found dead.
    pub fn survive(&mut self, now: Duration) -> Result<Vec<Output>, String> {
        self.live = BTreeSet::from([index(self.engine.id())]);
        self.members(now)
    }

    /// What the driver does while its disk takes nothing.
    fn turn_away(&mut self, now: Duration, delivery: Delivery) -> Vec<Output> {
        let suspended = |from| Output::Send { to: id(from), message: Message::Suspended };
        match delivery {
            Delivery::Pulse { from } => {
                self.heard[from] = now;
                self.live.insert(from);
            }
            Delivery::Beat => drop(self.find_dead(now)),
            Delivery::Message { from, message } if message != Message::Suspended => return vec![suspended(from)],
            Delivery::Request(Input::Request { asker, .. }) => {
                return vec![Output::Answer { asker, reply: Reply::Refused(Refusal::ReadOnly), token: None }];
            }
            Delivery::Request(Input::Read { asker, .. }) => return vec![Output::Readable { asker, is_current: false }],
            Delivery::Message { .. } | Delivery::Request(_) | Delivery::Wake => {}
        }
        Vec::new()
    }

    /// Handles what arrived.
    pub fn handle(&mut self, now: Duration, delivery: Delivery) -> Result<Vec<Output>, String> {
        if self.suspended {
            return Ok(self.turn_away(now, delivery));
        }
        match delivery {
            Delivery::Pulse { from } => {
                self.heard[from] = now;
                if self.live.insert(from) { self.members(now) } else { Ok(Vec::new()) }
            }
            Delivery::Message { from, message } => self.step(now, Input::Message { from: id(from), message }),
            Delivery::Request(input) => self.step(now, input),
            Delivery::Beat => self.beat(now),
            Delivery::Wake => self.step(now, Input::Tick),
        }
    }

    /// One step of the engine, durable before anything of it leaves.
    fn step(&mut self, now: Duration, input: Input) -> Result<Vec<Output>, String> {
        let step = self.engine.step(now, input);
        self.reader.follow(&step.changes)?;
        self.check_whole(&step.transaction)?;
        self.disk.commit(&[step.transaction]).unwrap();
        Ok(step.outputs)
    }

    /// Whoever has one half of a rename has the other.
    fn check_whole(&self, transaction: &Transaction) -> Result<(), String> {
        for (name, record) in transaction.records.iter().filter_map(|(name, record)| Some((name, record.as_ref()?))) {
            for part in record.history.iter().filter(|event| event.outcome == Outcome::Part) {
                let mut events = self.engine.replica().events_of(part.operation);
                if !events.any(|(_, event)| event.outcome != Outcome::Part) {
                    return Err(format!("{name:?} was moved away, and its new name is unknown"));
                }
            }
        }
        Ok(())
    }

    fn beat(&mut self, now: Duration) -> Result<Vec<Output>, String> {
        if self.find_dead(now) { self.members(now) } else { Ok(Vec::new()) }
    }

    /// Looks who was silent for too long; whether somebody was.
    fn find_dead(&mut self, now: Duration) -> bool {
        if now > self.last_beat + TOO_LATE {
            self.heard.fill(now);
        }
        self.last_beat = now;
        let me = index(self.engine.id());
        let dead: Vec<usize> =
            self.live.iter().copied().filter(|node| *node != me && now > self.heard[*node] + SILENCE).collect();
        for node in &dead {
            self.live.remove(node);
        }
        !dead.is_empty()
    }

    /// The engine is told whom the detector believes alive.
    pub fn members(&mut self, now: Duration) -> Result<Vec<Output>, String> {
        let live = self.live.iter().copied().map(id).collect();
        let all = (0..self.heard.len()).map(id).collect();
        self.step(now, Input::Members(Members { live, guests: BTreeSet::new(), all }))
    }
}

/// An engine over what the disk holds.
fn start(node: usize, disk: &mut Disk, dice: &mut Dice, timing: Timing, rules: Rules, now: Duration) -> Engine {
    let epoch = Duration::from_secs(1_000_000) + ms(dice.below(400));
    let label: Arc<str> = Arc::from(format!("n{node}"));
    let (rng, other) = (StdRng::seed_from_u64(dice.next()), StdRng::seed_from_u64(dice.next()));
    let replica = match disk.load().unwrap() {
        Some(state) => Replica::restore(state, label, epoch, rng, rules),
        None => Replica::new(label, epoch, rng, rules),
    };
    Engine::new(id(node), replica, timing, other, rules, now)
}
