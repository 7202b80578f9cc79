//! Python's own exceptions, and those of its HTTP clients for connections. Classes and errno symbols decide, never errno's numbers,
//! which differ among systems, or its words, which are localised.

use crate::failure::Category::{
    Application, ClientShutdown, Configuration, ConnectionLost, NoResponse, NotConnected, ResourceExhausted,
};
use crate::failure::rule::{Meaning, Rule};

/// The rows.
pub const RULES: &[Rule] = &[
    Rule::class(&["ConnectionRefusedError"], REFUSED),
    Rule::class(&["gaierror", "herror", "ClientConnectorDNSError", "NameResolutionError", "UnresolvedHostError"], RESOLUTION),
    Rule::class(
        &["ConnectionResetError", "BrokenPipeError", "ConnectionAbortedError", "SSLEOFError", "SSLZeroReturnError"],
        DURING_CONNECT,
    )
    .connecting(),
    Rule::class(
        &[
            "ConnectionResetError",
            "BrokenPipeError",
            "ConnectionAbortedError",
            "EOFError",
            "IncompleteReadError",
            "IncompleteRead",
            "RemoteDisconnected",
            "BadStatusLine",
            "ProtocolError",
            "ChunkedEncodingError",
            "InvalidChunkLength",
            "ServerDisconnectedError",
            "ClientConnectionResetError",
            "ClientPayloadError",
            "RemoteProtocolError",
            "ReadError",
            "WriteError",
            "CloseError",
            "ConnectionClosedError",
            "ConnectionClosed",
            // A peer that hangs up within TLS: no complaint about it.
            "SSLEOFError",
            "SSLZeroReturnError",
        ],
        LOST,
    ),
    Rule::class(
        &[
            "NewConnectionError",
            "ConnectError",
            "MaxRetryError",
            "ClientConnectorError",
            "ClientProxyConnectionError",
            "ProxyError",
            "HTTPConnectionPool",
        ],
        RESOLUTION,
    )
    .words(&[
        "name or service not known",
        "name resolution",
        "getaddrinfo",
        "nodename nor servname",
        "no address associated",
    ]),
    Rule::class(
        &[
            "NewConnectionError",
            "ConnectError",
            "ClientConnectorError",
            "ClientProxyConnectionError",
            "ProxyError",
            "EndpointConnectionError",
        ],
        CONNECT,
    ),
    Rule::class(&["ConnectTimeout", "ConnectTimeoutError", "ConnectionTimeoutError"], CONNECT_TIMEOUT),
    Rule::class(
        &["PoolTimeout", "EmptyPoolError", "FullPoolError", "ConnectionPoolTimeoutException"],
        Meaning::no(ResourceExhausted, "pool_exhausted", "no connection of the pool was free"),
    ),
    Rule::class(
        &["ReadTimeout", "ReadTimeoutError", "WriteTimeout", "SocketTimeoutError", "HeadersTimeoutError", "BodyTimeoutError"],
        READ_TIMEOUT,
    ),
    Rule::class(&["ServerTimeoutError"], CONNECT_TIMEOUT).connecting(),
    Rule::class(&["ServerTimeoutError"], READ_TIMEOUT),
    Rule::class(&["TimeoutError", "timeout", "TimeoutException", "Timeout"], CONNECT_TIMEOUT).connecting(),
    Rule::class(&["TimeoutError", "timeout", "Timeout", "CancelledError"], READ_TIMEOUT.trust(80)),
    Rule::class(
        &["RuntimeError", "ValueError"],
        Meaning::no(ClientShutdown, "client_shutdown", "the client was being shut down"),
    )
    .words(&[
        "after interpreter shutdown",
        "after shutdown",
        "on closed channel",
        "event loop is closed",
        "session is closed",
        "client has been closed",
    ]),
    Rule::class(
        &[
            "InvalidURL",
            "MissingSchema",
            "InvalidSchema",
            "UnsupportedProtocol",
            "LocationParseError",
            "NonHttpUrlClientError",
            "InvalidUrlClientError",
            "LocationValueError",
        ],
        URL,
    ),
    Rule::class(
        &["HTTPStatusError", "ClientResponseError", "HTTPError"],
        Meaning::yes(Application, "http_status", "the server answered with an error status").trust(70),
    )
    .words(&["client error", "server error", "http error", "status", "error '4", "error '5"]),
    Rule::class(
        &[
            "HttpServerErrorException",
            "HttpClientErrorException",
            "HttpResponseException",
            "InternalServerErrorException",
            "InternalServerError",
            "SOAPFaultException",
            "SoapFaultClientException",
            "client.Fault",
        ],
        Meaning::yes(Application, "fault", "the server answered with a fault").trust(75),
    ),
    Rule::class(NETWORK, NO_RESOURCES).codes(&["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EADDRNOTAVAIL", "WSAENOBUFS"]),
    Rule::class(NETWORK, REFUSED).codes(&["ECONNREFUSED", "WSAECONNREFUSED"]),
    Rule::class(NETWORK, UNREACHABLE).codes(&["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN", "WSAEHOSTUNREACH"]),
    Rule::class(NETWORK, RESOLUTION).codes(&["ENOTFOUND", "EAI_AGAIN", "EAI_NONAME", "EAI_FAIL", "EAI_NODATA"]),
    Rule::class(NETWORK, CONNECT_TIMEOUT).codes(&["ETIMEDOUT"]).connecting(),
    Rule::class(NETWORK, READ_TIMEOUT).codes(&["ETIMEDOUT", "WSAETIMEDOUT", "ESOCKETTIMEDOUT"]),
    Rule::class(NETWORK, DURING_CONNECT).codes(&["ECONNRESET", "EPIPE", "ECONNABORTED"]).connecting(),
    Rule::class(NETWORK, LOST).codes(&["ECONNRESET", "EPIPE", "ECONNABORTED", "ENOTCONN", "ESHUTDOWN", "WSAECONNRESET"]),
    // The generic class alone: its words and number are all there is, and both are weak.
    Rule::class(SYSTEM, UNREACHABLE.trust(60)).words(&[
        "no route to host",
        "network is unreachable",
        "host is down",
        "errno 113",
        "errno 101",
        "winerror 10065",
        "winerror 10051",
    ]),
    Rule::class(SYSTEM, REFUSED.trust(60)).words(&[
        "connection refused",
        "winerror 10061",
        "errno 111",
        "connect call failed",
        "actively refused",
    ]),
    Rule::class(SYSTEM, NO_RESOURCES.trust(60)).words(&[
        "too many open files",
        "no buffer space",
        "cannot assign requested address",
        "errno 24",
    ]),
    Rule::class(SYSTEM, DURING_CONNECT.trust(60)).words(RESET).connecting(),
    Rule::class(SYSTEM, LOST.trust(60)).words(RESET),
    Rule::class(SYSTEM, LOST.trust(60)).words(&[
        "connection aborted",
        "closed connection without response",
        "server disconnected",
    ]),
    Rule::class(SYSTEM, RESOLUTION.trust(60)).words(&[
        "name or service not known",
        "name resolution",
        "getaddrinfo",
        "winerror 11001",
    ]),
    Rule::class(SYSTEM, CONNECT_TIMEOUT.trust(60)).words(TIMED_OUT).connecting(),
    Rule::class(SYSTEM, READ_TIMEOUT.trust(50)).words(TIMED_OUT),
    Rule::class(&["ClientOSError"], LOST),
    Rule::class(
        &["ConnectionError", "ServerConnectionError", "TransportError", "NetworkError", "ClientConnectionError", "MaxRetryError"],
        LOST.wrapper(),
    ),
    Rule::class(&["CommunicationError"], Meaning::maybe(ConnectionLost, "comm_lost", "communication failed").wrapper()),
];

/// What an errno symbol may hang on.
const NETWORK: &[&str] = &[
    "OSError",
    "IOError",
    "error",
    "Error",
    "FetchError",
    "SystemError",
    "SocketException",
    "ClientOSError",
    "ConnectionError",
    "AxiosError",
    "SystemCallError",
    "AggregateError",
    "MongoServerSelectionError",
    "MongoNetworkError",
    "Near",
    "",
];
const SYSTEM: &[&str] =
    &["URLError", "OSError", "IOError", "error", "ConnectionError", "MaxRetryError", "ClientOSError", "HTTPConnectionPool"];

/// The words and Windows' numbers of a connection that breaks.
const RESET: &[&str] = &["reset by peer", "broken pipe", "winerror 10054", "winerror 10053", "forcibly closed"];
const TIMED_OUT: &[&str] = &["timed out", "winerror 10060", "errno 110", "did not properly respond"];

const REFUSED: Meaning = Meaning::no(NotConnected, "connect_refused", "the connection was refused").trust(95);
const CONNECT: Meaning = Meaning::no(NotConnected, "connect_failed", "the connection could not be made");
const CONNECT_TIMEOUT: Meaning = Meaning::no(NotConnected, "connect_timeout", "the connect timed out");
const DURING_CONNECT: Meaning = Meaning::no(NotConnected, "connect_failed", "the connection broke while it was being made");
const UNREACHABLE: Meaning = Meaning::no(NotConnected, "unreachable", "the server could not be reached");
const RESOLUTION: Meaning = Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved");
const LOST: Meaning = Meaning::maybe(ConnectionLost, "comm_lost", "the connection broke");
const READ_TIMEOUT: Meaning = Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time");
const NO_RESOURCES: Meaning = Meaning::no(ResourceExhausted, "local_resources", "this machine had run out of a resource");
const URL: Meaning = Meaning::no(Configuration, "configuration_url", "the URL cannot be used").decisive();
