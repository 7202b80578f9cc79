//! JNP (the old `JBoss` naming), `WebLogic`, and what their words tell.

use crate::failure::Category::{AllUnavailable, Configuration, ConnectionLost, NoResponse, NotConnected, Security};
use crate::failure::rule::{Meaning, Rule};

/// The words by which JNP says that each of its URLs was tried.
pub const ANY_OF_THESE_URLS: &str = "could not obtain connection to any of these urls";

/// The rows.
pub const RULES: &[Rule] = &[
    // A connection pool says the same of its jdbc: URLs; that is another matter, and no naming failure.
    Rule::class(&["SQLException"], Meaning::maybe(ConnectionLost, "database", "the database could not be reached").wrapper()),
    Rule::class(&[], Meaning::no(AllUnavailable, "all_targets_unavailable", "each of the URLs was tried").last())
        .words(&[ANY_OF_THESE_URLS])
        .without(&["urls: jdbc:", "urls:jdbc:"]),
    Rule::class(
        &["NamingException", "CommunicationException"],
        Meaning::no(AllUnavailable, "all_targets_unavailable", "each of the servers was tried").last(),
    )
    .words(&["failed to connect to any server"]),
    Rule::class(&["SocketTimeoutException", "CommunicationException"], DISCOVERY).words(&["receive timed out"]).beside(&[
        "discoverServer",
        "MulticastSocket",
        "DatagramSocket",
        "discovery failed",
    ]),
    Rule::class(&["SocketTimeoutException", "CommunicationException", "InterruptedIOException"], READ_TIMEOUT)
        .words(&["receive timed out"]),
    Rule::class(
        &["CommunicationException"],
        Meaning::no(NotConnected, "connect_failed", "the naming server could not be reached").wrapper(),
    )
    .words(&["failed to connect to server"]),
    Rule::class(
        &["CommunicationException"],
        Meaning::maybe(ConnectionLost, "comm_lost", "the naming server's stub did not come").wrapper(),
    )
    .words(&["failed to retrieve stub from server"]),
    Rule::class(&[], Meaning::no(Configuration, "protocol_mismatch", "the peer speaks another protocol").decisive())
        .words(&["tunneling result unspecified", "tunneling result not ok"]),
    Rule::class(&[], Meaning::no(Security, "tls_trust", "the peer's certificate was not trusted").decisive())
        .words(&["was not trusted causing ssl handshake failure"]),
    Rule::class(&["ConnectException", "CommunicationException", "RemoteException"], UNREACHABLE.wrapper())
        .words(&["destination unreachable", "no available router to destination"])
        .without(&["refused", "timed out"]),
    Rule::class(&["PeerGoneException"], Meaning::maybe(ConnectionLost, "peer_gone", "the peer is gone")),
    Rule::class(&["RequestTimeoutException"], Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time")),
    Rule::class(
        &["ServerGoneException", "DeadServerException"],
        Meaning::maybe(ConnectionLost, "peer_gone", "the server is gone"),
    ),
];

const DISCOVERY: Meaning = Meaning::no(NotConnected, "discovery_timeout", "no server answered the multicast query").last();
const READ_TIMEOUT: Meaning = Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time");
const UNREACHABLE: Meaning = Meaning::no(NotConnected, "unreachable", "the destination could not be reached");
