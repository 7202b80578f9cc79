//! What membership costs and how soon it knows, in virtual time: the figures of `docs/limits.md`, and the bounds that they
//! must keep. `HANAMING_SIMULATIONS=200 cargo nextest run --test cluster measured --no-capture` prints them.
#![expect(clippy::print_stdout, reason = "figures are to be read")]

use std::collections::BTreeSet;
use std::time::Duration;

use rand::RngExt;

use super::world::World;

const SECOND: Duration = Duration::from_secs(1);

/// How many histories are run.
fn runs() -> u64 {
    std::env::var("HANAMING_SIMULATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

/// A cluster of `size` that has formed and come to rest. All have the first as their seed.
fn at_rest(size: usize, seed: u64) -> World {
    let seeds: Vec<&[usize]> = (0..size).map(|number| if number == 0 { &[] as &[usize] } else { &[0] }).collect();
    let mut world = World::new(seed, &seeds);
    let all: Vec<usize> = (0..size).collect();
    for number in &all {
        world.start(*number);
    }
    world.run_until(10 * SECOND, |world| world.is_one(&all)).unwrap_or_else(|| panic!("seed {seed}\n{}", world.picture()));
    let pause = world.chance.random_range(8.0..9.0);
    world.run(Duration::from_secs_f64(pause));
    world
}

/// What one node of a cluster at rest writes in a second: bytes, frames.
fn traffic(size: usize) -> (u64, u64) {
    const SECONDS: u64 = 5;
    let mut world = at_rest(size, 1);
    world.written.fill((0, 0));
    world.run(Duration::from_secs(SECONDS));
    let (bytes, frames) = world.written.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let all = SECONDS * size as u64;
    (bytes / all, frames / all)
}

#[test]
fn what_a_node_writes_grows_with_its_cluster_and_not_faster() {
    let sizes: &[usize] = if runs() > 12 { &[3, 5, 16, 32] } else { &[3, 5, 12] };
    let measured: Vec<_> = sizes.iter().copied().map(|size| (size, traffic(size))).collect();
    for (size, (bytes, frames)) in &measured {
        println!("{size} nodes at rest: {bytes} bytes in {frames} frames a second are written by each");
    }
    let per_other = |(size, (bytes, _)): (usize, (u64, u64))| bytes / (size as u64 - 1);
    assert!(per_other(measured[measured.len() - 1]) <= per_other(measured[1]), "{measured:?}");
}

/// The middle, the 99th of a hundred, and the most.
fn told(what: &str, mut times: Vec<Duration>) -> Duration {
    times.sort();
    let late = times[times.len() * 99 / 100];
    println!("{what}: middle {:?}, p99 {late:?}, most {:?}, of {}", times[times.len() / 2], times[times.len() - 1], times.len());
    late
}

#[test]
fn who_is_silent_is_dead_within_two_and_a_half_seconds() {
    for (size, runs) in [(3, runs()), (5, runs()), (12, runs() / 10)] {
        let times = (0..runs).map(|seed| {
            let mut world = at_rest(size, seed);
            world.nodes[size - 1].frozen = true;
            let others: Vec<usize> = (0..size - 1).collect();
            world.run_until(10 * SECOND, |world| world.is_one(&others)).expect("seen by all")
        });
        let late = told(&format!("{size} nodes, one frozen: all others have a view without it"), times.collect());
        assert!(late <= Duration::from_millis(2500), "{late:?}");
    }
}

#[test]
fn who_is_gone_is_dead_within_a_second() {
    let times = (0..runs()).map(|seed| {
        let mut world = at_rest(5, seed);
        world.kill(4);
        world.run_until(10 * SECOND, |world| world.is_one(&[0, 1, 2, 3])).expect("seen by all")
    });
    let late = told("5 nodes, one killed: all others have a view without it", times.collect());
    assert!(late <= SECOND, "{late:?}");
}

#[test]
fn a_split_is_healed_within_three_seconds() {
    let times = (0..runs()).map(|seed| {
        let mut world = at_rest(5, seed);
        world.cut_between(&BTreeSet::from([0, 1]));
        let split = world.chance.random_range(3.0..20.0);
        world.run(Duration::from_secs_f64(split));
        assert!(world.is_one(&[0, 1]) && world.is_one(&[2, 3, 4]), "seed {seed}\n{}", world.picture());
        world.heal();
        world.run_until(10 * SECOND, |world| world.is_one(&[0, 1, 2, 3, 4])).expect("one again")
    });
    let late = told("5 nodes, split 2 and 3 for 3 to 20 s, then healed: all in one view", times.collect());
    assert!(late <= 3 * SECOND, "{late:?}");
}
