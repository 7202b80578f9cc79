//! Whatever happens, once the network is whole again there is one cluster, and everybody sees the same.
//!
//! Each history is drawn from a seed; `HANAMING_SIMULATIONS` sets how many are run. A failing one prints its seed.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::RngExt;
use rand::seq::SliceRandom;

use super::world::World;

/// How long healing may take at most.
const HEALED: Duration = Duration::from_secs(6);

fn runs() -> u64 {
    std::env::var("HANAMING_SIMULATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// All that run must become one cluster; says how long that took.
fn becomes_one(world: &mut World, what: &str, seed: u64, limit: Duration) -> Duration {
    let alive = world.alive();
    let took = world.run_until(limit, |world| world.is_one(&alive));
    let took = took.unwrap_or_else(|| panic!("{what}, seed {seed}: not one cluster\n{}", world.picture()));
    // And it stays so.
    for _ in 0..100 {
        world.run(seconds(0.02));
        assert!(world.is_one(&alive), "{what}, seed {seed}: fell apart again\n{}", world.picture());
    }
    assert_eq!(world.warnings, Vec::<String>::new(), "{what}, seed {seed}");
    took
}

const EVERYBODY: [&[usize]; 5] = [&[0, 1, 2, 3, 4]; 5];
const STAR: [&[usize]; 5] = [&[], &[0], &[0], &[0], &[0]];
const CHAIN: [&[usize]; 5] = [&[1], &[2], &[3], &[4], &[3]];
const PAIRS: [&[usize]; 5] = [&[1, 2], &[0, 2], &[0, 1], &[0, 4], &[3, 1]];

#[test]
fn all_started_at_once() {
    for seed in 0..runs() {
        for seeds in [EVERYBODY, STAR, CHAIN, PAIRS] {
            let mut world = World::new(seed, &seeds);
            let mut order: Vec<usize> = (0..5).collect();
            order.shuffle(&mut world.chance);
            for number in order {
                world.start(number);
                let pause = world.chance.random_range(0.0..0.02);
                world.run(seconds(pause));
            }
            becomes_one(&mut world, "all at once", seed, seconds(4.0));
        }
    }
}

#[test]
fn started_in_any_order_with_any_pauses() {
    for seed in 0..runs() {
        for seeds in [EVERYBODY, STAR, CHAIN, PAIRS] {
            let mut world = World::new(seed, &seeds);
            let mut order: Vec<usize> = (0..5).collect();
            order.shuffle(&mut world.chance);
            for number in order {
                world.start(number);
                let pause = world.chance.random_range(0.0..4.0);
                world.run(seconds(pause));
            }
            becomes_one(&mut world, "any order", seed, HEALED);
        }
    }
}

#[test]
fn started_into_a_split_that_heals() {
    for seed in 0..runs() {
        let mut world = World::new(seed, &EVERYBODY);
        let group: BTreeSet<usize> = (0..5).filter(|_| world.chance.random()).collect();
        world.cut_between(&group);
        for number in 0..5 {
            world.start(number);
            let pause = world.chance.random_range(0.0..1.0);
            world.run(seconds(pause));
        }
        let pause = world.chance.random_range(0.0..20.0);
        world.run(seconds(pause));
        world.heal();
        becomes_one(&mut world, "started into a split", seed, HEALED);
    }
}

#[test]
fn splits_one_way_cuts_and_freezes_heal() {
    for seed in 0..runs() {
        for seeds in [EVERYBODY, STAR, CHAIN] {
            let mut world = formed(seed, &seeds);
            for _ in 0..6 {
                match world.chance.random_range(0..4) {
                    0 => {
                        let group: BTreeSet<usize> = (0..5).filter(|_| world.chance.random()).collect();
                        world.cut_between(&group);
                    }
                    1 => {
                        let cut = (world.chance.random_range(0..5), world.chance.random_range(0..5));
                        world.cuts.insert(cut);
                    }
                    2 => {
                        let number = world.chance.random_range(0..5);
                        world.nodes[number].frozen = true;
                    }
                    _ => world.heal(),
                }
                let pause = world.chance.random_range(0.0..4.0);
                world.run(seconds(pause));
            }
            world.heal();
            becomes_one(&mut world, "splits and freezes", seed, HEALED);
        }
    }
}

#[test]
fn what_is_lost_or_comes_twice_kills_nobody() {
    for seed in 0..runs() {
        let mut world = formed(seed, &EVERYBODY);
        (world.lossy, world.doubling) = (10, 10);
        for _ in 0..300 {
            world.run(seconds(0.1));
            assert!(world.is_one(&[0, 1, 2, 3, 4]), "seed {seed}\n{}", world.picture());
        }
    }
}

#[test]
fn kills_and_restarts_amid_everything_else() {
    for seed in 0..runs() {
        let mut world = formed(seed, &EVERYBODY);
        (world.lossy, world.doubling) = (world.chance.random_range(0..20), world.chance.random_range(0..20));
        for _ in 0..10 {
            let number = world.chance.random_range(0..5);
            let other = world.chance.random_range(0..5);
            match world.chance.random_range(0..7) {
                0 => world.cut_between(&BTreeSet::from([number, other])),
                1 => drop(world.cuts.insert((number, other))),
                2 => world.nodes[number].frozen = world.nodes[number].engine.is_some(),
                3 => world.heal(),
                4 if world.nodes[number].engine.is_some() => world.kill(number),
                5 if world.nodes[number].engine.is_some() && !world.nodes[number].frozen => world.leave(number),
                _ if world.nodes[number].engine.is_none() => world.start(number),
                _ => {}
            }
            let pause = world.chance.random_range(0.0..2.0);
            world.run(seconds(pause));
        }
        (world.lossy, world.doubling) = (0, 0);
        world.heal();
        if world.alive().is_empty() {
            world.start(0);
        }
        becomes_one(&mut world, "kills and restarts", seed, HEALED);
    }
}

#[test]
fn every_node_restarted_in_turn_leaves_one_cluster() {
    for seed in 0..runs() {
        for seeds in [EVERYBODY, STAR, CHAIN] {
            let mut world = formed(seed, &seeds);
            let id = world.engine(0).introduction().cluster_id;
            let mut order: Vec<usize> = (0..5).collect();
            order.shuffle(&mut world.chance);
            for number in order {
                if world.chance.random() {
                    world.kill(number);
                } else {
                    world.leave(number);
                }
                let pause = world.chance.random_range(0.0..2.0);
                world.run(seconds(pause));
                world.start(number);
                becomes_one(&mut world, "restarted in turn", seed, HEALED);
            }
            assert_eq!(world.engine(0).introduction().cluster_id, id, "the cluster outlives each of its nodes");
        }
    }
}

/// A cluster of five that has formed.
fn formed(seed: u64, seeds: &[&[usize]]) -> World {
    let mut world = World::new(seed, seeds);
    for number in 0..5 {
        world.start(number);
    }
    becomes_one(&mut world, "forming", seed, seconds(4.0));
    world
}

#[test]
fn a_killed_member_is_seen_dead_at_once_and_a_silent_one_in_time() {
    for seed in 0..runs() {
        let mut world = formed(seed, &EVERYBODY);
        world.kill(4);
        let others = [0, 1, 2, 3];
        let took = world.run_until(seconds(3.0), |world| world.is_one(&others)).expect("seen dead");
        assert!(took < seconds(0.75), "seed {seed}: a process that is gone refuses: {took:?}");
        world.nodes[3].frozen = true;
        let others = [0, 1, 2];
        let took = world.run_until(seconds(3.0), |world| world.is_one(&others)).expect("seen silent");
        assert!((seconds(1.2)..=seconds(2.2)).contains(&took), "seed {seed}: {took:?}");
        // It finds itself removed, and comes back by itself.
        world.run(seconds(4.0));
        world.thaw(3);
        let others = [0, 1, 2, 3];
        let took = world.run_until(seconds(3.0), |world| world.is_one(&others)).expect("back");
        assert!(took < seconds(1.0), "seed {seed}: {took:?}");
        assert!(world.warnings.is_empty());
    }
}

#[test]
fn a_leaving_member_is_removed_at_once() {
    for seed in 0..runs() {
        let mut world = formed(seed, &STAR);
        world.leave(0);
        assert!(world.is_one(&[1, 2, 3, 4]), "seed {seed}\n{}", world.picture());
    }
}
