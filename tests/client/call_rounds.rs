//! Timelines of whole calls, with exact outputs: rounds, waits, deadlines, the budget.

use hanaming::client::{ClientConfig, Input, Invocation};
use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::{Detail, ErrorKind};
use hanaming::protocol::{RefusalReason, Scope};
use hanaming::transport::TransportErrorKind;

use crate::stage::{
    Stage, bind, broke, config, connection_refused, failed, fault, found, incomplete, lookup, lost, lost_when_reused, ms,
    not_found, refused, silent, subject, welcome, written,
};

/// The number behind `wait `.
fn waited(output: &str) -> u64 {
    output.strip_prefix("wait ").unwrap_or_else(|| panic!("{output} is no wait")).parse().unwrap()
}

#[test]
fn where_every_server_refuses_there_is_one_more_round_and_then_the_error() {
    for invocation in [lookup("orders"), bind("orders")] {
        let mut stage = Stage::new("abc", invocation);
        let limit = if stage.start() == "send a 250" { 250 } else { 1000 };
        assert_eq!(stage.step(connection_refused()), format!("send b {limit}"));
        assert_eq!(stage.step(connection_refused()), format!("send c {limit}"));
        let pause = waited(&stage.step(connection_refused()));
        assert!((79..=100).contains(&pause), "the first backoff: {pause} ms");
        let mut order = vec![stage.after(pause + 1, Input::Woke)];
        order.push(stage.step(connection_refused()));
        order.push(stage.step(connection_refused()));
        order.sort();
        assert_eq!(order, ["a", "b", "c"].map(|letter| format!("send {letter} {limit}")));
        assert_eq!(
            stage.step(connection_refused()),
            "ServiceUnavailable NO: 'orders': no server can be reached. 10.0.0.1:1: connection refused; \
             10.0.0.2:1: connection refused; 10.0.0.3:1: connection refused. Safe to retry."
        );
        assert!(stage.now <= ms(500), "{:?}", stage.now);
        let attempts = stage.attempts();
        assert_eq!(attempts.len(), 6);
        assert_eq!(attempts[2], "c connect NO connection refused | every server had its turn; one more round");
        assert!(attempts[5].ends_with("| -"));
    }
}

#[test]
fn where_all_are_joining_or_quiescing_the_call_goes_on_until_its_time_is_up() {
    let mut stage = Stage::new("ab", bind("orders"));
    stage.start();
    assert_eq!(stage.step(refused(RefusalReason::Joining, 200)), "send b 1000");
    let mut output = stage.step(refused(RefusalReason::Quiescing, 1000));
    let mut asked = 2;
    while stage.now < ms(5000) {
        if output.starts_with("send") {
            asked += 1;
            let retry_after = if output.starts_with("send a") { 200 } else { 1000 };
            output = stage.step(refused(RefusalReason::Joining, retry_after));
        } else {
            output = stage.after(waited(&output) + 1, Input::Woke);
        }
    }
    assert_eq!(
        output,
        "TimeLimitExceeded NO: 'orders': not answered in 5.0 s. 10.0.0.1:1: refused: joining; \
         10.0.0.2:1: refused: joining. Safe to retry."
    );
    // Each was asked again no sooner than it had said.
    assert!((20..=40).contains(&asked), "{asked} requests");
}

#[test]
fn a_wait_for_servers_ends_as_soon_as_one_is_well() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.start();
    stage.step(refused(RefusalReason::Joining, 3000));
    let pause = waited(&stage.step(refused(RefusalReason::Joining, 3000)));
    assert!(pause >= 2000, "{pause}");
    assert_eq!(waited(&stage.after(10, Input::Woke)), pause - 10, "nothing has changed");
    let b = stage.id('b');
    let live = crate::stage::member('b', 1, hanaming::topology::MemberState::Live);
    stage.fleet.probed(b, Ok(&welcome(live, crate::stage::view("ab"))), stage.now, stage.now);
    assert_eq!(stage.after(5, Input::Woke), "send b 250");
}

#[test]
fn silent_servers_are_asked_again_until_the_time_is_up() {
    let mut stage = Stage::new("ab", lookup("orders"));
    let mut output = stage.start();
    let mut pauses = Vec::new();
    while stage.now < ms(5000) {
        output = if output.starts_with("send") {
            let limit: u64 = output.rsplit(' ').next().unwrap().parse().unwrap();
            stage.after(limit, silent())
        } else {
            pauses.push(waited(&output));
            stage.after(waited(&output) + 1, Input::Woke)
        };
    }
    assert!(output.starts_with("TimeLimitExceeded MAYBE: 'orders': not answered in 5.0 s."), "{output}");
    assert!(output.ends_with("Safe to retry."), "{output}");
    assert!(pauses.windows(2).take(3).all(|pair| pair[0] < pair[1]), "the pauses grow: {pauses:?}");
}

#[test]
fn an_attempt_leaves_half_of_a_short_time_to_another_server() {
    let mut stage = Stage::with(ClientConfig { timeout: ms(200), ..config("ab") }, lookup("orders"));
    assert_eq!(stage.start(), "send a 100");
    assert_eq!(stage.after(100, silent()), "send b 100");
    let alone = ClientConfig { timeout: ms(200), ..config("a") };
    assert_eq!(Stage::with(alone, lookup("orders")).start(), "send a 200");
    assert_eq!(stage.request().time_left, 100_000);
}

#[test]
fn no_time_at_all_is_no_attempt_at_all() {
    let mut stage = Stage::new("a", bind("orders"));
    stage.call = hanaming::client::Call::new(bind("orders"), &stage.config, ms(0), ms(0));
    assert_eq!(stage.start(), "TimeLimitExceeded NO: 'orders': not answered in 0 µs. Safe to retry.");
}

#[test]
fn a_mutation_without_an_answer_by_its_deadline_may_have_run() {
    let mut stage = Stage::with(ClientConfig { timeout: ms(500), ..config("ab") }, bind("orders"));
    assert_eq!(stage.start(), "send a 500");
    assert_eq!(
        stage.after(500, broke(Phase::Wait, TransportErrorKind::TimedOut(ms(500)))),
        "TimeLimitExceeded MAYBE: 'orders': not answered in 0.5 s. 10.0.0.1:1: no answer in 0.5 s. \
         It may have run: look before sending it again."
    );
}

#[test]
fn an_idle_connection_found_dead_costs_its_server_nothing() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.start();
    assert_eq!(stage.step(lost_when_reused()), "send a 250 fresh");
    assert_eq!(stage.step(found()), "done found");
    assert_eq!(
        stage.attempts(),
        ["a wait MAYBE connection lost | the connection had been idle; a fresh one is tried", "a answer YES found | -"]
    );
    assert_eq!(stage.health('a'), hanaming::client::Health::Good);
    // A second time it's the server.
    stage.again(lookup("orders"));
    assert_eq!(stage.start(), "send b 250");
    stage.step(found());
    stage.again(lookup("orders"));
    stage.start();
    assert_eq!(stage.step(lost_when_reused()), "send a 250 fresh");
    assert_eq!(stage.step(connection_refused()), "send b 250");
    assert!(matches!(stage.health('a'), hanaming::client::Health::Failed { failures: 1, .. }));
}

#[test]
fn a_mutation_on_an_idle_connection_is_sent_again_where_it_is_recognised() {
    let local = hanaming::client::ClientConfig { scope: hanaming::protocol::Scope::Local, ..crate::stage::config("ab") };
    let mut stage = Stage::with(local, bind("orders"));
    stage.start();
    assert!(stage.step(lost_when_reused()).starts_with("Communication MAYBE"));
    let mut stage = Stage::new("ab", bind("orders"));
    stage.start();
    assert_eq!(stage.step(lost_when_reused()), "send a 1000 fresh");
    assert!(stage.request().is_retry);
    // Where it certainly did not leave, it is.
    let mut stage = Stage::new("ab", bind("orders"));
    stage.start();
    let left_in_part = hanaming::transport::TransportError::new(Phase::Send, TransportErrorKind::Lost);
    assert_eq!(stage.step(Input::Broke { error: left_in_part, reused: true }), "send a 1000 fresh");
}

#[test]
fn where_nodes_were_silent_others_are_asked_first_and_the_silent_ones_last() {
    let mut stage = Stage::new("abcd", lookup("orders"));
    stage.introduce("abcd");
    stage.start();
    assert_eq!(stage.step(incomplete("abd", "c")), "send b 250");
    assert_eq!(stage.step(incomplete("abd", "c")), "send d 250");
    // Who is silent to the others has failed, and is tried all the same before the error.
    assert_eq!(stage.after(160, incomplete("abd", "c")), "send c 250");
    assert_eq!(
        stage.after(250, silent()),
        "ServiceUnavailable MAYBE: 'orders': not every node answered, and none that did has it. \
         na: no such name; nb: no such name; nd: no such name; nc: no answer in 0.25 s. Safe to retry."
    );
    assert_eq!(stage.attempts()[0], "a answer YES no such name; silent: nc | another server may know more");
}

#[test]
fn one_that_knows_more_ends_it() {
    let mut stage = Stage::new("abc", lookup("orders"));
    stage.introduce("abc");
    stage.start();
    assert_eq!(stage.step(incomplete("ab", "c")), "send b 250");
    assert_eq!(stage.step(not_found()), "NameNotFound YES: 'orders': no such name");
}

#[test]
fn who_is_silent_to_the_others_may_answer_the_client() {
    let mut stage = Stage::new("abc", lookup("orders"));
    stage.introduce("abc");
    stage.start();
    assert_eq!(stage.step(incomplete("a", "bc")), "send b 250");
    assert_eq!(stage.after(250, silent()), "send c 250");
    assert_eq!(stage.step(found()), "done found");
    let why: Vec<_> = stage.attempts().iter().map(ToString::to_string).collect();
    assert_eq!(why[0], "a answer YES no such name; silent: nb, nc | another server may know more");
}

#[test]
fn the_example_of_the_manual() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.introduce("ab");
    stage.start();
    assert_eq!(stage.step(incomplete("a", "c")), "send b 250");
    stage.now = ms(5000);
    assert_eq!(
        stage.step(incomplete("ab", "c")),
        "TimeLimitExceeded YES: 'orders': not answered in 5.0 s. na: no such name; nc: silent; nb: no such name. Safe to retry."
    );
}

#[test]
fn one_that_would_have_nothing_to_do_with_us_says_why() {
    let mut stage = Stage::new("ab", lookup("orders"));
    let other_cluster = || {
        let fault = fault(ErrorKind::Configuration, CompletionStatus::No, "this is the cluster 'other'");
        broke(Phase::Handshake, TransportErrorKind::Rejected(Box::new(fault)))
    };
    stage.start();
    assert_eq!(stage.step(other_cluster()), "send b 250");
    assert_eq!(stage.step(other_cluster()), "Configuration NO: 'orders': this is the cluster 'other'");
}

#[test]
fn a_local_context_has_one_server_and_never_another() {
    let local = ClientConfig { scope: Scope::Local, follow_views: false, ..config("a") };
    let mut stage = Stage::with(local.clone(), lookup("orders"));
    let id = stage.id('a');
    stage.fleet.welcomed(
        id,
        &welcome(crate::stage::member('a', 1, hanaming::topology::MemberState::Live), crate::stage::view("abc")),
        ms(0),
    );
    assert_eq!(stage.start(), "send a 250");
    assert_eq!(stage.request().scope, Scope::Local);
    assert_eq!(stage.step(lost_when_reused()), "send a 250 fresh");
    let pause = waited(&stage.step(lost()));
    assert_eq!(stage.after(pause + 1, Input::Woke), "send a 250");
    assert!(
        stage
            .step(connection_refused())
            .starts_with("ServiceUnavailable MAYBE: 'orders': no server can be reached. na: connection refused.")
    );
    let mut stage = Stage::with(local, bind("orders"));
    stage.start();
    assert!(stage.step(lost()).starts_with("Communication MAYBE"));
}

/// Invariant 13.
#[test]
fn the_first_retry_is_free_and_further_ones_draw_on_the_budget() {
    let mut stage = Stage::new("abcdefgh", lookup("orders"));
    // 10.2 are there: ten for the new client, a fifth for the request. The first retry is free.
    let drain = |stage: &mut Stage| {
        let mut output = stage.start();
        let mut sent = 0;
        while output.starts_with("send") {
            sent += 1;
            output = stage.step(connection_refused());
        }
        (sent, output)
    };
    let (sent, output) = drain(&mut stage);
    assert_eq!(sent, 8, "eight servers, six draws");
    assert!(output.starts_with("wait"));
    stage.again(lookup("orders"));
    let (sent, output) = drain(&mut stage);
    assert_eq!(sent, 2 + 4, "4.4 were left");
    // 0.4 are left, so a whole one is there after 60 ms.
    assert_eq!(output, "wait 60");
    assert_eq!(stage.after(59, Input::Woke), "wait 1");
    assert!(stage.after(1, Input::Woke).starts_with("send"));
}

#[test]
fn a_name_that_is_waited_for_is_asked_for_until_it_is_there() {
    let mut stage = Stage::new("ab", Invocation::wait_for(subject("orders")).unwrap());
    let mut output = stage.start();
    for answer in [not_found as fn() -> Input, || incomplete("a", "c"), connection_refused, not_found] {
        while !output.starts_with("send") {
            let pause = waited(&output);
            output = stage.after(pause + 1, Input::Woke);
        }
        output = stage.step(answer());
    }
    while !output.starts_with("send") {
        let pause = waited(&output);
        assert!(pause <= 100, "{pause}");
        output = stage.after(pause + 1, Input::Woke);
    }
    assert_eq!(stage.step(found()), "done found");

    let mut stage =
        Stage::with(ClientConfig { timeout: ms(100), ..config("a") }, Invocation::wait_for(subject("orders")).unwrap());
    let mut output = stage.start();
    let mut asked = 0;
    while stage.now < ms(100) {
        if output.starts_with("send") {
            asked += 1;
            output = stage.step(not_found());
        } else {
            let pause = waited(&output);
            output = stage.after(pause.max(1), Input::Woke);
        }
    }
    assert_eq!(output, "TimeLimitExceeded YES: 'orders': not bound in 0.1 s. 10.0.0.1:1: no such name. Safe to retry.");
    assert!((5..=20).contains(&asked), "asked {asked} times in 100 ms");
}

#[test]
fn quiesce_goes_to_one_node_and_never_to_another() {
    let mut stage = Stage::new("abc", Invocation::quiesce());
    assert_eq!(stage.start(), "send a 1000");
    assert_eq!(
        stage.step(connection_refused()),
        "ServiceUnavailable NO: no server can be reached. 10.0.0.1:1: connection refused. Safe to retry."
    );
    let mut stage = Stage::new("abc", Invocation::quiesce());
    stage.start();
    assert!(stage.step(refused(RefusalReason::Joining, 10)).starts_with("ServiceUnavailable NO"));
}

#[test]
fn a_call_that_is_given_up_says_what_is_known() {
    for (left, invocation, kind) in
        [(true, bind("orders"), "MAYBE"), (false, bind("orders"), "NO"), (true, lookup("orders"), "MAYBE")]
    {
        let mut stage = Stage::new("ab", invocation);
        stage.start();
        let id = stage.id('a');
        assert_eq!(stage.fleet.target(id).unwrap().outstanding, 1);
        let error = stage.call.abandon(&mut stage.fleet, ms(10), left);
        assert_eq!(error.fields().completion.as_str(), kind);
        assert_eq!(stage.fleet.target(id).unwrap().outstanding, 0);
        assert_eq!(error.fields().attempts[0].outcome, "given up by the caller");
    }
}

#[test]
fn host_names_are_waited_for_and_their_failure_is_an_attempt() {
    let h1 = hanaming::topology::Endpoint::new("h1", 1);
    let question = hanaming::discovery::Question::Addresses(h1.clone());
    let named = ClientConfig { seed: Some(1), ..ClientConfig::new(vec![h1]) };
    let stage = || {
        let fleet = crate::stage::fleet(&named, 3);
        let call = hanaming::client::Call::new(lookup("orders"), &named, ms(0), named.timeout);
        Stage { config: named.clone(), fleet, now: ms(0), call }
    };
    let mut known = stage();
    assert_eq!(known.start(), "wait 5000");
    assert_eq!(known.fleet.questions_due(ms(0)), std::slice::from_ref(&question));
    assert_eq!(known.fleet.questions_due(ms(0)), [], "it's being resolved");
    assert_eq!(known.after(1, Input::Woke), "wait 4999");
    known.fleet.told(&question, Ok(crate::stage::addresses("ab", 30)), ms(2));
    assert!(known.after(1, Input::Woke).starts_with("send "));
    assert_eq!(known.fleet.targets().map(|target| &*target.hostname).collect::<Vec<_>>(), ["h1", "h1"]);

    let mut unknown = stage();
    unknown.start();
    unknown.fleet.questions_due(ms(0));
    unknown.fleet.told(&question, Err("no such host".into()), ms(5));
    let pause = waited(&unknown.after(5, Input::Woke));
    assert!((79..=100).contains(&pause));
    assert_eq!(
        unknown.after(pause + 1, Input::Woke),
        "ServiceUnavailable NO: 'orders': no server can be reached. h1:1: name resolution failed: no such host. Safe to retry."
    );
    let attempts = unknown.call.trail().attempts();
    assert_eq!((attempts.len(), attempts[0].phase, attempts[0].target.as_str()), (2, Phase::Resolve, "h1:1"));
}

#[test]
fn an_answer_that_is_none_to_the_question_is_our_own_fault_to_report() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.start();
    assert_eq!(
        stage.step(crate::stage::written()),
        "Internal YES: 'orders': the node's answer is none to what was asked: a write"
    );
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.start();
    assert!(stage.step(failed(fault(ErrorKind::Internal, CompletionStatus::Maybe, "a fault"))).starts_with("Internal MAYBE"));
}

#[test]
fn a_wait_that_runs_out_tells_who_was_silent() {
    let mut stage = Stage::new("ab", Invocation::wait_for(subject("orders")).unwrap());
    stage.introduce("ab");
    stage.start();
    for _ in 0..3 {
        stage.step(incomplete("ab", "c"));
        let pause = waited(&stage.step(incomplete("ab", "c")));
        stage.after(pause + 1, Input::Woke);
    }
    stage.now = ms(5000);
    let error = stage.error(incomplete("ab", "c"));
    assert_eq!(error.to_string(), "'orders': not bound in 5.0 s. na: no such name; nb: no such name; nc: silent. Safe to retry.");
    let fields = error.fields();
    assert_eq!((fields.resolved_name.as_deref(), fields.remaining_name.as_deref()), (Some(""), Some("orders")));
    let Detail::Silence { answered, silent, .. } = &fields.detail else { panic!("{error:?}") };
    assert_eq!((answered.concat(), silent.concat()), ("nanb".to_owned(), "nc".to_owned()));
}

#[test]
fn what_the_end_of_a_wait_cuts_off_is_no_silence() {
    let mut stage = Stage::new("ab", Invocation::wait_for(subject("orders")).unwrap());
    stage.introduce("ab");
    stage.start();
    stage.step(incomplete("ab", "c"));
    waited(&stage.step(incomplete("ab", "c")));
    // Two milliseconds are left: whoever is asked has no time to ask the others, and then not even to answer.
    stage.now = ms(4998);
    assert!(stage.step(Input::Woke).starts_with("send "));
    stage.step(incomplete("a", "bc"));
    stage.now = ms(5000);
    let error = stage.error(broke(Phase::Wait, TransportErrorKind::TimedOut(ms(1))));
    assert_eq!(error.to_string(), "'orders': not bound in 5.0 s. na: no such name; nb: no such name; nc: silent. Safe to retry.");
    assert_eq!(error.fields().completion, CompletionStatus::Yes, "it was answered before");
}

#[test]
fn a_node_is_told_of_once_though_its_name_was_not_known_at_first() {
    let mut stage = Stage::new("ab", lookup("orders"));
    stage.start();
    stage.step(broke(Phase::Wait, TransportErrorKind::TimedOut(ms(250))));
    // Now a server tells who is there.
    stage.introduce("ab");
    stage.now = ms(5000);
    let error = stage.error(incomplete("b", "a"));
    assert_eq!(error.to_string(), "'orders': not answered in 5.0 s. na: silent; nb: no such name. Safe to retry.");
    let Detail::Silence { answered, silent, .. } = &error.fields().detail else { panic!("{error:?}") };
    assert_eq!((answered.concat(), silent.concat()), ("nb".to_owned(), "na".to_owned()));
}

#[test]
fn a_wait_that_is_given_up_has_no_answer() {
    let mut stage = Stage::new("a", Invocation::wait_for(subject("orders")).unwrap());
    stage.start();
    waited(&stage.step(not_found()));
    let error = stage.call.abandon(&mut stage.fleet, stage.now, false);
    assert_eq!((error.fields().completion, error.safe_to_retry()), (CompletionStatus::Maybe, true));
}

/// A frozen owner costs a change little more than a node waits for a silent one: the others know its id.
#[test]
fn a_server_that_answers_at_once_as_a_rule_is_not_waited_for_long_where_another_would_know_the_change() {
    let answers_in = |millis: u64, config: ClientConfig| {
        let mut stage = Stage::with(config, bind("orders"));
        for _ in 0..2 {
            assert!(stage.start().ends_with(" 1000"), "nothing is known of it yet");
            assert!(stage.after(millis, written()).starts_with("done written"));
            stage.again(bind("orders"));
        }
        stage
    };
    let mut stage = answers_in(2, config("ab"));
    assert_eq!(stage.start(), "send a 265");
    assert_eq!(stage.after(265, silent()), "send b 1000");
    assert!(stage.request().is_retry);
    assert_eq!(answers_in(50, config("ab")).start(), "send a 1000", "it may just have much to do");
    assert_eq!(answers_in(2, config("a")).start(), "send a 1000");
    let local = ClientConfig { scope: Scope::Local, ..config("ab") };
    assert_eq!(answers_in(2, local).start(), "send a 1000");
}
