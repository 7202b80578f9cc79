//! The rules of 4.2 and 4.3, and the whole matrix of verdicts.

use std::fmt::Write;

use hanaming::failure::verdict::{Need, action_for};
use hanaming::failure::{Category, Chain, CompletionStatus, Link, Minor, Phase, Thrown, Verdict, classify_chain, corba};

fn thrown(class: &str, message: &str, link: Link) -> Thrown {
    Thrown { link, ..Thrown::new(class, message) }
}

fn verdict(thrown: &[Thrown]) -> Verdict {
    classify_chain(&Chain { thrown: thrown.to_vec(), ..Chain::default() })
}

/// Each category with each status: what to do once, where running it twice does harm and where it doesn't, with and
/// without another server.
#[test]
fn the_matrix_of_verdicts() {
    let mut table = String::new();
    for category in Category::ALL {
        for completion in [CompletionStatus::No, CompletionStatus::Yes, CompletionStatus::Maybe] {
            let action = |need, candidates| action_for(category, completion, need, candidates).as_str();
            let row = [(Need::EFFECT, true), (Need::VALUE, true), (Need::EFFECT, false), (Need::VALUE, false)]
                .map(|(need, left)| action(need, left));
            let _ = writeln!(
                table,
                "{:<24}{:<6}{}",
                category.as_str(),
                completion.as_str(),
                row.map(|word| format!("{word:<12}")).concat().trim_end()
            );
        }
    }
    insta::assert_snapshot!(table);
}

/// Each minor code under each class, so that a change of the table is seen.
#[test]
fn the_matrix_of_minor_codes() {
    let mut table = String::new();
    let mut minors: Vec<Minor> =
        hanaming::failure::tables::corba_minors::MINORS.iter().map(|row| Minor::of(row.1, row.2)).collect();
    minors.sort_unstable();
    minors.dedup();
    for minor in minors {
        for (class, meaning) in corba::explain(minor) {
            let (category, completion) = (meaning.category, meaning.completion);
            let _ = writeln!(
                table,
                "{minor} {:<10}{:>5} {class:<24}{completion:<6}{category:<24}{}",
                minor.vendor_name(),
                minor.low(),
                meaning.detail
            );
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn one_number_has_a_meaning_for_each_class() {
    let found: Vec<_> =
        corba::explain(Minor(0x4942_1040)).into_iter().map(|(class, meaning)| (class, meaning.category)).collect();
    assert_eq!(
        found,
        [
            ("TRANSIENT", Category::Quiescing),
            ("NO_IMPLEMENT", Category::AllUnavailable),
            ("INTERNAL", Category::WorkloadManagerFault)
        ]
    );
}

#[test]
fn the_deepest_known_exception_decides_whatever_the_wrappers_say() {
    let seen = verdict(&[
        thrown("java.rmi.RemoteException", "call failed", Link::Outermost),
        thrown("com.example.WrapperException", "", Link::Cause),
        thrown("java.net.SocketTimeoutException", "Read timed out", Link::Cause),
    ]);
    assert_eq!((seen.category, seen.completion), (Category::NoResponse, Some(CompletionStatus::Maybe)));
}

#[test]
fn what_each_server_would_refuse_decides_wherever_it_stands() {
    let seen = verdict(&[
        thrown("javax.net.ssl.SSLHandshakeException", "bad certificate", Link::Outermost),
        thrown("java.net.SocketException", "Connection reset", Link::Cause),
    ]);
    assert_eq!(seen.category, Category::Security);
}

#[test]
fn shutdown_noise_never_beats_an_earlier_failure() {
    let seen = verdict(&[
        thrown("ConnectionResetError", "", Link::Outermost),
        thrown("RuntimeError", "cannot schedule new futures after shutdown", Link::Context),
    ]);
    assert_eq!(seen.category, Category::ConnectionLost);
}

/// A server's inner call says nothing of the client's own request.
#[test]
fn a_status_below_the_server_s_border_does_not_count() {
    let inner = Thrown {
        completed: Some(CompletionStatus::No),
        minor: Some(Minor(0x5355_00C9)),
        ..thrown("org.omg.CORBA.COMM_FAILURE", "", Link::Nested)
    };
    let own = verdict(&[thrown("java.rmi.RemoteException", "", Link::Outermost), inner.clone()]);
    assert_eq!(own.completion, Some(CompletionStatus::No));
    let servers =
        verdict(&[thrown("java.rmi.ServerException", "RemoteException occurred in server thread", Link::Outermost), inner]);
    assert_eq!((servers.completion, servers.category), (Some(CompletionStatus::Maybe), Category::Application));
}

#[test]
fn the_phase_tells_a_reset_while_connecting_from_one_while_waiting() {
    let reset = |phase| verdict(&[Thrown { phase: Some(phase), ..thrown("ConnectionResetError", "", Link::Outermost) }]);
    assert_eq!(reset(Phase::Connect).completion, Some(CompletionStatus::No));
    assert_eq!(reset(Phase::Wait).completion, Some(CompletionStatus::Maybe));
}

#[test]
fn doubt_lowers_the_confidence() {
    let minor = |minor_in_doubt| {
        verdict(&[Thrown { minor: Some(Minor(0x4942_1040)), minor_in_doubt, ..thrown("TRANSIENT", "", Link::Outermost) }])
    };
    assert!(minor(true).confidence < minor(false).confidence);
    let weak = |minor| {
        verdict(&[Thrown {
            minor: Some(minor),
            completed: Some(CompletionStatus::No),
            ..thrown("COMM_FAILURE", "", Link::Outermost)
        }])
    };
    assert!(weak(Minor(0)).confidence < weak(Minor(0x4942_FE02)).confidence);
}

#[test]
fn a_list_that_is_exhausted_has_the_worst_of_its_parts() {
    let part = |class: &str, message: &str| vec![thrown(class, message, Link::Outermost)];
    let list = |parts| {
        classify_chain(&Chain {
            thrown: vec![thrown("ExhaustedDestinationsException", "WFNAM00055: No more destinations", Link::Outermost)],
            parts,
            ..Chain::default()
        })
    };
    let refused = || part("java.net.ConnectException", "Connection refused");
    let all_refused = list(vec![refused(), refused()]);
    assert_eq!((all_refused.completion, all_refused.action.as_str()), (Some(CompletionStatus::No), "retry_later"));
    let one_lost = list(vec![refused(), part("java.nio.channels.ClosedChannelException", "")]);
    assert_eq!((one_lost.completion, one_lost.action.as_str()), (Some(CompletionStatus::Maybe), "retry_later"));
}
