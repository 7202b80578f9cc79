//! The simulation bites: with any one rule left out, some seed fails.
//!
//! These tests guard the simulation itself. A rule that could be dropped without a failing seed would be a rule that
//! nothing here checks.

use hanaming::cluster::rules::{Rule, Rules};

use crate::campaign::{Scenario, run};
use crate::replication::Replication;
use crate::writing::{Kind, Writing};

#[track_caller]
fn bites<S: Scenario>(scenario: &S, rule: Rule, most: u64) {
    let outcome = run(scenario, 1..most + 1, Rules::ALL.without(rule));
    let Some((seed, violation)) = outcome.failure else {
        panic!("without {rule:?} none of {most} seeds fails");
    };
    eprintln!("without {rule:?} seed {seed} fails: {violation}");
}

/// The seven shortcuts of replication, and sending before the disk has it.
mod replication {
    use super::*;

    const SCENARIO: Replication = Replication { actions: 300 };

    #[test]
    fn a_vector_claimed_with_the_first_part() {
        bites(&SCENARIO, Rule::VectorAfterRecords, 1_000);
    }

    #[test]
    fn two_answers_taken_for_one() {
        bites(&SCENARIO, Rule::AnswersNotMixed, 5_000);
    }

    #[test]
    fn a_delta_in_spite_of_the_floor() {
        bites(&SCENARIO, Rule::DeltaWithinFloor, 2_000);
    }

    #[test]
    fn a_full_sync_that_only_adds() {
        bites(&SCENARIO, Rule::FullSyncDrops, 2_000);
    }

    #[test]
    fn a_dot_used_twice() {
        bites(&SCENARIO, Rule::DotsUsedOnce, 1_000);
    }

    #[test]
    fn a_full_sync_record_by_record() {
        bites(&SCENARIO, Rule::FullSyncAtomic, 50_000);
    }

    #[test]
    fn a_floor_not_taken_over() {
        bites(&SCENARIO, Rule::FloorTakenOver, 50_000);
    }

    #[test]
    fn a_write_without_coverage_after_a_purge() {
        bites(&SCENARIO, Rule::CoverageOnWrites, 50_000);
    }

    #[test]
    fn a_message_sent_before_the_disk_has_it() {
        bites(&SCENARIO, Rule::DurableBeforeSent, 1_000);
    }
}

/// The rules of writing and of bind.
mod writing {
    use super::*;

    const RACE: Writing = Writing::new(Kind::Race);
    const SEQUENCE: Writing = Writing::new(Kind::Sequence);

    #[test]
    fn rules() {
        for (scenario, label) in [
            (RACE, "race"),
            (RACE.with_stalls(), "race, stalls"),
            (SEQUENCE, "sequence"),
            (SEQUENCE.with_stalls(), "sequence, stalls"),
        ] {
            for rule in [
                Rule::TokenChecked,
                Rule::EveryExecutionChecks,
                Rule::RetryAsksPeers,
                Rule::RepetitionsVoided,
                Rule::LaggingNotWaitedFor,
                Rule::CreateToLagging,
                Rule::KnownAnswered,
                Rule::FirstCreatedWins,
                Rule::LooksAgain,
                Rule::Withdraws,
                Rule::MajorityCommits,
                Rule::RetryBeside,
                Rule::CoordinatorWithdraws,
                Rule::SameCreation,
                Rule::FrozenDistrusts,
                Rule::LaggingSentTo,
            ] {
                let outcome = run(&scenario, 1..1500, Rules::ALL.without(rule));
                eprintln!("{label} without {rule:?}: {:?}", outcome.failure);
            }
        }
    }
}
