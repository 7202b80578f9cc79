//! Weeks of restarts over the real engines, in virtual time: what each server gets in the end.

use std::time::Duration;

use hanaming::client::Policy;
use hanaming::discovery::RefreshMode;
use hanaming::simulation::{Addresses, Outcome, Restarts, Scenario, run};

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Four servers restarted one after the other within an hour, each call a second after the last.
fn an_hour() -> Scenario {
    let restarts = Restarts { every: Some(secs(3600)), gap: Some(secs(600)), downtime: secs(30), addresses: Addresses::New };
    Scenario { clients: 12, length: secs(3600), restarts, call_every: secs(5), slices: 60, ..Scenario::default() }
}

/// Three nodes that clients stay with, restarted in a row where they are.
fn in_a_row(policy: Policy, clients: u32, contexts: u32) -> Scenario {
    let restarts = Restarts { every: Some(secs(300)), gap: Some(secs(15)), downtime: secs(2), addresses: Addresses::Kept };
    let call_every = Duration::from_millis(500);
    let length = secs(60);
    Scenario { servers: 3, clients, contexts, length, policy, restarts, call_every, slices: 60, ..Scenario::default() }
}

fn ran(scenario: &Scenario) -> Outcome {
    run(scenario, &mut || false).unwrap().unwrap()
}

/// What each server got in the last slices.
fn last(outcome: &Outcome, slices: usize) -> Vec<u64> {
    let mut sums = vec![0; outcome.contexts.len()];
    for slice in outcome.slices.iter().rev().take(slices) {
        sums.iter_mut().zip(&slice.answered).for_each(|(sum, answered)| *sum += answered);
    }
    sums
}

fn is_even(shares: &[u64]) -> bool {
    let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
    *least > 0 && most * 2 <= least * 3
}

#[test]
fn the_old_mode_ends_on_one_server_and_the_others_stay_even() {
    let every = RefreshMode::Every(secs(20));
    for refresh in [RefreshMode::Ttl, RefreshMode::Always, every] {
        for policy in [Policy::RoundRobin, Policy::RandomRobin, Policy::LeastLoaded] {
            let outcome = ran(&Scenario { refresh, policy, ..an_hour() });
            let shares = last(&outcome, 10);
            assert!(is_even(&shares), "{refresh:?}, {policy:?}: {shares:?}");
            assert_eq!(outcome.slices.iter().map(|slice| slice.failed).sum::<u64>(), 0);
        }
    }
    // Three of four restarts: the fourth server has all, and nobody has been asked who else there is.
    let old = Scenario { refresh: RefreshMode::OnEmpty, length: secs(2400), ..an_hour() };
    let outcome = ran(&old);
    let shares = last(&outcome, 10);
    assert_eq!(shares[..3], [0, 0, 0], "{shares:?}");
    assert!(shares[3] > 0);
    assert_eq!(outcome.metrics.refreshes, 12, "once each");
    // The fourth restart sends them back to the name, which lists three.
    let shares = last(&ran(&Scenario { length: secs(3600), ..old }), 10);
    assert!(shares[3] == 0 && is_even(&shares[..3]), "{shares:?}");
}

#[test]
fn clients_that_stay_with_one_server_are_even_within_ten_seconds_and_few_move() {
    for (seed, views) in (0..10).map(|seed| (seed, seed % 2 == 0)) {
        let outcome = ran(&Scenario { seed, views, ..in_a_row(Policy::FirstAvailable, 72, 1) });
        // The last restart is at 45 s, and the server is back at 47 s.
        let back = |second: usize| &outcome.slices[second].answered;
        assert!(!is_even(back(46)), "seed {seed}: {:?}", back(46));
        assert!(is_even(&last(&outcome, 3)), "seed {seed}: {:?}", last(&outcome, 3));
        assert!(outcome.slices[57..].iter().all(|slice| is_even(&slice.answered)), "seed {seed}");
        assert!((48..=90).contains(&outcome.metrics.moves), "seed {seed}: {}", outcome.metrics.moves);
        assert!(outcome.most_moves <= 3, "seed {seed}: once after each restart");
    }
}

/// The last restart is at 45 s, and the server is back at 47 s.
#[test]
fn clients_that_call_rarely_are_as_even() {
    for (seed, views) in (0..20).map(|seed| (seed, seed % 2 == 0)) {
        let rarely = Scenario { call_every: secs(20), ..in_a_row(Policy::FirstAvailable, 72, 1) };
        // The last call of each shows where it stays, a while after it went there.
        let outcome = ran(&Scenario { seed, views, length: secs(100), ..rarely });
        assert!(is_even(&outcome.contexts), "seed {seed}: {:?}", outcome.contexts);
        assert!(outcome.metrics.moves <= 3 * 24 + 24, "seed {seed}: {}", outcome.metrics.moves);
    }
}

#[test]
fn clients_that_begin_by_chance_are_even_soon() {
    for seed in 0..20 {
        let restarts = Restarts { every: None, ..an_hour().restarts };
        let length = secs(60);
        let outcome = ran(&Scenario { seed, restarts, length, call_every: secs(5), ..in_a_row(Policy::FirstAvailable, 24, 1) });
        assert!(is_even(&outcome.contexts), "seed {seed}: {:?}", outcome.contexts);
    }
}

#[test]
fn programs_that_elect_for_all_their_contexts_are_even_too() {
    for seed in 0..5 {
        let views = seed % 2 == 0;
        let outcome = ran(&Scenario { seed, views, ..in_a_row(Policy::FirstAvailableIdenticalAllProxies, 48, 3) });
        assert!(is_even(&outcome.contexts), "seed {seed}: {:?}", outcome.contexts);
        assert!(outcome.contexts.iter().all(|contexts| contexts % 3 == 0), "all of a program go: {:?}", outcome.contexts);
    }
}

#[test]
fn where_servers_say_nothing_of_their_load_lots_even_it_out() {
    let balancers = Scenario { told_loads: false, call_every: secs(1), ..in_a_row(Policy::FirstAvailable, 600, 1) };
    let outcome = ran(&balancers);
    assert!(is_even(&outcome.contexts), "who comes back gets back whom it had: {:?}", outcome.contexts);
    assert!(outcome.metrics.moves < 3 * 600 / 2, "a third after each restart: {}", outcome.metrics.moves);
    let restarts = Restarts { addresses: Addresses::New, ..balancers.restarts.clone() };
    let outcome = ran(&Scenario { restarts, ttl: secs(1), ..balancers });
    assert!(is_even(&outcome.contexts), "who comes gets a third of all: {:?}", outcome.contexts);
}

#[test]
fn a_minute_without_a_name_server_loses_nobody_and_costs_at_most_one_question_a_second() {
    let restarts = Restarts { every: None, ..an_hour().restarts };
    let dns_failures = vec![(secs(60), secs(60))];
    for refresh in [RefreshMode::Ttl, RefreshMode::Always, RefreshMode::Every(secs(1)), RefreshMode::OnEmpty] {
        let clients = 5;
        let scenario = Scenario {
            refresh,
            clients,
            restarts: restarts.clone(),
            dns_failures: dns_failures.clone(),
            ttl: secs(1),
            length: secs(180),
            call_every: Duration::from_millis(200),
            slices: 180,
            ..an_hour()
        };
        let outcome = ran(&scenario);
        let asked = if refresh == RefreshMode::OnEmpty { 0 } else { 5 };
        let failed = outcome.metrics.failed_refreshes;
        assert!((asked * u64::from(clients)..=60 * u64::from(clients)).contains(&failed), "{refresh:?}: {failed}");
        assert_eq!((outcome.metrics.joined, outcome.metrics.drained), (4 * u64::from(clients), 0));
        assert!(outcome.slices.iter().all(|slice| slice.failed == 0));
        assert!(is_even(&last(&outcome, 60)));
    }
}

#[test]
fn servers_come_and_go_with_the_load() {
    let restarts = Restarts { every: None, ..an_hour().restarts };
    let scaling = vec![(secs(1200), 6), (secs(2400), 2)];
    let outcome = ran(&Scenario { scaling, restarts, ..an_hour() });
    let at = |slice: usize| outcome.slices[slice].answered.iter().filter(|answered| **answered > 0).count();
    assert_eq!((at(19), at(21), at(41)), (4, 6, 2));
    assert!(is_even(&outcome.slices[39].answered), "{:?}", outcome.slices[39]);
    assert_eq!(outcome.slices.iter().map(|slice| slice.failed).sum::<u64>(), 0);
}

#[test]
fn a_run_follows_from_its_seed_and_ends_when_told() {
    let scenario = in_a_row(Policy::FirstAvailableIdenticalAllProxies, 12, 3);
    assert_eq!(ran(&scenario), ran(&scenario));
    assert_ne!(ran(&scenario), ran(&Scenario { seed: 1, ..scenario.clone() }));
    assert_eq!(run(&scenario, &mut || true).unwrap(), None);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let good = Scenario::default;
    let long = secs(60 * 60 * 24 * 7 * 521);
    for (wrong, says) in [
        (Scenario { servers: 0, ..good() }, "servers is 0"),
        (Scenario { clients: 0, ..good() }, "clients is 0"),
        (Scenario { clients: 1000, contexts: 1000, ..good() }, "clients times contexts is 1000000"),
        (Scenario { slices: 0, ..good() }, "samples is 0"),
        (Scenario { length: long, ..good() }, "weeks is"),
        (Scenario { call_every: Duration::ZERO, ..good() }, "call_every is 0 s"),
        (Scenario { restarts: Restarts { gap: Some(Duration::ZERO), ..good().restarts }, ..good() }, "restart_gap is 0 s"),
        (Scenario { scaling: vec![(secs(1), 0)], ..good() }, "scaling: a number of servers is 0"),
        (Scenario { scaling: vec![(long, 1)], ..good() }, "scaling: day "),
        (Scenario { dns_failures: vec![(long, secs(1))], ..good() }, "dns_failures: day "),
    ] {
        let error = run(&wrong, &mut || false).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
