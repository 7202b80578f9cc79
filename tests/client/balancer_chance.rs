//! The balancer's engine under chance: many calls at once, whatever may come of each, and what holds all the same.

use std::time::Duration;

use hanaming::client::balancer::{Attempts, Failure, Sequel, Step};
use hanaming::client::fleet::Servers;
use hanaming::client::{Elections, Fleet, Policy};
use hanaming::discovery::dns::DnsConfig;
use hanaming::discovery::{Origin, Place};
use hanaming::failure::verdict::{self, Need};
use hanaming::failure::{Category, CompletionStatus};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

use crate::stage::{endpoint, ms};

const TIMEOUT: Duration = Duration::from_secs(2);
const STATUSES: [CompletionStatus; 3] = [CompletionStatus::No, CompletionStatus::Yes, CompletionStatus::Maybe];

/// Some failure, with the actions that the table gives it.
fn failure(rng: &mut StdRng) -> Failure {
    let category = Category::ALL[rng.random_range(0..Category::ALL.len())];
    let completion = STATUSES[rng.random_range(0..STATUSES.len())];
    Failure {
        category,
        completion: (category != Category::NotAFailure).then_some(completion),
        action: verdict::action_for(category, completion, Need::EFFECT, true),
        action_if_idempotent: verdict::action_for(category, completion, Need::VALUE, true),
        words: String::new(),
    }
}

/// A call, and where it stands.
struct Call {
    attempts: Attempts,
    need: Need,
    began: Duration,
    under_way: bool,
    over: bool,
}

#[test]
fn whatever_happens_these_hold() {
    for seed in 0..400 {
        let mut rng = StdRng::seed_from_u64(seed);
        let servers = (0..rng.random_range(1..6))
            .map(|nth| Place {
                weight: f64::from(rng.random_range(1..4)),
                ..Place::new(endpoint(char::from(b'a' + nth)), Origin::Provider)
            })
            .collect();
        let policy = Policy::ALL[rng.random_range(0..Policy::ALL.len())];
        let mut fleet = Fleet::of_service(Servers::Fixed(servers), policy, &DnsConfig::default(), Elections::new(), seed);
        let mut calls: Vec<Call> = Vec::new();
        let mut now = ms(0);
        let success = rng.random_range(0.0..1.0);
        for _ in 0..300 {
            now += ms(rng.random_range(0..60));
            for (id, _) in fleet.probes_due(now) {
                fleet.connected(id, rng.random_bool(0.5), now, now);
            }
            if rng.random_bool(0.3) {
                let need = Need { idempotent: rng.random_bool(0.5), value: rng.random_bool(0.5) };
                let attempts = Attempts::new(need, now, TIMEOUT);
                calls.push(Call { attempts, need, began: now, under_way: false, over: false });
            }
            let Some(nth) = (!calls.is_empty()).then(|| rng.random_range(0..calls.len())) else { continue };
            let call = &mut calls[nth];
            if call.under_way {
                call.under_way = false;
                if rng.random_bool(success) {
                    call.attempts.succeeded(&mut fleet, now);
                    call.over = true;
                } else if rng.random_bool(0.1) {
                    call.attempts.abandoned(&mut fleet, now);
                    call.over = true;
                } else {
                    let failure = failure(&mut rng);
                    let (completion, category) = (failure.completion, failure.category);
                    let sequel = call.attempts.failed(&mut fleet, now, failure);
                    let certainly_not_run = completion == Some(CompletionStatus::No);
                    if sequel == Sequel::Again {
                        assert!(certainly_not_run || call.need.idempotent, "seed {seed}: sent again, and may have run");
                        assert!(category != Category::Application, "seed {seed}: an application's failure is sent again");
                        assert!(now < call.began + TIMEOUT, "seed {seed}: sent again after its time");
                    }
                    if sequel == Sequel::Success {
                        assert_eq!(completion, Some(CompletionStatus::Yes), "seed {seed}");
                        assert!(!call.need.value, "seed {seed}: a value is missed");
                    }
                    call.over = sequel != Sequel::Again;
                }
            } else if !call.over {
                match call.attempts.next(&mut fleet, now) {
                    Step::Call(id) => {
                        assert!(now < call.began + TIMEOUT, "seed {seed}: begun after its time");
                        assert!(fleet.target(id).is_some());
                        call.under_way = true;
                    }
                    Step::Wait { until } => assert!(now < until && until <= call.began + TIMEOUT, "seed {seed}"),
                    Step::Over(error) => {
                        assert!(error.is_none() || call.attempts.trail().is_empty(), "seed {seed}");
                        call.over = true;
                    }
                }
            }
            let outstanding: u32 = fleet.targets().map(|target| target.outstanding).sum();
            let under_way = calls.iter().filter(|call| call.under_way).count();
            assert_eq!(usize::try_from(outstanding).unwrap(), under_way, "seed {seed}: a target is not told back");
        }
        // Every call ends by its time, whoever is left.
        now += TIMEOUT;
        for call in calls.iter_mut().filter(|call| !call.over && !call.under_way) {
            assert!(matches!(call.attempts.next(&mut fleet, now), Step::Over(_)), "seed {seed}");
        }
    }
}
