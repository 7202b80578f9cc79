//! Programs that print no class: Go's network library, curl, Rust's. The words are the programs' own and in one language.

use crate::failure::Category::{Application, Configuration, ConnectionLost, NoResponse, NotConnected, Security};
use crate::failure::rule::{Meaning, Rule};

/// The words with which such a failure begins, and what follows them where it is one.
pub const OPENINGS: &[(&str, &str)] = &[
    ("dial tcp", ":"),
    ("dial unix", ":"),
    ("read tcp ", ":"),
    ("write tcp ", ":"),
    ("Get \"http", "\":"),
    ("Post \"http", "\":"),
    ("Put \"http", "\":"),
    ("Patch \"http", "\":"),
    ("Delete \"http", "\":"),
    ("Head \"http", "\":"),
    ("context deadline exceeded", ""),
    ("net/http: ", ""),
    ("http2: ", ""),
    ("stream error: stream ID ", ""),
    ("http: server closed", ""),
    ("curl: (", ") "),
    // JacORB's log, without the class.
    ("Retries exceeded, couldn't reconnect to ", ""),
    ("error sending request", ""),
    ("Connection refused (os error", ""),
    ("Connection reset by peer (os error", ""),
    ("Connection timed out (os error", ""),
    ("Broken pipe (os error", ""),
    ("No route to host (os error", ""),
    ("Network is unreachable (os error", ""),
];

/// Words by which a program brings a server's answer: the exception behind them was thrown there.
pub const ANSWERS: &[&str] = &[
    "server replied",
    "server responded",
    "server returned",
    "server answered",
    "server said",
    "remote side said",
    "responded with",
    "http 500",
    "status 500",
    "status code 500",
    "status code: 500",
];

/// What Node says behind a bare `Error: `.
pub const NODE: &[&str] = &["socket hang up", "certificate", "before secure TLS connection"];
const NODE_CLASSES: &[&str] = &["Error", "FetchError", "AxiosError"];

/// The rows.
pub const RULES: &[Rule] = &[
    plain(TRUST, &["x509:", "curl: (60)", "curl: (51)"]),
    plain(HANDSHAKE, &["remote error: tls:", "tls: handshake", "tls: failed to verify", "curl: (35)"]),
    plain(
        SPEECH,
        &["tls: first record does not look like", "server gave http response to https client", "malformed http response"],
    ),
    // Nothing is sent before there is a connection.
    plain(
        RESOLUTION,
        &["no such host", "server misbehaving", "dial tcp: lookup", "curl: (6)", "curl: (5)", "resolving timed out"],
    ),
    plain(TIMED_OUT, &["tls handshake timeout", "curl: (28) failed to connect", "curl: (28) connection timed out"]),
    // No connection was free, or made, before the time ran out.
    plain(TIMED_OUT, &["request canceled while waiting for connection"]),
    dialling(REFUSED, &["refused"]),
    dialling(UNREACHABLE, &["no route to host", "unreachable", "host is down"]),
    dialling(TIMED_OUT, &["timeout", "timed out", "deadline"]),
    dialling(CONNECT, &[]),
    plain(REFUSED, &["couldn't reconnect to", "curl: (7)", "connection refused (os error"]),
    plain(UNREACHABLE, &["no route to host (os error", "network is unreachable (os error"]),
    plain(CONNECT, &["error trying to connect", "tcp connect error", "client error (connect)"]),
    Rule::class(&[""], ANSWERED).words(ANSWERS),
    plain(
        NO_REPLY,
        &[
            "operation timed out",
            "timed out (os error",
            "deadline exceeded",
            "client.timeout",
            "i/o timeout",
            "awaiting response headers",
            "timeout awaiting",
            "curl: (28)",
        ],
    ),
    plain(STATUS, &["curl: (22)"]),
    plain(
        LOST,
        &[
            "eof",
            "reset by peer",
            "broken pipe",
            "server closed idle connection",
            "connection lost",
            "goaway",
            "stream error: stream id",
            "transport connection broken",
            "server closed",
            "use of closed network connection",
            "connection was forcibly closed",
            "connection closed before message completed",
            "curl: (52)",
            "curl: (55)",
            "curl: (56)",
            "curl: (18)",
            "curl: (16)",
            "curl: (92)",
        ],
    ),
    plain(NO_REPLY.trust(50), &["request canceled", "context canceled"]),
    // Ruby has a class for each number.
    Rule::class(&["ECONNREFUSED"], REFUSED),
    Rule::class(&["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN"], UNREACHABLE),
    Rule::class(&["ETIMEDOUT"], TIMED_OUT).connecting(),
    Rule::class(&["ETIMEDOUT"], NO_REPLY),
    Rule::class(&["ECONNRESET", "EPIPE", "ECONNABORTED"], LOST),
    Rule::class(NODE_CLASSES, TRUST).words(&["certificate"]),
    Rule::class(NODE_CLASSES, BEFORE_TLS).words(&["before secure tls connection"]),
    // Rust's errors, as they are printed for programmers.
    Rule::class(&["Error"], CONNECT).words(&["tcp connect error", "error trying to connect", "kind: connectionrefused"]),
    Rule::class(&["Error"], NO_REPLY).words(&["kind: timedout", "source: timedout"]),
    Rule::class(&["Error"], LOST).words(&["kind: connectionreset", "incompletemessage", "kind: brokenpipe"]),
    Rule::class(&["Error", "FetchError", "AxiosError", "SocketError"], LOST).words(&["socket hang up", "other side closed"]),
];

const fn plain(meaning: Meaning, words: &'static [&'static str]) -> Rule {
    Rule::class(&[""], meaning).words(words)
}

const fn dialling(meaning: Meaning, words: &'static [&'static str]) -> Rule {
    Rule::class(&[""], meaning).words(words).beside(&["dial tcp", "dial unix"])
}

const TRUST: Meaning = Meaning::no(Security, "tls_trust", "the peer's certificate was not trusted").decisive();
const HANDSHAKE: Meaning = Meaning::no(Security, "tls_handshake", "the TLS handshake failed").decisive();
const SPEECH: Meaning = Meaning::no(Configuration, "protocol_mismatch", "the peer speaks another protocol").decisive();
const RESOLUTION: Meaning = Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved").trust(85);
const REFUSED: Meaning = Meaning::no(NotConnected, "connect_refused", "the connection was refused").trust(85);
const UNREACHABLE: Meaning = Meaning::no(NotConnected, "unreachable", "the server could not be reached").trust(85);
const TIMED_OUT: Meaning = Meaning::no(NotConnected, "connect_timeout", "the connect timed out").trust(80);
const CONNECT: Meaning = Meaning::no(NotConnected, "connect_failed", "the connection could not be made").trust(75);
const NO_REPLY: Meaning = Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time").trust(75);
const ANSWERED: Meaning = Meaning::yes(Application, "fault", "the server answered with an exception of its own").trust(65);
const STATUS: Meaning = Meaning::yes(Application, "http_status", "the server answered with an error status").trust(75);
const BEFORE_TLS: Meaning = Meaning::no(NotConnected, "connect_failed", "the connection broke while it was being made").trust(80);
const LOST: Meaning = Meaning::maybe(ConnectionLost, "comm_lost", "the connection broke").trust(75);
