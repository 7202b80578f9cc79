//! Java's network classes, and what any application may throw.

use crate::failure::Category::{
    Application, ClientShutdown, Configuration, ConnectionLost, Marshalling, NoResponse, NotConnected, ResourceExhausted,
};
use crate::failure::rule::{Meaning, Rule};

const CONNECT_CLASSES: &[&str] = &[
    "ConnectException",
    "AnnotatedConnectException",
    "HttpHostConnectException",
    "ConnectTimeoutException",
    "HttpConnectTimeoutException",
];

/// The rows.
pub const RULES: &[Rule] = &[
    // RMI's own handshake: no call is sent before it has ended.
    Rule::class(&["EOFException", "SocketException", "SocketTimeoutException", "IOException"], DURING_CONNECT)
        .beside(&["error during JRMP connection establishment"]),
    // The JDK's HTTP client closes the channel before it tells why the connect failed.
    Rule::class(&["ClosedChannelException"], DURING_CONNECT).connecting(),
    Rule::class(&["BindException"], Meaning::no(ResourceExhausted, "local_resources", "no local port was free")),
    Rule::class(CONNECT_CLASSES, TIMED_OUT).words(&["timed out"]),
    Rule::class(&["ConnectTimeoutException", "HttpConnectTimeoutException"], TIMED_OUT),
    Rule::class(CONNECT_CLASSES, Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved"))
        .words(&["unresolved", "unknown host"]),
    Rule::class(CONNECT_CLASSES, Meaning::no(NotConnected, "unreachable", "the server could not be reached"))
        .words(&["unreachable", "no route"]),
    Rule::class(CONNECT_CLASSES, REFUSED),
    Rule::class(
        &["NoRouteToHostException", "PortUnreachableException", "AnnotatedNoRouteToHostException"],
        Meaning::no(NotConnected, "unreachable", "the server could not be reached").trust(95),
    )
    .without(&["(read failed)", "(write failed)"]),
    // The route went away under a connection that stood.
    Rule::class(&["NoRouteToHostException"], LOST),
    Rule::class(
        &["UnknownHostException", "UnresolvedAddressException"],
        Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved").trust(95),
    ),
    Rule::class(&["SocketTimeoutException"], TIMED_OUT).connecting(),
    Rule::class(&["SocketTimeoutException", "ReadTimeoutException", "HttpTimeoutException", "InterruptedIOException"], NO_REPLY),
    Rule::class(&["TimeoutException"], NO_REPLY.trust(80)),
    Rule::class(
        &["SocketException", "IOException"],
        Meaning::no(ResourceExhausted, "local_resources", "this machine had run out of a resource"),
    )
    .words(&["too many open files", "no buffer space"]),
    Rule::class(&["SocketException"], Meaning::no(NotConnected, "unreachable", "the server could not be reached"))
        .words(&["network is unreachable", "no route to host", "host is down"])
        // The route went away under a connection that stood.
        .without(&["(read failed)", "(write failed)"]),
    // .NET's words; its class is the same.
    Rule::class(&["SocketException"], Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved"))
        .words(&["no such host is known", "name or service not known", "nodename nor servname"]),
    Rule::class(&["SocketException"], REFUSED.trust(80)).words(&["connection refused", "actively refused"]),
    Rule::class(&["SocketException"], DURING_CONNECT).connecting(),
    Rule::class(&["SocketException"], NO_REPLY.trust(70)).words(&["did not properly respond", "timed out"]),
    Rule::class(
        &[
            "SocketException",
            "ClosedChannelException",
            "AsynchronousCloseException",
            "NoHttpResponseException",
            "EOFException",
            "ConnectionClosedException",
            "StacklessClosedChannelException",
            "NativeIoException",
        ],
        LOST,
    ),
    Rule::class(
        &["ProtocolException"],
        Meaning::no(Configuration, "protocol_mismatch", "the peer speaks another protocol").decisive(),
    ),
    Rule::class(
        &["MalformedURLException", "URISyntaxException", "UnknownServiceException"],
        Meaning::no(Configuration, "configuration_url", "the URL cannot be used").decisive(),
    ),
    Rule::class(&["IOException"], LOST).words(&[
        "reset by peer",
        "broken pipe",
        "connection reset",
        "channel closed",
        "forcibly closed",
        "stream closed",
        "connection closed",
    ]),
    Rule::class(&["IOException"], LOST.wrapper()),
    Rule::class(
        &[
            "NotSerializableException",
            "InvalidClassException",
            "StreamCorruptedException",
            "WriteAbortedException",
            "OptionalDataException",
        ],
        Meaning::maybe(Marshalling, "serialization", "an object could not be written or read").wrapper(),
    ),
    Rule::class(&["RejectedExecutionException"], Meaning::no(ResourceExhausted, "rejected", "this process takes no more work")),
    Rule::class(&["IllegalStateException"], Meaning::no(ClientShutdown, "client_shutdown", "the client was being shut down"))
        .words(&[
            "shutdown in progress",
            "orb is shut",
            "has been shut down",
            "pool shut down",
            "already been closed",
            "is closed",
            "has been stopped",
        ]),
    Rule::class(
        &["OutOfMemoryError"],
        Meaning::no(ResourceExhausted, "out_of_memory", "this process had run out of memory").wrapper(),
    ),
    Rule::class(
        &["UserException", "ApplicationException", "user exception"],
        Meaning::yes(Application, "user_exception", "the target answered with its own exception"),
    ),
    // .NET's HTTP client so says that its time ran out.
    Rule::class(&["TaskCanceledException", "OperationCanceledException"], NO_REPLY.trust(70)).words(&["timeout"]),
    // C++'s standard library and Boost, which put the failed call before the words.
    Rule::class(&["system_error"], REFUSED.trust(75)).words(&["connection refused"]),
    Rule::class(&["system_error"], Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved"))
        .words(&["resolve: ", "host not found"]),
    Rule::class(&["system_error"], NO_REPLY.trust(60)).words(&["timed out", "operation canceled"]),
    Rule::class(&["system_error"], LOST.trust(75)).words(&["reset by peer", "broken pipe", "end of file"]),
    // Classes of other libraries, named after these.
    Rule::class(&["*ReadTimeoutException", "*SocketTimeoutException", "*ReadTimeoutError"], NO_REPLY.trust(70)),
    Rule::class(&["*ConnectTimeoutException", "*ConnectTimeoutError", "*ConnectionTimeoutException"], TIMED_OUT.trust(75)),
    Rule::class(&["*ConnectException", "*ConnectError", "*ConnectionRefusedException"], REFUSED.trust(75)),
];

const REFUSED: Meaning = Meaning::no(NotConnected, "connect_refused", "the connection could not be made").trust(95);
const TIMED_OUT: Meaning = Meaning::no(NotConnected, "connect_timeout", "the connect timed out");
const NO_REPLY: Meaning = Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time");
const LOST: Meaning = Meaning::maybe(ConnectionLost, "comm_lost", "the connection broke");

const DURING_CONNECT: Meaning = Meaning::no(NotConnected, "connect_failed", "the connection broke while it was being made");
