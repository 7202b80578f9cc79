//! The engines of the cluster tree under a virtual scheduler: time, network, disk and processes are simulated, a run
//! follows from its seed alone, and what the engines promise is checked by an observer who knows everything.
//!
//! `SIMULATION_SEEDS=100000` runs that many seeds of each scenario; `SIMULATION_SEED=7` replays one. Without either, as
//! many run as take a few seconds. `SIMULATION_TRACE=1` tells what happens in a writing scenario.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test fails by panicking")]

mod bites;
mod campaign;
mod directed;
mod disk;
mod joining;
mod network;
mod random;
mod reader;
mod replication;
mod schedule;
mod writing;

use hanaming::cluster::rules::Rules;

use campaign::{Scenario, must_hold, number};
use replication::Replication;
use writing::{Kind, Writing};

#[test]
fn replication_keeps_its_promises() {
    holds("replication", &Replication { actions: 300 }, 100);
}

#[test]
fn one_bind_of_a_name_wins() {
    holds("racing binds", &Writing::new(Kind::Race), 150);
}

#[test]
fn each_call_takes_effect_once() {
    holds("calls in sequence", &Writing::new(Kind::Sequence), 150);
}

#[test]
fn what_came_to_nothing_does_not_take_effect_later() {
    holds("calls that come to nothing", &Writing::new(Kind::Futile), 150);
    holds("calls that come to nothing, crashes", &Writing::new(Kind::Futile).with_crashes(), 100);
    holds("calls that come to nothing, stalls", &Writing::new(Kind::Futile).with_stalls(), 100);
}

#[test]
fn stalled_links_change_nothing() {
    holds("racing binds, stalls", &Writing::new(Kind::Race).with_stalls(), 100);
    holds("calls in sequence, stalls", &Writing::new(Kind::Sequence).with_stalls(), 100);
}

#[test]
fn each_call_takes_effect_once_though_processes_die() {
    holds("calls in sequence, crashes", &Writing::new(Kind::Sequence).with_crashes(), 150);
}

#[test]
fn a_tree_keeps_its_promises() {
    holds("a tree", &Writing::new(Kind::Tree), 100);
    holds("a tree, splits", &Writing::new(Kind::Tree).with_splits(), 60);
    holds("a tree, splits and crashes", &Writing::new(Kind::Tree).with_splits().with_crashes(), 60);
}

#[test]
fn a_disk_that_is_full_for_a_while_changes_nothing() {
    holds("racing binds, full disks", &Writing::new(Kind::Race).with_suspensions(), 100);
    holds("calls in sequence, full disks", &Writing::new(Kind::Sequence).with_suspensions(), 100);
    holds("a tree, full disks and crashes", &Writing::new(Kind::Tree).with_suspensions().with_crashes(), 60);
}

#[test]
fn a_lease_stands_as_long_as_it_is_renewed_and_goes_then() {
    holds("leases", &Writing::new(Kind::Lease), 60);
    holds("leases, crashes", &Writing::new(Kind::Lease).with_crashes(), 60);
    holds("leases, full disks", &Writing::new(Kind::Lease).with_suspensions(), 60);
}

/// Invariant 21: a run follows from its seed alone.
#[test]
fn a_seed_repeats_its_run() {
    fn repeats<S: Scenario>(scenario: &S) {
        let run = |seed| scenario.run(&scenario.plan(seed), Rules::ALL);
        assert!((1..4).all(|seed| run(seed).is_ok_and(|tally| tally.messages > 0) && run(seed) == run(seed)));
    }
    repeats(&Replication { actions: 300 });
    repeats(&Writing::new(Kind::Race).with_stalls());
    repeats(&Writing::new(Kind::Sequence).with_crashes());
    repeats(&Writing::new(Kind::Tree).with_splits());
}

fn holds<S: Scenario>(label: &str, scenario: &S, usual: u64) {
    let seeds = match number("SIMULATION_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..number("SIMULATION_SEEDS").unwrap_or(usual) + 1,
    };
    eprintln!("{label}: {:?}", must_hold(scenario, seeds, Rules::ALL));
}
