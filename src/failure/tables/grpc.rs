//! gRPC's statuses, in every language's spelling: the code is the symbol, the details are words of the library.

use crate::failure::Category::{
    Application, ClientShutdown, Configuration, ConnectionLost, NamingAnswer, NoResponse, NotConnected, Quiescing,
    ResourceExhausted, Security, TransactionRolledBack, Unknown,
};
use crate::failure::rule::{Meaning, Rule};

/// What a status hangs on: Java, Python, Go's `rpc error`, a mapping.
const CALL: &[&str] = &[
    "StatusRuntimeException",
    "StatusException",
    "RpcError",
    "_InactiveRpcError",
    "_MultiThreadedRendezvous",
    "_Rendezvous",
    "AioRpcError",
    "RpcException",
    "ServiceError",
    "grpc",
    "_SingleThreadedRendezvous",
];

/// The rows.
pub const RULES: &[Rule] = &[
    unavailable(&["certificate", "cert_", "trust anchor", "verification check failed"], TLS_TRUST),
    unavailable(&["handshake", "ssl_error", "wrong_version_number", "tls", "ssl routines"], TLS),
    unavailable(
        &["http2 preface", "not an http/2", "invalid http response", "failed parsing http/2", "http status code 4"],
        PROTOCOL,
    ),
    unavailable(
        &[
            "name resolution",
            "dns resolution",
            "lookup failed",
            "errors resolving",
            "resolve host",
            "no such host",
            "resolver",
            "getaddrinfo",
            "unable to resolve",
        ],
        Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved"),
    ),
    // No channel ever stood, so nothing was sent, whatever ended the last try.
    unavailable(&["connection refused", "refused (111)"], REFUSED),
    unavailable(&["failed to connect to all addresses"], CONNECT).without(&["timed out", "timeout"]),
    unavailable(&["goaway", "graceful_stop", "socket closed", "stream removed", "connection reset", "broken pipe"], LOST),
    unavailable(&["refused"], REFUSED),
    unavailable(
        &[
            "connection timed out",
            "connect timed out",
            "connection attempt timed out",
            "failed to connect before the deadline",
            "i/o timeout",
        ],
        Meaning::no(NotConnected, "connect_timeout", "the connect timed out"),
    ),
    unavailable(
        &[
            "failed to connect",
            "connect failed",
            "no connection established",
            "error while dialing",
            "failed to pick subchannel",
            "dial tcp",
            "connection failure",
            "no route to host",
            "unreachable",
            "tcp connect error",
        ],
        CONNECT,
    ),
    unavailable(
        &["no healthy upstream", "shutting down", "server is draining", "not ready"],
        Meaning::no(Quiescing, "server_not_ready", "no server was ready").trust(70),
    ),
    unavailable(&["channel shutdown", "channel closed", "channel is shut", "shutdownnow"], SHUT),
    unavailable(&[], LOST.trust(75)),
    status(&["DEADLINE_EXCEEDED", "DeadlineExceeded"], Meaning::maybe(NoResponse, "deadline_exceeded", "the deadline passed")),
    status(&["CANCELLED", "Canceled", "Cancelled"], SHUT_CANCELLED).words(&[
        "channel shutdown",
        "channel closed",
        "locally cancelled",
    ]),
    status(&["CANCELLED", "Canceled", "Cancelled"], Meaning::maybe(NoResponse, "cancelled", "the call was cancelled")),
    status(
        &["RESOURCE_EXHAUSTED", "ResourceExhausted"],
        Meaning::no(ResourceExhausted, "resource_exhausted", "the server has no room for the call"),
    ),
    status(
        &["UNAUTHENTICATED", "Unauthenticated"],
        Meaning::no(Security, "authentication", "the caller is not known").decisive(),
    ),
    status(&["PERMISSION_DENIED", "PermissionDenied"], Meaning::no(Security, "permission", "permission was refused").decisive()),
    status(
        &["INVALID_ARGUMENT", "InvalidArgument", "OUT_OF_RANGE", "OutOfRange"],
        Meaning::no(Application, "invalid_argument", "the server refused the arguments"),
    ),
    status(
        &["FAILED_PRECONDITION", "FailedPrecondition"],
        Meaning::no(Application, "failed_precondition", "the server is not in the state that the call needs"),
    ),
    status(
        &["UNIMPLEMENTED", "Unimplemented"],
        Meaning::no(Configuration, "unimplemented", "the server does not know the method"),
    ),
    status(&["NOT_FOUND", "NotFound"], Meaning::yes(NamingAnswer, "not_found", "the server answered: not found")),
    status(&["ALREADY_EXISTS", "AlreadyExists"], Meaning::yes(NamingAnswer, "already_exists", "the server answered: it exists")),
    status(&["ABORTED", "Aborted"], Meaning::maybe(TransactionRolledBack, "aborted", "the server gave the transaction up")),
    status(&["INTERNAL", "Internal"], Meaning::maybe(Unknown, "grpc_internal", "something broke inside").trust(60)),
    status(&["DATA_LOSS", "DataLoss"], Meaning::maybe(Application, "data_loss", "the server lost data")),
    status(&["UNKNOWN", "Unknown"], Meaning::maybe(Unknown, "grpc_unknown", "the server gave no known status").trust(60)),
];

const fn status(codes: &'static [&'static str], meaning: Meaning) -> Rule {
    Rule::class(CALL, meaning).codes(codes)
}

const fn unavailable(words: &'static [&'static str], meaning: Meaning) -> Rule {
    status(&["UNAVAILABLE", "Unavailable"], meaning).words(words)
}

const TLS: Meaning = Meaning::no(Security, "tls_handshake", "the TLS handshake failed").decisive();
const TLS_TRUST: Meaning = Meaning::no(Security, "tls_trust", "the peer's certificate was not trusted").decisive();
const PROTOCOL: Meaning = Meaning::no(Configuration, "protocol_mismatch", "the peer speaks another protocol").decisive();
const REFUSED: Meaning = Meaning::no(NotConnected, "connect_refused", "the connection was refused");
const CONNECT: Meaning = Meaning::no(NotConnected, "connect_failed", "no connection could be made");
const LOST: Meaning = Meaning::maybe(ConnectionLost, "comm_lost", "the connection was lost, perhaps with the call under way");
const SHUT: Meaning = Meaning::no(ClientShutdown, "channel_shut_down", "the client's channel was shut down");
const SHUT_CANCELLED: Meaning =
    Meaning::maybe(ClientShutdown, "channel_shut_down", "the client's channel was shut down during the call");
