//! Authentication, permission and TLS: what every server would refuse alike.

use crate::failure::Category::{Configuration, ConnectionLost, Security};
use crate::failure::rule::{Meaning, Rule};

const TLS_CLASSES: &[&str] = &[
    "SSLException",
    "SSLError",
    "SSLHandshakeException",
    "SSLKeyException",
    "SSLProtocolException",
    "ClientConnectorSSLError",
    "ClientSSLError",
    "AuthenticationException",
    "TlsException",
    "SSLZeroReturnError",
];

/// The rows.
pub const RULES: &[Rule] = &[
    Rule::class(
        &[
            "SSLCertVerificationError",
            "CertificateError",
            "CertificateException",
            "CertificateExpiredException",
            "CertificateNotYetValidException",
            "CertPathValidatorException",
            "CertPathBuilderException",
            "SunCertPathBuilderException",
            "ValidatorException",
            "SSLPeerUnverifiedException",
            "ClientConnectorCertificateError",
            "SSLKeyException",
        ],
        TRUST,
    ),
    Rule::class(TLS_CLASSES, TRUST).words(&["certificate", "cert ", "pkix", "trust", "self-signed", "self signed"]),
    Rule::class(&["SSLException"], Meaning::no(Configuration, "protocol_mismatch", "the peer does not speak TLS").decisive())
        .words(&["unrecognized ssl message", "plaintext connection"]),
    // An established connection that breaks is no complaint about the peer.
    Rule::class(&["SSLException", "SSLError"], BROKEN).words(&[
        "connection reset",
        "broken pipe",
        "socket closed",
        "read timed out",
        // The route may go away under a connection that stood.
        "(read failed)",
        "(write failed)",
        "connection timed out",
        "no route to host",
        "forcibly closed",
        "connection has been shutdown",
        "bound has closed",
        "before receiving peer's close_notify",
    ]),
    Rule::class(&["SSLException", "SSLError"], BROKEN).beside(LOST_BENEATH),
    Rule::class(
        &[
            "SSLException",
            "SSLError",
            "SSLHandshakeException",
            "SSLProtocolException",
            "ClientConnectorSSLError",
            "ClientSSLError",
            "TlsException",
        ],
        Meaning::no(Security, "tls_handshake", "the TLS handshake failed").decisive(),
    ),
    Rule::class(
        &[
            "SaslException",
            "LoginException",
            "FailedLoginException",
            "AuthenticationError",
            "AuthenticationException",
            "AuthFailedError",
            "AuthenticationNotSupportedException",
            "CredentialException",
            "AccountException",
            "InvalidLoginException",
            "WrongPassError",
            "GSSException",
            "KrbException",
            "NoAuthError",
            "redis.exceptions.AuthenticationWrongNumberOfArgsError",
            "redis.exceptions.ExternalAuthProviderError",
            "kazoo.exceptions.SASLException",
            "kazoo.exceptions.SessionClosedRequireSaslError",
            "errors.InvalidPassword",
            "errors.InvalidAuthorizationSpecification",
        ],
        Meaning::no(Security, "authentication", "authentication failed").decisive(),
    ),
    Rule::class(
        &[
            "NoPermissionException",
            "NamingSecurityException",
            "AccessControlException",
            "SecurityException",
            "EJBAccessException",
            "AccessException",
            "AccessLocalException",
            "NoPermissionError",
            "redis.exceptions.AuthorizationError",
            "errors.InsufficientPrivilege",
        ],
        Meaning::no(Security, "permission", "permission was refused").decisive(),
    ),
    Rule::class(&["Near", ""], TRUST).words(&["certificate_verify_failed", "certificate verify failed", "was not trusted"]),
    Rule::class(&["Near", ""], Meaning::no(Security, "tls_handshake", "the TLS handshake failed").decisive()).words(&[
        "handshake failed",
        "handshake failure",
        "ssl_error",
        "wrong_version_number",
        "ssl routines",
    ]),
    // OpenSSL's reasons that an established connection has none of.
    Rule::class(&[], Meaning::no(Security, "tls_handshake", "the TLS handshake failed").decisive()).words(&[
        "[ssl: wrong_version_number",
        "[ssl: unsupported_protocol",
        "[ssl: unknown_protocol",
        "[ssl: http_request",
        "[ssl: no_shared_cipher",
        "alert_handshake_failure",
        "alert_protocol_version",
        "alert_unknown_ca",
    ]),
    Rule::class(&[], TRUST).words(&["certificate_verify_failed", "certificate verify failed", "pkix path building failed"]),
];

/// What an exception within TLS may have as its cause, which is then what happened.
const LOST_BENEATH: &[&str] = &[
    "Broken pipe",
    "Connection reset",
    "connection was aborted",
    "forcibly closed",
    "Socket closed",
    "Read timed out",
    "(Read failed)",
    "(Write failed)",
    "No route to host",
];
const TRUST: Meaning = Meaning::no(Security, "tls_trust", "the peer's certificate was not trusted").decisive();
const BROKEN: Meaning = Meaning::maybe(ConnectionLost, "comm_lost", "the connection broke").wrapper();
