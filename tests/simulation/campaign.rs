//! Many seeds, in parallel; what failed is shrunk and printed so that it can be replayed.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hanaming::cluster::rules::Rules;

/// What happens in one run: the whole of it follows from this.
#[derive(Clone, Debug)]
pub struct Plan<A> {
    /// The seed of the dice that are thrown during the run.
    pub seed: u64,
    /// How many nodes take part.
    pub nodes: usize,
    /// Requests and faults, in the order of their times.
    pub actions: Vec<(Duration, A)>,
}

/// What a run did, to show that it did something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs.
    pub seeds: u64,
    /// Requests of users.
    pub operations: u64,
    /// Faults that happened.
    pub faults: u64,
    /// Messages that arrived.
    pub messages: u64,
    /// Delta syncs, full syncs and purged tombstones.
    pub syncs: [u64; 3],
    /// Names that had several versions after healing.
    pub conflicts: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.seeds += other.seeds;
        self.operations += other.operations;
        self.faults += other.faults;
        self.messages += other.messages;
        for (sum, one) in self.syncs.iter_mut().zip(other.syncs) {
            *sum += one;
        }
        self.conflicts += other.conflicts;
    }
}

/// A kind of run.
pub trait Scenario: Sync {
    /// What a plan consists of.
    type Action: Clone + Debug;

    /// The plan of a seed.
    fn plan(&self, seed: u64) -> Plan<Self::Action>;

    /// Whether a failing plan may be shortened by this action.
    fn may_drop(&self, action: &Self::Action) -> bool;

    /// Runs a plan; an error says what was violated.
    fn run(&self, plan: &Plan<Self::Action>, rules: Rules) -> Result<Tally, String>;
}

/// What came of a campaign.
pub struct Outcome {
    /// What was done.
    pub tally: Tally,
    /// The lowest seed that failed, and how.
    pub failure: Option<(u64, String)>,
}

/// What a variable of the environment sets.
pub fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// Runs seeds on all cores; stops some time after the first failure.
pub fn run<S: Scenario>(scenario: &S, seeds: Range<u64>, rules: Rules) -> Outcome {
    let (next, failed) = (AtomicU64::new(seeds.start), AtomicBool::new(false));
    let result = Mutex::new(Outcome { tally: Tally::default(), failure: None });
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut tally = Tally::default();
                while !failed.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        break;
                    }
                    match scenario.run(&scenario.plan(seed), rules) {
                        Ok(one) => tally.add(&Tally { seeds: 1, ..one }),
                        Err(violation) => {
                            failed.store(true, Ordering::Relaxed);
                            let failure = &mut result.lock().unwrap().failure;
                            if failure.as_ref().is_none_or(|(known, _)| seed < *known) {
                                *failure = Some((seed, violation));
                            }
                        }
                    }
                }
                result.lock().unwrap().tally.add(&tally);
            });
        }
    });
    result.into_inner().unwrap()
}

/// Leaves out of a failing plan whatever it fails without: halves first, then smaller pieces.
pub fn shrink<S: Scenario>(scenario: &S, plan: &Plan<S::Action>, rules: Rules) -> Plan<S::Action> {
    let mut plan = plan.clone();
    let mut size = plan.actions.len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < plan.actions.len() {
            let mut shorter = plan.clone();
            let piece: Vec<_> = shorter.actions.drain(at..(at + size).min(plan.actions.len())).collect();
            let kept: Vec<_> = piece.into_iter().filter(|(_, action)| !scenario.may_drop(action)).collect();
            shorter.actions.splice(at..at, kept);
            if shorter.actions.len() < plan.actions.len() && scenario.run(&shorter, rules).is_err() {
                plan = shorter;
            } else {
                at += size;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    plan
}

/// Fails the test where a seed failed: with its number, what was violated, and the shortest plan found for it.
pub fn must_hold<S: Scenario>(scenario: &S, seeds: Range<u64>, rules: Rules) -> Tally {
    let outcome = run(scenario, seeds, rules);
    if let Some((seed, violation)) = outcome.failure {
        let plan = shrink(scenario, &scenario.plan(seed), rules);
        let shortest = scenario.run(&plan, rules).err().unwrap_or_default();
        let actions: Vec<String> = plan.actions.iter().map(|(at, action)| format!("{at:>10.1?} {action:?}")).collect();
        panic!(
            "seed {seed}: {violation}\nreplay with SIMULATION_SEED={seed}\nshrunk to {} nodes and {} actions: {shortest}\n{}",
            plan.nodes,
            actions.len(),
            actions.join("\n")
        );
    }
    outcome.tally
}
