//! The policies: the share of each target over 10,000 calls, and what happens when targets fail and come back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use hanaming::client::{Call, ClientConfig, Elections, Fleet, Input, Names, Output, Policy};

use crate::stage::{config, connection_refused, endpoint, error, found, letter, lookup, member, ms, refused, view, welcome};
use hanaming::failure::Phase;
use hanaming::protocol::RefusalReason;
use hanaming::topology::MemberState;
use hanaming::transport::TransportErrorKind;

/// Contexts of one process, each a fleet of its own.
struct Crowd {
    config: ClientConfig,
    fleets: Vec<Fleet>,
    now: Duration,
}

impl Crowd {
    fn new(policy: Policy, contexts: u64, seed: u64) -> Self {
        Self::electing(policy, contexts, seed, &Elections::new())
    }

    fn electing(policy: Policy, contexts: u64, seed: u64, elections: &Arc<Elections>) -> Self {
        let config = ClientConfig { policy, ..config("abc") };
        let fleets =
            (0..contexts).map(|nth| Fleet::new(&config, Arc::clone(elections), Names::Resolved, seed * 1000 + nth)).collect();
        Self { config, fleets, now: Duration::ZERO }
    }

    /// One call by one context. `reply` says what the target of that letter does, and how long it takes.
    fn call(&mut self, context: usize, reply: &mut dyn FnMut(char) -> (Duration, Input)) -> char {
        let fleet = &mut self.fleets[context];
        let mut call = Call::new(lookup("orders"), &self.config, self.now, self.config.timeout);
        let mut output = call.step(fleet, self.now, Input::Start);
        let mut last = None;
        loop {
            output = match output {
                Output::Done(result) => {
                    result.unwrap();
                    return last.unwrap();
                }
                Output::Wait { until } => {
                    self.now = until;
                    call.step(fleet, self.now, Input::Woke)
                }
                Output::Send(send) => {
                    let target = letter(&fleet.target(send.target).unwrap().label);
                    last = Some(target);
                    let (takes, input) = reply(target);
                    self.now += takes;
                    let known = fleet.target(send.target).unwrap().node.is_some_and(|(_, confirmed)| confirmed);
                    if !known && matches!(input, Input::Reply(_)) {
                        let live = member(target, 1, MemberState::Live);
                        fleet.welcomed(send.target, &welcome(live, view("abc")), self.now);
                    }
                    call.step(fleet, self.now, input)
                }
            };
        }
    }

    /// The answers of each target over 10,000 calls, spread over the contexts.
    fn shares(&mut self, reply: &mut dyn FnMut(char) -> (Duration, Input)) -> BTreeMap<char, usize> {
        let mut shares = BTreeMap::from([('a', 0), ('b', 0), ('c', 0)]);
        for nth in 0..10_000 {
            *shares.get_mut(&self.call(nth % self.fleets.len(), reply)).unwrap() += 1;
        }
        shares
    }

    /// All servers tell this view.
    fn tell(&mut self, letters: &str) {
        for fleet in &mut self.fleets {
            let tellers: Vec<_> = fleet.targets().map(|target| target.id).collect();
            for teller in tellers {
                fleet.saw_view(teller, &view(letters), self.now);
            }
        }
    }

    /// Whoever failed is probed as soon as that is due, and found well.
    fn probe_all(&mut self) {
        self.now += Duration::from_secs(11);
        self.probe();
    }

    /// Whoever is due for a probe is probed, and found well.
    fn probe(&mut self) {
        for fleet in &mut self.fleets {
            for (id, endpoint) in fleet.probes_due(self.now) {
                let live = member(letter(&endpoint.to_string()), 1, MemberState::Live);
                fleet.probed(id, Ok(&welcome(live, view("abc"))), self.now, self.now);
            }
        }
    }
}

fn well(_: char) -> (Duration, Input) {
    (ms(1), found())
}

fn without(dead: char) -> impl FnMut(char) -> (Duration, Input) {
    move |letter| if letter == dead { (ms(0), connection_refused()) } else { (ms(1), found()) }
}

fn assert_even(shares: &BTreeMap<char, usize>, among: &str, tolerance: usize) {
    let fair = 10_000 / among.len();
    for (letter, share) in shares {
        let expected = if among.contains(*letter) { fair } else { 0 };
        assert!(share.abs_diff(expected) <= tolerance, "{letter} of {among}: {shares:?}");
    }
}

#[test]
fn round_robin_is_exactly_even_and_starts_anywhere() {
    let mut starts = BTreeMap::new();
    for seed in 0..300 {
        let mut crowd = Crowd::new(Policy::RoundRobin, 1, seed);
        *starts.entry(crowd.call(0, &mut well)).or_insert(0) += 1;
    }
    assert!(starts.len() == 3 && starts.values().all(|count| (60..140).contains(count)), "{starts:?}");
    assert_even(&Crowd::new(Policy::RoundRobin, 1, 1).shares(&mut well), "abc", 1);
}

#[test]
fn the_share_of_a_failed_target_goes_evenly_to_the_others_and_comes_back() {
    for (policy, tolerance) in [(Policy::RoundRobin, 2), (Policy::RandomRobin, 250), (Policy::LeastLoaded, 250)] {
        let mut crowd = Crowd::new(policy, 1, 5);
        assert_even(&crowd.shares(&mut well), "abc", tolerance);
        assert_even(&crowd.shares(&mut without('b')), "ac", tolerance.max(10));
        crowd.probe_all();
        assert_even(&crowd.shares(&mut well), "abc", tolerance);
    }
}

#[test]
fn first_available_stays_with_one_until_it_fails() {
    let mut crowd = Crowd::new(Policy::FirstAvailable, 1, 3);
    let elected = crowd.call(0, &mut well);
    assert_eq!(crowd.shares(&mut well)[&elected], 10_000);
    // One that refuses for a moment only is not elected any longer either: it said so itself.
    let next = crowd.call(0, &mut without(elected));
    assert_ne!(next, elected);
    crowd.now += Duration::from_secs(1);
    crowd.probe();
    assert_eq!(crowd.shares(&mut well)[&next], 10_000, "the first one's return changes nothing");
}

#[test]
fn first_available_elects_evenly_over_many_contexts() {
    let shares = Crowd::new(Policy::FirstAvailable, 1000, 3).shares(&mut well);
    assert_even(&shares, "abc", 600);
}

#[test]
fn identical_for_all_proxies_is_one_target_for_the_process() {
    let elections = Elections::new();
    let mut crowd = Crowd::electing(Policy::FirstAvailableIdenticalAllProxies, 50, 3, &elections);
    let shares = crowd.shares(&mut well);
    let (elected, _) = shares.iter().max_by_key(|(_, share)| **share).unwrap();
    assert_eq!(shares[elected], 10_000, "from the first call on: {shares:?}");
    // One context finds that it failed: the others follow as they find out, all to the same.
    let moved = crowd.shares(&mut without(*elected));
    let (next, _) = moved.iter().max_by_key(|(_, share)| **share).unwrap();
    assert_eq!(moved[next], 10_000, "{moved:?}");
    // A context that is made later follows too, whatever the order of its list.
    let mut later = Crowd::electing(Policy::FirstAvailableIdenticalAllProxies, 1, 77, &elections);
    assert_eq!(later.call(0, &mut well), *next);
    // Another process elects for itself.
    let others: Vec<char> =
        (0..40).map(|seed| Crowd::new(Policy::FirstAvailableIdenticalAllProxies, 1, seed).call(0, &mut well)).collect();
    assert!(others.iter().any(|other| other != next));
}

#[test]
fn electing_contexts_go_over_to_a_newcomer_until_the_load_is_even_again() {
    let mut crowd = Crowd::new(Policy::FirstAvailable, 1000, 3);
    crowd.shares(&mut well);
    crowd.tell("ac");
    assert_even(&crowd.shares(&mut without('b')), "ac", 700);
    crowd.tell("abc");
    crowd.probe_all();
    let back = crowd.now;
    let soon: Vec<char> = (0..1000).map(|context| crowd.call(context, &mut well)).collect();
    assert!(crowd.now.saturating_sub(back) < Duration::from_secs(3) && !soon.contains(&'b'), "not in haste: {soon:?}");
    crowd.now = back + Duration::from_secs(9);
    assert_even(&crowd.shares(&mut well), "abc", 700);
}

#[test]
fn a_process_that_elects_together_goes_over_together() {
    let mut went = 0;
    for seed in 0..60 {
        let mut crowd = Crowd::new(Policy::FirstAvailableIdenticalAllProxies, 5, seed);
        let first = crowd.call(0, &mut well);
        for context in 0..5 {
            crowd.call(context, &mut without(first));
        }
        crowd.probe_all();
        crowd.now += Duration::from_secs(9);
        for context in 0..5 {
            crowd.call(context, &mut well);
        }
        let all: Vec<char> = (0..5).map(|context| crowd.call(context, &mut well)).collect();
        assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
        went += usize::from(all[0] == first);
    }
    assert!((8..=33).contains(&went), "a third of the processes, not {went} of 60");
}

#[test]
fn least_loaded_avoids_the_slow_and_comes_back_to_them() {
    let mut crowd = Crowd::new(Policy::LeastLoaded, 1, 3);
    let shares = crowd.shares(&mut |letter| (if letter == 'b' { ms(20) } else { ms(1) }, found()));
    assert!(shares[&'b'] < 400, "{shares:?}");
    assert!(shares[&'b'] > 1, "it's asked from time to time, so that it can show that it has become fast: {shares:?}");
    assert!(shares[&'a'].abs_diff(shares[&'c']) < 600, "{shares:?}");
    crowd.now += Duration::from_secs(60);
    assert_even(&crowd.shares(&mut well), "abc", 250);
}

#[test]
fn least_loaded_takes_a_hairs_breadth_for_nothing() {
    let mut crowd = Crowd::new(Policy::LeastLoaded, 1, 3);
    let took = |letter| {
        Duration::from_micros(match letter {
            'a' => 1000,
            'b' => 1250,
            _ => 1100,
        })
    };
    assert_even(&crowd.shares(&mut |letter| (took(letter), found())), "abc", 250);
}

/// A latency around `usual`, as machines have it: it doubles and halves, pauses make it twenty times as slow, and
/// the first one pays for the connection.
fn noisy(usual: Duration, seed: u64) -> impl FnMut() -> Duration {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut answers, mut paused) = (0, false);
    move || {
        answers += 1;
        // Pauses come in bursts.
        paused = rng.random_range(0..100) < if paused { 70 } else { 5 };
        let noise = rng.random_range(0.5..2.0);
        usual.mul_f64(if answers == 1 || paused { noise * 20.0 } else { noise })
    }
}

#[test]
fn least_loaded_is_even_however_noisy_latencies_are() {
    for usual in [50, 500, 5_000, 50_000].map(Duration::from_micros) {
        for seed in 0..6 {
            let mut crowd = Crowd::new(Policy::LeastLoaded, 1, seed);
            let mut takes = noisy(usual, seed);
            assert_even(&crowd.shares(&mut |_| (takes(), found())), "abc", 250);
        }
    }
}

#[test]
fn least_loaded_gives_one_that_came_back_its_share_at_once() {
    for seed in 0..6 {
        let mut crowd = Crowd::new(Policy::LeastLoaded, 1, seed);
        crowd.shares(&mut without('b'));
        crowd.probe_all();
        let mut takes = noisy(Duration::from_micros(200), seed);
        let mut reconnects = Some(ms(30));
        let mut reply = |letter| (if letter == 'b' { reconnects.take() } else { None }.unwrap_or_else(&mut takes), found());
        let by_b = (0..300).filter(|_| crowd.call(0, &mut reply) == 'b').count();
        assert!((70..=130).contains(&by_b), "{by_b} of 300 with seed {seed}");
    }
}

#[test]
fn least_loaded_gives_one_ten_times_as_slow_clearly_less_however_noisy() {
    for seed in 0..6 {
        let mut crowd = Crowd::new(Policy::LeastLoaded, 1, seed);
        let (mut fast, mut slow) = (noisy(ms(1), seed), noisy(ms(10), seed + 100));
        let shares = crowd.shares(&mut |letter| (if letter == 'b' { slow() } else { fast() }, found()));
        assert!(shares[&'b'] < 300, "{shares:?}");
        assert!(shares[&'a'].abs_diff(shares[&'c']) < 600, "{shares:?}");
    }
}

#[test]
fn least_loaded_counts_what_is_outstanding() {
    let config = ClientConfig { policy: Policy::LeastLoaded, ..config("abc") };
    let mut fleet = Fleet::new(&config, Elections::new(), Names::Resolved, 9);
    let mut calls: Vec<Call> = (0..300).map(|_| Call::new(lookup("orders"), &config, ms(0), config.timeout)).collect();
    for call in &mut calls {
        assert!(matches!(call.step(&mut fleet, ms(0), Input::Start), Output::Send(_)));
    }
    let outstanding: Vec<u32> = fleet.targets().map(|target| target.outstanding).collect();
    assert_eq!(outstanding.iter().sum::<u32>(), 300);
    assert!(outstanding.iter().all(|count| (75..=125).contains(count)), "{outstanding:?}");
}

#[test]
fn a_fast_refusal_earns_nothing() {
    let mut crowd = Crowd::new(Policy::LeastLoaded, 1, 3);
    // b refuses at once, for one millisecond: it must not look like the fastest.
    let mut refused_by_b = 0;
    let shares = crowd.shares(&mut |letter| {
        if letter == 'b' {
            refused_by_b += 1;
            return (ms(0), refused(RefusalReason::Overloaded, 1));
        }
        (ms(2), found())
    });
    assert_eq!(shares[&'b'], 0);
    assert!(refused_by_b <= 1, "it is left out until a probe finds it well, and was asked {refused_by_b} times");
}

#[test]
fn within_one_call_nobody_is_asked_twice_before_all_were_asked() {
    for policy in Policy::ALL {
        for seed in 0..50 {
            let config = ClientConfig { policy, ..config("abcde") };
            let mut fleet = Fleet::new(&config, Elections::new(), Names::Resolved, seed);
            let mut call = Call::new(lookup("orders"), &config, ms(0), config.timeout);
            let mut asked = Vec::new();
            let mut output = call.step(&mut fleet, ms(0), Input::Start);
            while let Output::Send(send) = output {
                asked.push(letter(&fleet.target(send.target).unwrap().label));
                let refused = Input::Broke { error: error(Phase::Connect, TransportErrorKind::Refused), reused: false };
                output = call.step(&mut fleet, ms(0), refused);
            }
            asked.sort_unstable();
            assert_eq!(asked, ['a', 'b', 'c', 'd', 'e'], "{policy:?}");
        }
    }
}

#[test]
fn policies_have_names() {
    for policy in Policy::ALL {
        assert_eq!(policy.as_str().parse::<Policy>(), Ok(policy));
    }
    let said = "round robin".parse::<Policy>().unwrap_err().to_string();
    assert!(said.contains("round_robin, random_robin, first_available,"), "{said}");
    assert_eq!(endpoint('a').to_string(), "10.0.0.1:1");
}
