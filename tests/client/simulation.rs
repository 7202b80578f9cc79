//! Random servers, random faults, virtual time: what holds of every call, whatever happens.
//!
//! A world of servers changes under a crowd of calls. Each run follows from its seed, which a failure prints
//! (`HANAMING_SEED` runs that one again, `HANAMING_SEEDS` runs so many). What is held:
//! 1. a mutation that may have run is only sent again under its id, and is then said to be a retry;
//! 2. every call ends by its deadline, and says no less than what is true of whether it ran;
//! 3. when the world is well again every target returns to use, and nothing is left outstanding.

use std::collections::BTreeMap;
use std::time::Duration;

use hanaming::client::{Call, ClientConfig, Elections, Fleet, Health, Input, Invocation, Names, Output, Policy};
use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::ErrorKind;
use hanaming::protocol::{OperationId, Outcome, RefusalReason};
use hanaming::topology::MemberState;
use hanaming::transport::{TransportError, TransportErrorKind};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::stage::{
    bind, broken_body, config, failed, fault, found, letter, lookup, member, ms, refused, view, welcome, written,
};

/// What a server does with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mood {
    Well,
    /// Nobody listens.
    Down,
    /// It takes connections and says nothing; whether a request runs is anybody's guess.
    Frozen,
    /// It loses the connection before the request has left.
    DropsEarly,
    /// It loses the connection after the request has left; it may have run.
    DropsLate,
    /// It runs the request and loses the reply's body.
    DropsBody,
    Joining,
    Quiescing,
    /// It refuses with a fault that says that nothing ran.
    Full,
}

const MOODS: [Mood; 9] = [
    Mood::Well,
    Mood::Down,
    Mood::Frozen,
    Mood::DropsEarly,
    Mood::DropsLate,
    Mood::DropsBody,
    Mood::Joining,
    Mood::Quiescing,
    Mood::Full,
];

/// One call under way, and what is true of it.
struct Flight {
    call: Call,
    mutates: bool,
    ends: Duration,
    /// The id of the first request.
    operation: Option<OperationId>,
    /// Some attempt ran, or may have run.
    may_have_run: bool,
    /// What happens to it next, and when; `None` when it is over.
    next: Option<(Duration, Input)>,
}

struct World {
    config: ClientConfig,
    fleet: Fleet,
    rng: StdRng,
    moods: BTreeMap<char, Mood>,
    now: Duration,
    flights: Vec<Flight>,
    finished: usize,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let letters = &"abcde"[..rng.random_range(1..=5)];
        let policy = Policy::ALL[rng.random_range(0..Policy::ALL.len())];
        let timeout = ms([100, 700, 5000][rng.random_range(0..3)]);
        let config = ClientConfig { policy, timeout, ..config(letters) };
        let fleet = Fleet::new(&config, Elections::new(), Names::Resolved, seed);
        let moods = letters.chars().map(|letter| (letter, Mood::Well)).collect();
        Self { config, fleet, rng, moods, now: Duration::ZERO, flights: Vec::new(), finished: 0 }
    }

    fn letters(&self) -> String {
        self.moods.keys().collect()
    }

    fn begin(&mut self) {
        let mutates = self.rng.random_bool(0.5);
        let invocation: Invocation = if mutates { bind("orders") } else { lookup("orders") };
        let mut call = Call::new(invocation, &self.config, self.now, self.config.timeout);
        let output = call.step(&mut self.fleet, self.now, Input::Start);
        let ends = self.now + self.config.timeout;
        let mut flight = Flight { call, mutates, ends, operation: None, may_have_run: false, next: None };
        self.take(&mut flight, output);
        self.flights.push(flight);
    }

    /// Takes what the engine said: what will happen to the call, by the mood of whom it asks.
    fn take(&mut self, flight: &mut Flight, output: Output) {
        flight.next = match output {
            Output::Done(result) => {
                self.check_end(flight, &result.map(|_| ()));
                None
            }
            Output::Wait { until } => {
                assert!(until > self.now && until <= flight.ends, "waits from {:?} until {until:?}", self.now);
                Some((until, Input::Woke))
            }
            Output::Send(send) => {
                let request = flight.call.request();
                assert_eq!(request.is_retry, flight.mutates && flight.may_have_run, "a mutation that may have run is a retry");
                assert_eq!(flight.operation.or(request.operation_id), request.operation_id, "it has one id");
                flight.operation = request.operation_id;
                assert!(send.ends > self.now && send.ends <= flight.ends);
                let target = self.fleet.target(send.target).unwrap();
                let letter = letter(&target.label);
                let mood = self.moods[&letter];
                let (takes, input) = self.meet(mood, flight.mutates, send.ends.saturating_sub(self.now));
                flight.may_have_run |=
                    !matches!(mood, Mood::Down | Mood::DropsEarly | Mood::Joining | Mood::Quiescing | Mood::Full);
                if matches!(mood, Mood::Well) {
                    let live = member(letter, 1, MemberState::Live);
                    let view = view(&self.letters());
                    self.fleet.welcomed(send.target, &welcome(live, view), self.now);
                }
                Some((self.now + takes, input))
            }
        };
    }

    fn meet(&mut self, mood: Mood, mutates: bool, within: Duration) -> (Duration, Input) {
        let quick = ms(self.rng.random_range(1..5)).min(within);
        let broke = |phase, kind| Input::Broke { error: TransportError::new(phase, kind), reused: false };
        match mood {
            Mood::Well => (quick, if mutates { written() } else { found() }),
            Mood::Down => (Duration::ZERO, broke(Phase::Connect, TransportErrorKind::Refused)),
            Mood::Frozen => (within, broke(Phase::Wait, TransportErrorKind::TimedOut(within))),
            Mood::DropsEarly => (quick, broke(Phase::Send, TransportErrorKind::Lost)),
            Mood::DropsLate => (quick, broke(Phase::Wait, TransportErrorKind::Lost)),
            Mood::DropsBody => (quick, broken_body(Outcome::Done)),
            Mood::Joining => (quick, refused(RefusalReason::Joining, 50)),
            Mood::Quiescing => (quick, refused(RefusalReason::Quiescing, 200)),
            Mood::Full => {
                let full = fault(ErrorKind::ServiceUnavailable, CompletionStatus::No, "the disk is full");
                (quick, failed(full))
            }
        }
    }

    fn check_end(&mut self, flight: &Flight, result: &Result<(), hanaming::naming::NamingError>) {
        self.finished += 1;
        assert!(self.now <= flight.ends, "ended {:?} after its deadline", self.now.saturating_sub(flight.ends));
        let Err(error) = result else { return };
        let completion = error.fields().completion;
        if flight.mutates && flight.may_have_run {
            assert_ne!(completion, CompletionStatus::No, "it may have run, and is told as if it had not: {error}");
            assert!(!error.safe_to_retry(), "{error}");
        }
        if completion == CompletionStatus::No {
            assert!(error.safe_to_retry(), "{error}");
        }
        assert!(!error.fields().attempts.is_empty() || self.config.timeout.is_zero(), "{error}");
    }

    /// Lets the next thing happen: to a call, or a probe.
    fn turn(&mut self) -> bool {
        let at = |flight: &Flight| flight.next.as_ref().map(|(at, _)| *at);
        self.flights.retain(|flight| flight.next.is_some());
        let call = self.flights.iter().enumerate().filter_map(|(nth, flight)| Some((at(flight)?, nth))).min();
        let probe = self.fleet.next_due();
        match (call, probe) {
            (Some((at, nth)), probe) if probe.is_none_or(|probe| at <= probe) => {
                self.now = self.now.max(at);
                let mut flight = self.flights.swap_remove(nth);
                let (_, input) = flight.next.take().unwrap();
                let output = flight.call.step(&mut self.fleet, self.now, input);
                self.take(&mut flight, output);
                self.flights.push(flight);
                true
            }
            (_, Some(probe)) => {
                self.now = self.now.max(probe);
                self.probe();
                true
            }
            _ => false,
        }
    }

    fn probe(&mut self) {
        assert_eq!(self.fleet.looks_due(self.now), [], "nobody tells loads here, and lots are drawn");
        for (id, endpoint) in self.fleet.probes_due(self.now) {
            let letter = letter(&endpoint.to_string());
            let state = match self.moods[&letter] {
                Mood::Joining => MemberState::Joining,
                Mood::Quiescing => MemberState::Quiescing,
                _ => MemberState::Live,
            };
            let answer = welcome(member(letter, 1, state), view(&self.letters()));
            let silence = TransportError::new(Phase::Handshake, TransportErrorKind::TimedOut(ms(250)));
            let refusal = TransportError::new(Phase::Connect, TransportErrorKind::Refused);
            let outcome = match self.moods[&letter] {
                Mood::Down => Err(&refusal),
                Mood::Frozen => Err(&silence),
                _ => Ok(&answer),
            };
            self.fleet.probed(id, outcome, self.now, self.now);
        }
    }
}

fn run(seed: u64) {
    let mut world = World::new(seed);
    for _ in 0..60 {
        let letters: Vec<char> = world.moods.keys().copied().collect();
        let letter = letters[world.rng.random_range(0..letters.len())];
        let mood = MOODS[world.rng.random_range(0..MOODS.len())];
        world.moods.insert(letter, mood);
        for _ in 0..world.rng.random_range(0..4) {
            world.begin();
        }
        for _ in 0..world.rng.random_range(0..30) {
            world.turn();
        }
    }
    // The world is well again.
    for mood in world.moods.values_mut() {
        *mood = Mood::Well;
    }
    let mut turns = 0;
    while world.turn() {
        turns += 1;
        assert!(
            turns < 10_000,
            "it never comes to rest: {:?} {:?} {:?}",
            world.now,
            world.fleet.next_due(),
            world.fleet.targets().collect::<Vec<_>>()
        );
    }
    for target in world.fleet.targets() {
        assert!(matches!(target.health, Health::Good | Health::Untried), "{} did not return to use", target.label);
        assert_eq!(target.outstanding, 0, "{}", target.label);
    }
    assert_eq!(world.fleet.targets().count(), world.moods.len());
    let before = world.finished;
    for _ in 0..200 {
        world.begin();
        while world.flights.iter().any(|flight| flight.next.is_some()) {
            world.turn();
        }
    }
    assert_eq!(world.finished, before + 200);
    if matches!(world.config.policy, Policy::RoundRobin) {
        let shares: Vec<u64> = world.fleet.targets().map(|target| target.sent).collect();
        assert!(shares.iter().all(|share| *share > 0), "{shares:?}");
    }
}

/// Invariant 21.
#[test]
fn whatever_happens_these_hold() {
    let number = |variable: &str| std::env::var(variable).ok().map(|text| text.parse::<u64>().unwrap());
    let seeds = number("HANAMING_SEED").map_or(0..number("HANAMING_SEEDS").unwrap_or(100), |seed| seed..seed + 1);
    for seed in seeds {
        let outcome = std::panic::catch_unwind(|| run(seed));
        assert!(outcome.is_ok(), "failed with HANAMING_SEED={seed}; what failed stands above");
    }
}
