//! CORBA exceptions that only their words or frames tell apart: ORBs that print no minor code, and known liars.

use crate::failure::Category::{ClientShutdown, ConnectionLost, NoResponse, NotConnected};
use crate::failure::rule::{Meaning, Rule};

/// The rows. Each names its class, so a minor code of that class, where it has a meaning, still counts first.
pub const RULES: &[Rule] = &[
    Rule::class(&["TIMEOUT"], Meaning::no(NotConnected, "timeout_before_send", "the time ran out before sending"))
        .words(&["prior to invocation"]),
    // The default constructor of the JDK's org.omg classes says NO, that of the OMG's own says MAYBE.
    Rule::class(&["TIMEOUT"], REPLY_END_TIME).words(&["reply end time exceeded"]),
    Rule::class(&["COMM_FAILURE"], READ_FAILED).words(&["did not return any data", "read() ", "error reading", "failed to read"]),
    Rule::class(&["COMM_FAILURE"], READ_FAILED).beside(JACORB_READS),
    // Its other words for the same, "client timeout reached".
    Rule::class(&["TIMEOUT"], REPLY_END_TIME).beside(JACORB_READS),
    Rule::class(&["TRANSIENT", "COMM_FAILURE"], CONNECT).words(&[
        "couldn't reconnect to",
        "establish connection failed",
        "connection refused",
        "connect failed",
        "unable to connect",
    ]),
    Rule::class(&["TRANSIENT"], Meaning::maybe(NoResponse, "timeout", "the call's time ran out")).words(&[
        "timed out",
        "timedout",
        "time out",
        "timeout",
    ]),
    Rule::class(&["BAD_INV_ORDER", "INITIALIZE"], Meaning::no(ClientShutdown, "orb_shut_down", "the local ORB has shut down"))
        .words(&["shut down", "shutdown", "destroyed"]),
    Rule::class(&["TRANSIENT", "COMM_FAILURE"], CONNECT).codes(&["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH"]),
    Rule::class(&["TRANSIENT", "COMM_FAILURE"], Meaning::no(NotConnected, "connect_timeout", "the connect timed out"))
        .codes(&["ETIMEDOUT"])
        .connecting(),
    Rule::class(&["TRANSIENT", "COMM_FAILURE"], Meaning::maybe(NoResponse, "timeout", "the system's time ran out"))
        .codes(&["ETIMEDOUT", "ETIME"]),
    Rule::class(&["TRANSIENT", "COMM_FAILURE"], LOST).codes(&["ECONNRESET", "EPIPE", "ECONNABORTED"]),
];

/// Frames of `JacORB` behind which the request had been sent: its reply is waited for, or read.
const JACORB_READS: &[&str] = &[
    "org.jacorb.orb.ReplyReceiver.",
    "org.jacorb.orb.ReplyPlaceholder.",
    "org.jacorb.orb.giop.ReplyPlaceholder.",
    "org.jacorb.orb.giop.MessageReceptor.",
    "org.jacorb.orb.etf.StreamConnectionBase.read",
    "GIOPConnection.getMessage",
    "GIOPConnection.receiveMessages",
];

const REPLY_END_TIME: Meaning =
    Meaning::maybe(NoResponse, "timeout_waiting_reply", "the reply's time ran out after sending").liar();
const READ_FAILED: Meaning =
    Meaning::maybe(ConnectionLost, "comm_lost_waiting_reply", "reading failed while the reply was awaited").liar();
const CONNECT: Meaning = Meaning::no(NotConnected, "connect_refused", "the connection could not be made").trust(80);
const LOST: Meaning = Meaning::maybe(ConnectionLost, "comm_lost", "the connection was reset");
