//! HTTP clients of Python, beside what breaks a connection: what came of an answer, of a request that they could not make, and
//! of a program's misuse. Their bases (`RequestException`, `ClientError`) mean nothing by themselves.

use crate::failure::Category::{Application, ClientShutdown, Configuration, NotConnected, Security, Unknown};
use crate::failure::rule::{Meaning, Rule};

/// The rows.
pub const RULES: &[Rule] = &[
    Rule::class(&["TooManyRedirects", "ContentTypeError", "WSServerHandshakeError"], ANSWER),
    // It was answered, with a place that can't be gone to.
    Rule::class(&["RedirectClientError", "InvalidUrlRedirectClientError", "NonHttpUrlRedirectClientError"], ANSWER),
    Rule::class(&["botocore.exceptions.ClientError"], ANSWER),
    Rule::class(&["RetryError", "urllib3.exceptions.ResponseError", "ResponseError"], ANSWER)
        .words(&["error responses", "too many redirects"]),
    // A proxy that opens no tunnel has passed nothing on.
    Rule::class(
        &["ClientHttpProxyError"],
        Meaning::no(NotConnected, "connect_failed", "the proxy made no connection to the server"),
    ),
    Rule::class(
        &["ServerFingerprintMismatch"],
        Meaning::no(Security, "tls_trust", "the peer's certificate was not the one that was expected").decisive(),
    ),
    Rule::class(
        &["URLRequired", "InvalidProxyURL", "URLSchemeUnknown", "ProxySchemeUnknown", "ProxySchemeUnsupported"],
        Meaning::no(Configuration, "configuration_url", "the URL cannot be used").decisive(),
    ),
    Rule::class(&["ClosedPoolError"], Meaning::no(ClientShutdown, "client_shutdown", "the client's pool was closed")),
    Rule::class(
        &[
            "ContentDecodingError",
            "DecodingError",
            "DecodeError",
            "InvalidJSONError",
            "JSONDecodeError",
            "InvalidHeader",
            "HeaderParsingError",
            "LocalProtocolError",
            "ResponseNotChunked",
            "BodyNotHttplibCompatible",
            "RetryError",
            "StreamConsumedError",
            "UnrewindableBodyError",
            "UploadAbortedError",
            "RequestException",
            "ClientError",
        ],
        NOT_TOLD,
    ),
];

const ANSWER: Meaning =
    Meaning::yes(Application, "http_status", "the server answered with what the client does not take").trust(70);
/// A request that could not be made, or an answer that could not be read: the class says neither which, nor how far it had come.
const NOT_TOLD: Meaning =
    Meaning::maybe(Unknown, "client_fault", "the client's library does not say how far the call had come").wrapper().trust(50);
