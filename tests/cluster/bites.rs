//! What each rule of membership is for: a history in which it matters holds with all rules, and not without that one.
//!
//! A history is run for several seeds, which draw delays, the order of things and what the failure detector asks whom. All
//! must hold with the rule; without it some don't.

use std::collections::BTreeSet;
use std::time::Duration;

use hanaming::cluster::membership::{Rule, Rules};
use rand::RngExt;

use super::world::World;

const EVERYBODY: [&[usize]; 5] = [&[0, 1, 2, 3, 4]; 5];
const STAR: [&[usize]; 5] = [&[], &[0], &[0], &[0], &[0]];
const ALL: [usize; 5] = [0, 1, 2, 3, 4];

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A cluster of five at some moment of its life.
fn formed(rules: Rules, seed: u64, seeds: &[&[usize]]) -> World {
    let mut world = World::new(seed, seeds);
    world.rules = rules;
    for number in ALL {
        world.start(number);
    }
    world.run_until(ms(6000), |world| world.is_one(&ALL)).unwrap_or_else(|| panic!("seed {seed}\n{}", world.picture()));
    let pause = world.chance.random_range(2000..4000);
    world.run(ms(pause));
    world
}

type History = fn(Rules, u64) -> Result<(), String>;

fn holds(world: &World, what: &str, took: Option<Duration>) -> Result<(), String> {
    took.map(drop).ok_or_else(|| format!("{what}: not so\n{}", world.picture()))
}

fn within(world: &mut World, limit: u64, what: &str, is_so: impl Fn(&World) -> bool) -> Result<(), String> {
    let took = world.run_until(ms(limit), is_so);
    holds(world, what, took)
}

/// Whose views of `others` are whole, as the nodes' names go.
fn sees(world: &World, number: usize, others: &[usize]) -> bool {
    let view = world.engine(number).view();
    view.members().len() == others.len()
        && others.iter().all(|other| view.members().iter().any(|m| m.name == format!("n{other}")))
}

fn frozen(rules: Rules, seed: u64) -> Result<(), String> {
    let mut world = formed(rules, seed, &EVERYBODY);
    world.nodes[3].frozen = true;
    world.run(ms(4000));
    world.thaw(3);
    for _ in 0..1000 {
        world.run(ms(1));
        if !sees(&world, 3, &ALL) {
            return Err(format!("it buried others\n{}", world.picture()));
        }
    }
    within(&mut world, 1000, "it is a member again", |world| world.is_one(&ALL))
}

fn killed(rules: Rules, seed: u64) -> Result<(), String> {
    let mut world = formed(rules, seed, &EVERYBODY);
    world.kill(4);
    within(&mut world, 750, "a process that is gone is seen at once", |world| world.is_one(&[0, 1, 2, 3]))
}

fn silent(rules: Rules, seed: u64) -> Result<(), String> {
    let mut world = formed(rules, seed, &EVERYBODY);
    world.nodes[3].frozen = true;
    within(&mut world, 1700, "whoever is silent everywhere is seen in time", |world| world.is_one(&[0, 1, 2, 4]))
}

fn restarted(rules: Rules, seed: u64) -> Result<(), String> {
    let mut world = formed(rules, seed, &EVERYBODY);
    world.kill(4);
    world.start(4);
    within(&mut world, 900, "the new incarnation takes the old one's place", |world| world.is_one(&ALL))
}

fn cut_one_way(rules: Rules, seed: u64) -> Result<(), String> {
    let mut world = formed(rules, seed, &EVERYBODY);
    world.cuts.insert((3, 0));
    let (one, other) = ([0, 1, 2, 4], [1, 2, 3, 4]);
    within(&mut world, 3500, "both ends see it", |world| sees(world, 0, &one) && sees(world, 3, &other))?;
    world.run(ms(5000));
    if [1, 2, 4].into_iter().any(|number| !sees(&world, number, &ALL)) {
        return Err(format!("whoever reaches both has both\n{}", world.picture()));
    }
    world.heal();
    within(&mut world, 2500, "it heals", |world| world.is_one(&ALL))
}

fn split(rules: Rules, seed: u64) -> Result<(), String> {
    let mut world = formed(rules, seed, &EVERYBODY);
    world.cut_between(&BTreeSet::from([1, 2]));
    let pause = world.chance.random_range(3000..9000);
    world.run(ms(pause));
    if !world.is_one(&[1, 2]) || !world.is_one(&[0, 3, 4]) {
        return Err(format!("two sides\n{}", world.picture()));
    }
    world.heal();
    within(&mut world, 2300, "it heals", |world| world.is_one(&ALL))
}

/// As before, where no side has a seed that lives.
fn split_without_seeds(rules: Rules, seed: u64) -> Result<(), String> {
    let mut world = formed(rules, seed, &STAR);
    world.kill(0);
    world.run(ms(3000));
    world.cut_between(&BTreeSet::from([1, 2]));
    world.run(ms(5000));
    world.heal();
    within(&mut world, 4000, "it heals", |world| world.is_one(&[1, 2, 3, 4]))
}

fn left(rules: Rules, seed: u64) -> Result<(), String> {
    let mut world = formed(rules, seed, &STAR);
    world.leave(0);
    if world.is_one(&[1, 2, 3, 4]) { Ok(()) } else { Err(world.picture()) }
}

const HISTORIES: [(Rule, History); 8] = [
    (Rule::LateDiscards, frozen),
    (Rule::RefusedTwiceDies, killed),
    (Rule::ReplacedDies, restarted),
    (Rule::SilentNeedsVouching, silent),
    (Rule::UnreachedLeaves, cut_one_way),
    (Rule::DeadAreGreeted, split),
    (Rule::DeadAreDialled, split_without_seeds),
    (Rule::LeavingIsTold, left),
];

#[test]
fn each_rule_matters() {
    for (rule, history) in HISTORIES {
        for seed in 0..4 {
            history(Rules::ALL, seed).unwrap_or_else(|what| panic!("{rule:?} in force, seed {seed}: {what}"));
        }
        let bites = (0..8).any(|seed| history(Rules::ALL.without(rule), seed).is_err());
        assert!(bites, "nothing is wrong without {rule:?}");
    }
}

/// A cut between two nodes that is shorter than it takes to give up on a link is nobody's death: others vouch.
#[test]
fn others_vouch_for_a_member_that_one_cannot_reach_for_a_moment() {
    for seed in 0..4 {
        let mut world = formed(Rules::ALL, seed, &EVERYBODY);
        world.cut_between(&BTreeSet::from([3]));
        world.cuts.retain(|(one, other)| [*one, *other].contains(&0));
        for _ in 0..140 {
            world.run(ms(10));
            assert!(world.is_one(&ALL), "seed {seed}\n{}", world.picture());
        }
        world.heal();
        for _ in 0..200 {
            world.run(ms(10));
            assert!(world.is_one(&ALL), "seed {seed}\n{}", world.picture());
        }
    }
}

/// A node that stood still for less than it takes to find it dead is missed by nobody.
#[test]
fn a_short_freeze_is_no_death() {
    for seed in 0..4 {
        let mut world = formed(Rules::ALL, seed, &EVERYBODY);
        for _ in 0..5 {
            world.nodes[2].frozen = true;
            world.run(ms(1000));
            world.thaw(2);
            let pause = world.chance.random_range(500..1500);
            for _ in 0..pause / 10 {
                world.run(ms(10));
                assert!(world.is_one(&ALL), "seed {seed}\n{}", world.picture());
            }
        }
    }
}
