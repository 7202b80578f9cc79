//! The balancer's engine: one call's attempts at servers of which nothing is known, with exact outputs.

use std::time::Duration;

use hanaming::client::balancer::{Attempts, Failure, Sequel, Step};
use hanaming::client::fleet::Servers;

use hanaming::client::{Elections, Fleet, Policy, Target};
use hanaming::discovery::dns::DnsConfig;
use hanaming::discovery::{Answer, Origin, Place, Question};
use hanaming::failure::verdict::Need;
use hanaming::failure::{Action, Category, CompletionStatus};
use hanaming::naming::NamingError;
use hanaming::topology::Endpoint;

use crate::stage::{endpoint, letter, ms};

const ONCE: Need = Need { idempotent: false, value: false };
const IDEMPOTENT: Need = Need { idempotent: true, value: false };
const TIMEOUT: Duration = Duration::from_secs(5);

fn failure(category: Category, completion: CompletionStatus, action: Action, action_if_idempotent: Action) -> Failure {
    Failure { category, completion: Some(completion), action, action_if_idempotent, words: format!("{category}") }
}

fn refused() -> Failure {
    failure(Category::NotConnected, CompletionStatus::No, Action::Failover, Action::Failover)
}

fn quiescing() -> Failure {
    failure(Category::Quiescing, CompletionStatus::No, Action::Failover, Action::Failover)
}

fn no_response() -> Failure {
    failure(Category::NoResponse, CompletionStatus::Maybe, Action::Surface, Action::Failover)
}

fn lost() -> Failure {
    failure(Category::ConnectionLost, CompletionStatus::Maybe, Action::Surface, Action::Failover)
}

fn result_lost() -> Failure {
    failure(Category::ResultLost, CompletionStatus::Yes, Action::Success, Action::Failover)
}

fn application() -> Failure {
    failure(Category::Application, CompletionStatus::Yes, Action::Surface, Action::Surface)
}

fn server(letter: char, weight: f64) -> Place {
    Place { weight, ..Place::new(endpoint(letter), Origin::Provider) }
}

/// A fleet over what these say.
fn fleet_of(servers: Servers, policy: Policy, seed: u64) -> Fleet {
    Fleet::of_service(servers, policy, &DnsConfig::default(), Elections::new(), seed)
}

/// The service that is followed, and whether its list is to be asked for now.
fn list() -> Question {
    Question::List("service 'orders'".into())
}

fn is_due(fleet: &mut Fleet, at: u64) -> bool {
    fleet.questions_due(ms(at)) == [list()]
}

/// What its nodes answer.
fn instances(letters: &str) -> Answer {
    Answer::new(letters.chars().map(|letter| server(letter, 1.0)).collect(), ms(1000))
}

fn over(letters: &str, policy: Policy, seed: u64) -> Fleet {
    let servers = letters.chars().map(|letter| server(letter, 1.0)).collect();
    fleet_of(Servers::Fixed(servers), policy, seed)
}

/// Some fleet in which `a` has the first turn.
fn starting_with_a(letters: &str) -> Fleet {
    let first = |seed| {
        let mut fleet = over(letters, Policy::RoundRobin, seed);
        let mut call = Attempts::new(ONCE, ms(0), TIMEOUT);
        match call.next(&mut fleet, ms(0)) {
            Step::Call(id) => letter(&fleet.target(id).unwrap().label),
            other => panic!("{other:?}"),
        }
    };
    over(letters, Policy::RoundRobin, (0..1000).find(|seed| first(*seed) == 'a').unwrap())
}

/// One call on its stage.
struct Stage {
    fleet: Fleet,
    now: Duration,
    call: Attempts,
}

impl Stage {
    fn new(letters: &str, need: Need) -> Self {
        Self::with(starting_with_a(letters), need)
    }

    fn with(fleet: Fleet, need: Need) -> Self {
        Self { fleet, now: ms(0), call: Attempts::new(need, ms(0), TIMEOUT) }
    }

    fn again(&mut self, need: Need) {
        self.call = Attempts::new(need, self.now, TIMEOUT);
    }

    fn step(&mut self) -> Step {
        self.call.next(&mut self.fleet, self.now)
    }

    fn next(&mut self) -> String {
        match self.step() {
            Step::Call(id) => letter(&self.fleet.target(id).unwrap().label).to_string(),
            Step::Wait { until } => format!("wait {}", until.checked_sub(self.now).unwrap().as_millis()),
            Step::Over(None) => "over".to_owned(),
            Step::Over(Some(error)) => format!("{:?} {}: {error}", error.kind(), error.fields().completion),
        }
    }

    /// `millis` later the call fails.
    fn fails(&mut self, millis: u64, failure: Failure) -> Sequel {
        self.now += ms(millis);
        self.call.failed(&mut self.fleet, self.now, failure)
    }

    /// `millis` later the call succeeds.
    fn succeeds(&mut self, millis: u64) {
        self.now += ms(millis);
        self.call.succeeded(&mut self.fleet, self.now);
    }

    /// Waits for as long as it says, and a little more.
    fn sit_out(&mut self) -> u64 {
        let said = self.next();
        let millis = said.strip_prefix("wait ").unwrap_or_else(|| panic!("{said} is no wait")).parse().unwrap();
        self.now += ms(millis + 1);
        millis
    }

    fn target(&self, wanted: char) -> &Target {
        self.fleet.targets().find(|target| letter(&target.label) == wanted).unwrap()
    }

    fn states(&self) -> String {
        let states: Vec<_> = self.fleet.targets().map(|target| format!("{} {}", letter(&target.label), target.state())).collect();
        states.join(", ")
    }

    fn outstanding(&self) -> u32 {
        self.fleet.targets().map(|target| target.outstanding).sum()
    }

    fn attempts(&self) -> Vec<String> {
        let words = self.call.trail().attempts();
        words.iter().map(crate::stage::attempt_words).collect()
    }
}

#[test]
fn what_did_not_run_goes_to_another_server() {
    let mut stage = Stage::new("abc", ONCE);
    assert_eq!(stage.next(), "a");
    assert_eq!(stage.outstanding(), 1);
    assert_eq!(stage.fails(3, refused()), Sequel::Again);
    assert_eq!(stage.next(), "b");
    stage.succeeds(5);
    assert_eq!(stage.states(), "a failed, b good, c untried");
    assert_eq!(stage.outstanding(), 0);
    let attempts = stage.call.trail().attempts();
    assert_eq!((attempts[0].elapsed, attempts[1].elapsed), (ms(3), ms(5)));
    assert_eq!(stage.attempts(), ["a connect NO not_connected | the request did not run there", "b answer YES done | -"]);
}

#[test]
fn what_may_have_run_goes_on_only_where_it_may_run_twice() {
    for (failure, phase) in [(lost(), "connection_lost"), (no_response(), "no_response")] {
        let mut stage = Stage::new("ab", ONCE);
        stage.next();
        assert_eq!(stage.fails(500, failure.clone()), Sequel::Raise);
        assert_eq!(stage.states(), "a failed, b untried");

        let mut stage = Stage::new("ab", IDEMPOTENT);
        stage.next();
        assert_eq!(stage.fails(500, failure), Sequel::Again);
        assert_eq!(stage.next(), "b");
        stage.succeeds(1);
        assert_eq!(
            stage.attempts(),
            [format!("a wait MAYBE {phase} | it may have run, and may run twice"), "b answer YES done | -".to_owned()]
        );
    }
}

#[test]
fn what_ran_and_lost_its_result_is_a_success_where_no_value_is_needed() {
    let value = Need { value: true, ..ONCE };
    let both = Need { value: true, ..IDEMPOTENT };
    for (need, sequel) in [(ONCE, Sequel::Success), (value, Sequel::Raise), (IDEMPOTENT, Sequel::Again), (both, Sequel::Again)] {
        let mut stage = Stage::new("ab", need);
        stage.next();
        assert_eq!(stage.fails(1, result_lost()), sequel, "{need:?}");
    }
}

#[test]
fn an_application_s_own_failure_comes_out_and_says_that_the_server_is_well() {
    for need in [ONCE, IDEMPOTENT] {
        let mut stage = Stage::new("ab", need);
        stage.next();
        assert_eq!(stage.fails(1, application()), Sequel::Raise);
        assert_eq!(stage.states(), "a good, b untried");
        assert_eq!(stage.attempts(), ["a answer YES application | -"]);
    }
}

#[test]
fn a_quiescing_server_is_left_alone_for_a_while_and_taken_back_by_a_connection() {
    let mut stage = Stage::new("ab", ONCE);
    stage.next();
    assert_eq!(stage.fails(1, quiescing()), Sequel::Again);
    assert_eq!(stage.states(), "a quiescing, b untried");
    assert_eq!(stage.next(), "b");
    stage.succeeds(1);
    for _ in 0..4 {
        stage.again(ONCE);
        assert_eq!(stage.next(), "b");
        stage.succeeds(1);
    }
    assert!(stage.fleet.probes_due(ms(700)).is_empty());
    let due = stage.fleet.probes_due(ms(1100));
    assert_eq!(due.len(), 1);
    stage.fleet.connected(due[0].0, true, ms(1100), ms(1101));
    assert_eq!(stage.states(), "a untried, b good");
}

#[test]
fn where_all_are_quiescing_the_call_waits_for_them() {
    let mut stage = Stage::new("ab", ONCE);
    assert_eq!(stage.next(), "a");
    stage.fails(0, quiescing());
    assert_eq!(stage.next(), "b");
    assert_eq!(stage.fails(0, quiescing()), Sequel::Again);
    assert!((799..=1000).contains(&stage.sit_out()));
    let first = stage.next();
    stage.succeeds(1);
    assert!(["a", "b"].contains(&first.as_str()));
    assert_eq!(stage.attempts()[1], "b answer NO quiescing | every server had its turn; one more round");
}

#[test]
fn where_every_server_refuses_there_is_one_more_round_and_then_the_last_failure() {
    let mut stage = Stage::new("ab", ONCE);
    assert_eq!(stage.next(), "a");
    assert_eq!(stage.fails(0, refused()), Sequel::Again);
    assert_eq!(stage.next(), "b");
    assert_eq!(stage.fails(0, refused()), Sequel::Again);
    assert!((79..=100).contains(&stage.sit_out()));
    let mut order = vec![stage.next()];
    assert_eq!(stage.fails(0, refused()), Sequel::Again);
    order.push(stage.next());
    assert_eq!(stage.fails(0, refused()), Sequel::Raise);
    order.sort();
    assert_eq!(order, ["a", "b"]);
    assert_eq!(stage.attempts().len(), 4);
    assert!(stage.attempts()[3].ends_with("| -"));
    // Everything failed, and it's tried anyway.
    stage.again(ONCE);
    assert_eq!(stage.states(), "a failed, b failed");
    assert!(["a", "b"].contains(&stage.next().as_str()));
    stage.succeeds(1);
    assert!(stage.states().contains("good"));
}

#[test]
fn one_timeout_covers_all_attempts() {
    let mut stage = Stage::new("ab", IDEMPOTENT);
    stage.next();
    assert_eq!(stage.fails(3000, no_response()), Sequel::Again);
    assert_eq!(stage.next(), "b");
    assert_eq!(stage.fails(2000, no_response()), Sequel::Raise);
    assert_eq!(stage.next(), "over");
    assert_eq!(stage.now, TIMEOUT);
}

#[test]
fn a_failed_server_is_left_out_longer_each_time_that_a_connection_alone_took_it_back() {
    let mut stage = Stage::new("ab", IDEMPOTENT);
    let mut pauses = Vec::new();
    for _ in 0..4 {
        stage.again(IDEMPOTENT);
        // `a` has its turn again as soon as it's back.
        while stage.next() != "a" {
            stage.succeeds(1);
            stage.again(IDEMPOTENT);
        }
        stage.fails(500, no_response());
        let failed_at = stage.now;
        let due = (0..20_000).map(|millis| failed_at + ms(millis)).find(|at| !stage.fleet.probes_due(*at).is_empty()).unwrap();
        pauses.push(due.checked_sub(failed_at).unwrap().as_millis());
        stage.now = due;
        let a = stage.target('a').id;
        stage.fleet.connected(a, true, stage.now, stage.now);
    }
    for (pause, nominal) in pauses.iter().zip([100, 200, 400, 800]) {
        assert!((nominal * 79 / 100..=nominal + 1).contains(pause), "{pauses:?}");
    }
    // An answer clears it.
    stage.again(ONCE);
    while stage.next() != "a" {
        stage.succeeds(1);
        stage.again(ONCE);
    }
    stage.succeeds(1);
    stage.again(IDEMPOTENT);
    while stage.next() != "a" {
        stage.succeeds(1);
        stage.again(IDEMPOTENT);
    }
    stage.fails(500, no_response());
    assert!(!stage.fleet.probes_due(stage.now + ms(101)).is_empty());
}

#[test]
fn a_connection_that_was_begun_before_the_failure_says_nothing() {
    let mut stage = Stage::new("ab", ONCE);
    stage.next();
    stage.fails(100, refused());
    let a = stage.target('a').id;
    stage.fleet.connected(a, true, ms(50), ms(101));
    assert_eq!(stage.states(), "a failed, b untried");
    stage.fleet.connected(a, false, ms(200), ms(300));
    assert_eq!(stage.states(), "a failed, b untried");
    stage.fleet.connected(a, true, ms(310), ms(311));
    assert_eq!(stage.states(), "a untried, b untried");
}

#[test]
fn retries_beyond_the_first_draw_on_the_budget() {
    // Nothing is refilled: the clock stands still.
    let mut stage = Stage::new("abcdefgh", IDEMPOTENT);
    let mut calls = 0;
    for _ in 0..40 {
        stage.again(IDEMPOTENT);
        while !stage.next().starts_with("wait") {
            calls += 1;
            stage.fails(0, lost());
        }
    }
    // Two for each call, and ten that were saved up, and a fifth of one for each call that pays in.
    assert_eq!(calls, 40 * 2 + 10 + 40 / 5);
}

#[test]
fn a_call_that_is_given_up_gives_its_target_back() {
    let mut stage = Stage::new("ab", ONCE);
    stage.next();
    assert_eq!(stage.outstanding(), 1);
    stage.call.abandoned(&mut stage.fleet, ms(7));
    assert_eq!(stage.outstanding(), 0);
    assert_eq!(stage.states(), "a untried, b untried");
    assert_eq!(stage.attempts(), ["a wait MAYBE given up by the caller | -"]);
    // What is told twice counts once.
    stage.call.succeeded(&mut stage.fleet, ms(8));
    assert_eq!(stage.call.failed(&mut stage.fleet, ms(8), refused()), Sequel::Raise);
    assert_eq!((stage.attempts().len(), stage.states().as_str()), (1, "a untried, b untried"));
}

#[test]
fn later_is_for_when_nobody_is_left() {
    let exhausted = failure(Category::AllUnavailable, CompletionStatus::No, Action::RetryLater, Action::RetryLater);
    let mut stage = Stage::new("ab", IDEMPOTENT);
    stage.next();
    assert_eq!(stage.fails(1, exhausted), Sequel::Raise);
    assert_eq!(stage.states(), "a overloaded, b untried");
    // One that is overloaded says nothing of the others.
    let overloaded = failure(Category::Quiescing, CompletionStatus::No, Action::RetryLater, Action::RetryLater);
    let mut stage = Stage::new("ab", ONCE);
    stage.next();
    assert_eq!(stage.fails(1, overloaded), Sequel::Again);
    assert_eq!(stage.next(), "b");
}

#[test]
fn what_lies_with_the_request_says_nothing_of_the_server() {
    for category in [Category::Security, Category::Configuration, Category::Unknown, Category::ResourceExhausted] {
        let mut stage = Stage::new("ab", IDEMPOTENT);
        stage.next();
        let failure = failure(category, CompletionStatus::No, Action::Surface, Action::Surface);
        assert_eq!(stage.fails(1, failure), Sequel::Raise);
        assert_eq!(stage.states(), "a untried, b untried");
    }
}

#[test]
fn a_service_is_asked_for_and_its_instances_join_and_drain() {
    let fleet = fleet_of(Servers::Followed("service 'orders'".into()), Policy::RoundRobin, 1);
    let mut stage = Stage::with(fleet, ONCE);
    assert_eq!(stage.next(), "wait 5000");
    assert!(stage.fleet.take_alarm());
    assert!(is_due(&mut stage.fleet, 0));
    assert!(!is_due(&mut stage.fleet, 0), "it is under way");
    stage.fleet.told(&list(), Ok(instances("ab")), ms(1));
    let first = stage.next();
    assert_eq!(stage.states(), "a untried, b untried");
    // What fails or is empty removes nothing.
    assert!(is_due(&mut stage.fleet, 1101));
    stage.fleet.told(&list(), Err("n2: silent".to_owned()), ms(1102));
    assert_eq!((stage.states().as_str(), stage.fleet.trouble()), ("a untried, b untried", Some("n2: silent")));
    assert!(is_due(&mut stage.fleet, 1202), "it's repeated after the first backoff");
    stage.fleet.told(&list(), Ok(instances("")), ms(1203));
    assert_eq!(stage.states(), "a untried, b untried");
    // Another list: the one that is gone finishes what it has, and goes.
    assert!(is_due(&mut stage.fleet, 1400));
    let other = if first == "a" { 'b' } else { 'a' };
    stage.fleet.told(&list(), Ok(instances(&format!("{other}c"))), ms(1401));
    assert_eq!(stage.fleet.trouble(), None);
    assert!(stage.states().contains(&format!("{first} draining")), "{}", stage.states());
    stage.succeeds(2);
    assert_eq!(stage.states(), format!("{other} untried, c untried"));
}

#[test]
fn a_failed_server_has_the_list_asked_for_sooner() {
    let fleet = fleet_of(Servers::Followed("service 'orders'".into()), Policy::RoundRobin, 1);
    let mut stage = Stage::with(fleet, ONCE);
    assert!(is_due(&mut stage.fleet, 0));
    stage.fleet.told(&list(), Ok(instances("ab")), ms(1));
    stage.now = ms(150);
    stage.next();
    assert!(!is_due(&mut stage.fleet, 150));
    stage.fails(0, refused());
    assert!(is_due(&mut stage.fleet, 150));
}

#[test]
fn a_service_that_nobody_offers_is_an_error_that_says_so() {
    let fleet = fleet_of(Servers::Followed("service 'orders'".into()), Policy::RoundRobin, 1);
    let mut stage = Stage::with(fleet, ONCE);
    stage.next();
    assert!(is_due(&mut stage.fleet, 0));
    stage.fleet.told(&list(), Err("no such name".to_owned()), ms(1));
    assert!((79..=100).contains(&stage.sit_out()));
    assert_eq!(
        stage.next(),
        "ServiceUnavailable NO: no server is known. service 'orders': name resolution failed: no such name. Safe to retry."
    );

    let servers = vec![Place::new(Endpoint::new("orders.example", 80), Origin::Provider)];
    let mut stage = Stage::with(fleet_of(Servers::Fixed(servers), Policy::RoundRobin, 1), ONCE);
    assert_eq!(stage.next(), "wait 5000");
    stage.now = TIMEOUT;
    assert_eq!(
        stage.next(),
        "TimeLimitExceeded NO: no server was known in 5.0 s. orders.example:80: name resolution failed: the addresses (A, AAAA) of \
         orders.example: no answer yet from the system's resolver. Safe to retry."
    );
    let never: Option<NamingError> = match stage.step() {
        Step::Over(error) => error,
        other => panic!("{other:?}"),
    };
    assert!(never.unwrap().safe_to_retry());
}

fn shares(policy: Policy, weights: &[(char, f64)], calls: u32) -> Vec<u32> {
    let servers = weights.iter().map(|(letter, weight)| server(*letter, *weight)).collect();
    let mut fleet = fleet_of(Servers::Fixed(servers), policy, 7);
    let mut counts = vec![0; weights.len()];
    for number in 0..calls {
        let now = ms(u64::from(number));
        let mut call = Attempts::new(ONCE, now, TIMEOUT);
        let Step::Call(id) = call.next(&mut fleet, now) else { panic!() };
        counts[usize::try_from(id.0).unwrap()] += 1;
        call.succeeded(&mut fleet, now + ms(1));
    }
    counts
}

#[test]
fn weights_are_shares() {
    let weights = [('a', 5.0), ('b', 1.0), ('c', 2.0)];
    let turns = shares(Policy::RoundRobin, &weights, 800);
    assert!(turns.iter().zip([500, 100, 200]).all(|(count, share)| count.abs_diff(share) <= 1), "{turns:?}");
    for policy in [Policy::RandomRobin, Policy::LeastLoaded] {
        let counts = shares(policy, &weights, 8000);
        assert!(
            counts.iter().zip([5000, 1000, 2000]).all(|(count, share)| count.abs_diff(share) <= share / 8),
            "{policy:?} {counts:?}"
        );
    }
    let elected = shares(Policy::FirstAvailable, &weights, 100);
    assert_eq!(elected.iter().filter(|count| **count > 0).count(), 1);
    // Equal weights are no weights, whatever they are.
    assert_eq!(shares(Policy::RoundRobin, &[('a', 3.0), ('b', 3.0)], 100), [50, 50]);
}

#[test]
fn a_heavy_server_s_turns_are_spread() {
    let servers = vec![server('a', 2.0), server('b', 1.0), server('c', 1.0)];
    let mut fleet = fleet_of(Servers::Fixed(servers), Policy::RoundRobin, 3);
    let mut order = String::new();
    for number in 0..40 {
        let mut call = Attempts::new(ONCE, ms(number), TIMEOUT);
        let Step::Call(id) = call.next(&mut fleet, ms(number)) else { panic!() };
        order.push(letter(&fleet.target(id).unwrap().label));
        call.succeeded(&mut fleet, ms(number));
    }
    assert!(!order.contains("aaa"), "{order}");
    assert_eq!(order.matches('a').count().abs_diff(20), 0, "{order}");
}

#[test]
fn calls_under_way_count_as_load() {
    let mut fleet = over("ab", Policy::LeastLoaded, 1);
    let mut under_way = Vec::new();
    for _ in 0..20 {
        let mut call = Attempts::new(ONCE, ms(0), TIMEOUT);
        assert!(matches!(call.next(&mut fleet, ms(0)), Step::Call(_)));
        under_way.push(call);
    }
    let loads: Vec<u32> = fleet.targets().map(|target| target.outstanding).collect();
    assert_eq!(loads, [10, 10]);
    for mut call in under_way {
        call.abandoned(&mut fleet, ms(1));
    }
    assert_eq!(fleet.targets().map(|target| target.outstanding).sum::<u32>(), 0);
}
