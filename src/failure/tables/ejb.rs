//! The EJB and naming clients of `WildFly` and `JBoss`, by their message codes.

use crate::failure::Category::{AllUnavailable, ConnectionLost, NoResponse, NotAFailure, NotConnected, Quiescing, Security};
use crate::failure::rule::{Meaning, Rule};

/// Codes of a server that is itself starting up: there is no other candidate then.
pub const OWN_START_UP: &[&str] = &["EJB5090"];

/// Codes that say that a list of destinations is exhausted; the suppressed parts say what became of each.
pub const EXHAUSTED_BY_PARTS: &[&str] = &["EJBCLIENT000409", "WFNAM00055"];

/// The rows.
pub const RULES: &[Rule] = &[
    Rule::code(
        &["EJBCLIENT000024", "EJBCLIENT000025", "EJBCLIENT000027", "EJBCLIENT000028", "EJBCLIENT000029", "EJBCLIENT000079"],
        Meaning::no(AllUnavailable, "all_targets_unavailable", "no receiver was there to send to").last().trust(95),
    ),
    // By the parts; without them the result was awaited, or the list is exhausted: see `classify`.
    Rule::code(
        &["EJBCLIENT000409"],
        Meaning::maybe(ConnectionLost, "comm_lost", "the outcome at the last destination is not known"),
    ),
    Rule::code(&["WFNAM00055"], Meaning::maybe(AllUnavailable, "all_targets_unavailable", "each destination was tried").last()),
    Rule::code(
        &["EJBCLIENT000062", "EJBCLIENT000065"],
        Meaning::maybe(ConnectionLost, "comm_lost", "the answer could not be had"),
    ),
    Rule::code(&["EJBCLIENT000402"], Meaning::maybe(ConnectionLost, "comm_lost", "the invocation was cut off")),
    Rule::code(&["EJBCLIENT000403"], Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time")),
    Rule::code(&["WFNAM00059"], Meaning::yes(NotAFailure, "not_a_failure", "it is a notice")),
    Rule::code(&["WFNAM00018"], Meaning::no(NotConnected, "connect_failed", "the connection could not be made").wrapper()),
    Rule::code(
        &["WFNAM00047"],
        Meaning::no(Quiescing, "destination_blocked", "the destination is left out for a time").wrapper(),
    ),
    Rule::code(&["JBREM000200"], Meaning::no(Security, "authentication", "the connection's authentication failed").decisive())
        .words(&["sasl", "authentication", "credential"]),
    Rule::code(&["JBREM000200"], Meaning::maybe(ConnectionLost, "comm_lost", "the remote connection failed").wrapper()),
    Rule::code(
        &["JBREM000201", "JBREM000202"],
        Meaning::maybe(ConnectionLost, "comm_lost", "the remote connection broke").wrapper(),
    ),
    Rule::code(&["EJB5090"], Meaning::no(Quiescing, "server_not_ready", "the server is starting up").wrapper().last()),
    Rule::class(
        &["RequestSendFailedException"],
        Meaning::no(NotConnected, "connect_failed", "the destination could not be reached"),
    )
    .words(&["error in connecting to destination"]),
    Rule::class(
        &["RequestSendFailedException"],
        Meaning::maybe(ConnectionLost, "comm_lost", "its class says: outcome unknown").wrapper(),
    ),
    Rule::class(
        &["TimeoutException", "EJBException"],
        Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time"),
    )
    .words(&["no invocation response received"]),
];
