//! The simulation bites: with any one rule left out, some seed fails.
//!
//! These tests guard the simulation itself. A rule that could be dropped without a failing seed would be a rule that
//! nothing here checks.

use hanaming::cluster::rules::{Rule, Rules};

use crate::campaign::{Scenario, number, run};
use crate::replication::Replication;
use crate::writing::{Kind, Writing};

/// How many seeds are tried, where `SIMULATION_SEEDS` says nothing else.
const MOST: u64 = 50;

/// Tries seeds from `first` on, one that is known to fail. A change to what a plan draws moves it; a longer search then
/// finds another.
#[track_caller]
fn bites<S: Scenario>(scenario: &S, rule: Rule, first: u64) {
    let most = number("SIMULATION_SEEDS").unwrap_or(MOST);
    let outcome = run(scenario, first..first + most, Rules::ALL.without(rule));
    let Some((seed, violation)) = outcome.failure else {
        panic!("without {rule:?} none of {most} seeds from {first} on fails; SIMULATION_SEEDS=20000 searches further");
    };
    eprintln!("without {rule:?} seed {seed} fails: {violation}");
}

/// The seven shortcuts of replication, and sending before the disk has it.
mod replication {
    use super::*;

    const SCENARIO: Replication = Replication { actions: 300 };

    #[test]
    fn a_vector_claimed_with_the_first_part() {
        bites(&SCENARIO, Rule::VectorAfterRecords, 1);
    }

    #[test]
    fn two_answers_taken_for_one() {
        bites(&SCENARIO, Rule::AnswersNotMixed, 67);
    }

    #[test]
    fn a_delta_in_spite_of_the_floor() {
        bites(&SCENARIO, Rule::DeltaWithinFloor, 9);
    }

    #[test]
    fn a_full_sync_that_only_adds() {
        bites(&SCENARIO, Rule::FullSyncDrops, 31);
    }

    #[test]
    fn a_dot_used_twice() {
        bites(&SCENARIO, Rule::DotsUsedOnce, 9);
    }

    #[test]
    fn a_full_sync_record_by_record() {
        bites(&SCENARIO, Rule::FullSyncAtomic, 721);
    }

    #[test]
    fn a_floor_not_taken_over() {
        bites(&SCENARIO, Rule::FloorTakenOver, 180);
    }

    #[test]
    fn a_write_without_coverage_after_a_purge() {
        bites(&SCENARIO, Rule::CoverageOnWrites, 1747);
    }

    #[test]
    fn a_message_sent_before_the_disk_has_it() {
        bites(&SCENARIO, Rule::DurableBeforeSent, 6);
    }
}

/// The rules of writing and of bind that chance finds; `directed` has the others.
mod writing {
    use super::*;

    const RACE: Writing = Writing::new(Kind::Race);
    const SEQUENCE: Writing = Writing::new(Kind::Sequence);
    const FUTILE: Writing = Writing::new(Kind::Futile);

    #[test]
    fn only_what_is_called_a_retry_is_looked_up() {
        bites(&SEQUENCE, Rule::EveryExecutionChecks, 493);
    }

    #[test]
    fn what_came_to_nothing_forgotten() {
        bites(&FUTILE, Rule::NothingRemembered, 1);
    }

    #[test]
    fn a_repetition_that_stays() {
        bites(&SEQUENCE, Rule::RepetitionsVoided, 153);
    }

    #[test]
    fn a_bind_that_does_not_look_again() {
        bites(&RACE, Rule::LooksAgain, 316);
    }

    #[test]
    fn a_bind_that_is_not_withdrawn() {
        bites(&RACE, Rule::Withdraws, 185);
    }

    #[test]
    fn a_retry_that_adopts_what_is_under_way() {
        bites(&RACE, Rule::RetryBeside, 721);
    }
}
