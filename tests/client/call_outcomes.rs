//! The table of failover: what each outcome of the first attempt leads to, for a lookup, for a bind in a node's local tree,
//! which recognises nothing, and for one in the cluster tree, which recognises what it is sent again.

use hanaming::client::{ClientConfig, Input};
use hanaming::failure::{CompletionStatus, Phase};
use hanaming::naming::ErrorKind;
use hanaming::protocol::{Outcome, ProtocolError, RefusalReason, Scope};
use hanaming::transport::TransportErrorKind;

use crate::stage::{
    Stage, bind, broke, broken_body, config, failed, fault, found, lookup, lost, ms, not_found, refusal, refused, silent, written,
};

const IT_RAN: &str = "It may have run: look before sending it again.";

/// What happens, and what a lookup and a bind do then.
type Row = (&'static str, fn() -> Input, &'static str, String);

fn outcomes() -> Vec<Row> {
    let maybe = |what: &str, who: &str| format!("Communication MAYBE: 'orders': {what}. {who}. {IT_RAN}");
    let broke_off = "it was sent, and the connection broke before the answer";
    vec![
        (
            "the name does not resolve",
            || broke(Phase::Resolve, TransportErrorKind::Resolution("no such host".into())),
            "send b 250",
            "send b 1000".into(),
        ),
        ("nobody listens", || broke(Phase::Connect, TransportErrorKind::Refused), "send b 250", "send b 1000".into()),
        ("no way there", || broke(Phase::Connect, TransportErrorKind::Unreachable), "send b 250", "send b 1000".into()),
        (
            "no connection in time",
            || broke(Phase::Connect, TransportErrorKind::TimedOut(ms(250))),
            "send b 250",
            "send b 1000".into(),
        ),
        (
            "it's no server of ours",
            || broke(Phase::Handshake, TransportErrorKind::Protocol(ProtocolError::NotHanaming)),
            "send b 250",
            "send b 1000".into(),
        ),
        (
            "the hello is refused by a node that is leaving",
            || broke(Phase::Handshake, TransportErrorKind::Rejected(Box::new(refusal(RefusalReason::Quiescing, 50)))),
            "send b 250",
            "send b 1000".into(),
        ),
        ("the request left in part", || broke(Phase::Send, TransportErrorKind::Lost), "send b 250", "send b 1000".into()),
        ("the node is leaving", || refused(RefusalReason::Quiescing, 50), "send b 250", "send b 1000".into()),
        ("the node is joining", || refused(RefusalReason::Joining, 50), "send b 250", "send b 1000".into()),
        ("the node has too much to do", || refused(RefusalReason::Overloaded, 50), "send b 250", "send b 1000".into()),
        ("the node is closed", || refused(RefusalReason::Closed, 0), "send b 250", "send b 1000".into()),
        (
            "the node could not begin",
            || failed(fault(ErrorKind::ServiceUnavailable, CompletionStatus::No, "the disk is full")),
            "send b 250",
            "send b 1000".into(),
        ),
        ("the connection broke while waiting", lost, "send b 250", maybe(broke_off, "10.0.0.1:1: connection lost")),
        (
            "no answer in time",
            silent,
            "send b 250",
            maybe("it was sent, and not answered in 0.25 s", "10.0.0.1:1: no answer in 0.25 s"),
        ),
        (
            "the node does not know how it ended",
            || failed(fault(ErrorKind::ServiceUnavailable, CompletionStatus::Maybe, "the owner fell silent")),
            "send b 250",
            "ServiceUnavailable MAYBE: 'orders': the owner fell silent".into(),
        ),
        (
            "it was done, and the answer's body is lost",
            || broken_body(Outcome::Done),
            "send b 250",
            "done written by 10.0.0.1:1".into(),
        ),
        (
            "it was answered, and the answer's body is lost",
            || broken_body(Outcome::Failed(ErrorKind::NameAlreadyBound)),
            "send b 250",
            "NameAlreadyBound YES: 'orders': the node's answer came without its details: only its kind is known".into(),
        ),
        (
            "only the header of something indefinite came",
            || broken_body(Outcome::Failed(ErrorKind::ServiceUnavailable)),
            "send b 250",
            maybe(broke_off, "10.0.0.1:1: connection lost"),
        ),
        (
            "no such name",
            not_found,
            "NameNotFound YES: 'orders': no such name",
            "NameNotFound YES: 'orders': no such name".into(),
        ),
        (
            "it isn't supported",
            || failed(fault(ErrorKind::OperationNotSupported, CompletionStatus::No, "not in a cluster of more")),
            "OperationNotSupported NO: 'orders': not in a cluster of more",
            "OperationNotSupported NO: 'orders': not in a cluster of more".into(),
        ),
        (
            "it's over a frame's limit",
            || {
                let error = ProtocolError::MessageTooLong { length: 5, limit: 4 };
                broke(Phase::Send, TransportErrorKind::Protocol(error))
            },
            "LimitExceeded NO: 'orders': a message of 5 bytes does not fit a frame of 4",
            "LimitExceeded NO: 'orders': a message of 5 bytes does not fit a frame of 4".into(),
        ),
    ]
}

#[test]
fn each_outcome_leads_a_lookup_where_the_table_says() {
    for (what, input, expected, _) in outcomes() {
        let mut stage = Stage::new("abc", lookup("orders"));
        assert_eq!(stage.start(), "send a 250");
        assert_eq!(stage.after(250, input()), expected, "{what}");
    }
}

/// Invariant 12.
#[test]
fn each_outcome_leads_a_bind_in_a_local_tree_where_the_table_says() {
    for (what, input, _, expected) in outcomes() {
        let mut stage = Stage::with(ClientConfig { scope: Scope::Local, ..config("abc") }, bind("orders"));
        assert_eq!(stage.start(), "send a 1000");
        assert_eq!(stage.after(250, input()), expected, "{what}");
        assert!(!expected.starts_with("send") || !stage.request().is_retry, "{what}: it did not run");
    }
}

/// Invariant 12.
#[test]
fn a_bind_in_the_cluster_tree_is_sent_again_under_its_id() {
    for (what, input, _, local) in outcomes() {
        let mut stage = Stage::new("abc", bind("orders"));
        assert_eq!(stage.start(), "send a 1000");
        let sent = stage.request().operation_id;
        assert!(sent.is_some() && !stage.request().is_retry);
        // The cluster says again what it said, where that was lost.
        let may_have_run = local.contains(" MAYBE") || what.contains("body is lost");
        let expected = if may_have_run { "send b 1000" } else { local.as_str() };
        assert_eq!(stage.after(250, input()), expected, "{what}");
        if expected.starts_with("send") {
            assert_eq!(stage.request().operation_id, sent, "{what}: all attempts of one mutation bear one id");
            assert_eq!(stage.request().is_retry, may_have_run, "{what}");
        }
    }
}

#[test]
fn a_change_that_nobody_can_settle_is_raised_with_maybe() {
    let mut stage = Stage::new("ab", bind("orders"));
    stage.start();
    assert_eq!(stage.after(1000, silent()), "send b 1000");
    assert!(stage.after(1000, lost()).starts_with("wait"));
    let error = stage.after(3000, Input::Woke);
    assert!(error.starts_with("TimeLimitExceeded MAYBE") && error.ends_with(IT_RAN), "{error}");
    assert_eq!(stage.attempts()[0], "a wait MAYBE no answer in 1.0 s | it may have run; sent again under its id it runs once");
}

#[test]
fn what_may_have_run_is_told_although_the_node_refused_later() {
    let mut stage = Stage::with(ClientConfig { timeout: ms(4000), ..config("ab") }, bind("orders"));
    stage.start();
    stage.after(1000, lost());
    let mut output = stage.after(1, refused(RefusalReason::Joining, 500));
    while !output.starts_with("TimeLimitExceeded") {
        output = match output.split_whitespace().next() {
            Some("send") => stage.after(1, refused(RefusalReason::Joining, 500)),
            Some("wait") => stage.after(500, Input::Woke),
            _ => panic!("{output}"),
        };
    }
    let told = "10.0.0.1:1: connection lost, then refused: joining; 10.0.0.2:1: refused: joining. It may have run";
    assert!(output.contains(told), "{output}");
}

#[test]
fn an_answer_is_given_and_tells_its_attempt() {
    let mut stage = Stage::new("abc", lookup("orders"));
    stage.start();
    assert_eq!(stage.after(1, found()), "done found");
    assert_eq!(stage.attempts(), ["a answer YES found | -"]);

    let mut stage = Stage::new("abc", bind("orders"));
    stage.start();
    stage.after(1, broke(Phase::Connect, TransportErrorKind::Refused));
    assert_eq!(stage.after(1, written()), "done written by na");
    assert_eq!(stage.attempts(), ["a connect NO connection refused | the request did not run there", "b answer YES done | -"]);
}

#[test]
fn an_error_says_whether_it_is_safe_to_send_it_again() {
    type Row = (fn() -> Input, bool, bool);
    let table: [Row; 3] = [
        (lost, true, false),
        (not_found, false, false),
        (|| failed(fault(ErrorKind::OperationNotSupported, CompletionStatus::No, "no")), true, true),
    ];
    for (input, lookup_safe, bind_safe) in table {
        for (invocation, safe) in [(lookup("x"), lookup_safe), (bind("x"), bind_safe)] {
            let mut stage = Stage::new("a", invocation);
            let mut call = stage.call;
            let mut input = input();
            let mut output = call.step(&mut stage.fleet, stage.now, Input::Start);
            let error = loop {
                output = match output {
                    hanaming::client::Output::Done(result) => break result.unwrap_err(),
                    hanaming::client::Output::Wait { until } => {
                        stage.now = until;
                        call.step(&mut stage.fleet, stage.now, Input::Woke)
                    }
                    hanaming::client::Output::Send(_) => {
                        let next = std::mem::replace(&mut input, lost());
                        call.step(&mut stage.fleet, stage.now, next)
                    }
                };
            };
            assert_eq!(error.safe_to_retry(), safe, "{error}");
        }
    }
}
