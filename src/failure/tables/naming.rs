//! javax.naming, the naming services' own answers, and ours.

use crate::failure::Category::{
    AllUnavailable, ClientShutdown, Configuration, ConnectionLost, NamingAnswer, NoResponse, NotConnected, ResourceExhausted,
};
use crate::failure::rule::{Meaning, Rule};

/// The rows.
pub const RULES: &[Rule] = &[
    answer(&["NameNotFoundException", "NameNotFoundError", "NotFound", "NotFoundPackage"], "not_found", "there is no such name"),
    answer(&["NotContextException", "NotContextError"], "not_context", "the name is not a context's"),
    answer(
        &["InvalidNameException", "InvalidNameError", "naming.InvalidNameException", "InvalidName"],
        "invalid_name",
        "the name is not valid",
    ),
    answer(&["NameAlreadyBoundException", "NameAlreadyBoundError", "AlreadyBound"], "already_bound", "the name is taken"),
    answer(&["ContextNotEmptyException", "ContextNotEmptyError", "NotEmpty"], "context_not_empty", "the context has children"),
    answer(&["LinkLoopException", "LinkLoopError"], "link_loop", "the links lead in a circle"),
    answer(&["CannotProceed", "CannotProceedException"], "cannot_proceed", "the name leads out of this naming system"),
    answer(
        &[
            "NoSuchAttributeException",
            "AttributeInUseException",
            "SchemaViolationException",
            "SizeLimitExceededException",
            "LimitExceededException",
        ],
        "directory",
        "the directory answered",
    ),
    Rule::class(
        &["NoInitialContextException"],
        Meaning::no(Configuration, "no_provider", "no provider is configured").decisive(),
    ),
    Rule::class(&["MalformedLinkException"], Meaning::no(Configuration, "malformed_link", "a link cannot be read").decisive()),
    // The JDK's RMI provider so calls a host whose name is unknown.
    Rule::class(
        &["naming.ConfigurationException"],
        Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved").wrapper(),
    )
    .beside(&["Unknown host: "]),
    Rule::class(
        &["naming.ConfigurationException", "ConfigurationException", "ConfigurationError"],
        Meaning::no(Configuration, "configuration", "the settings cannot be used").decisive(),
    ),
    Rule::class(
        &["InsufficientResourcesException"],
        Meaning::no(ResourceExhausted, "insufficient_resources", "a resource had run out"),
    ),
    Rule::class(&["InterruptedNamingException"], Meaning::maybe(NoResponse, "interrupted", "the call was interrupted")),
    Rule::class(&["TimeLimitExceededException"], Meaning::maybe(NoResponse, "timeout_waiting_reply", "the time limit passed")),
    // Ours are raised when all that a call could do was done: nobody is left to ask.
    Rule::class(
        &["TimeLimitExceededError"],
        Meaning::maybe(NoResponse, "timeout_waiting_reply", "the call's time ran out at every server").last(),
    ),
    Rule::class(
        &["ServiceUnavailableError"],
        Meaning::maybe(AllUnavailable, "all_targets_unavailable", "no server could answer").last(),
    ),
    Rule::class(
        &["OperationNotSupportedError", "OperationNotSupportedException"],
        Meaning::no(NamingAnswer, "not_supported", "this naming system cannot do that"),
    ),
    Rule::class(&["LimitExceededError"], Meaning::no(NamingAnswer, "limit_exceeded", "a value or request is over a limit")),
    Rule::class(&["ContextClosedError"], Meaning::no(ClientShutdown, "context_closed", "the context was closed")),
    // The LDAP provider counts in milliseconds; none was set where it prints -1, so the connection was lost.
    Rule::class(NAMING, LOST_UNLIMITED)
        .words(&["response read timed out, timeout used:-1", "response read timed out, timeout used: -1"]),
    Rule::class(NAMING, Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time"))
        .words(&["response read timed out", "read timed out"]),
    Rule::class(NAMING, Meaning::no(NotConnected, "connect_timeout", "the connect timed out"))
        .words(&["connect timed out", "connection timed out: connect"]),
    // The LDAP provider so says also that its connection was closed while a reply was awaited.
    Rule::class(
        &["ServiceUnavailableException"],
        Meaning::maybe(ConnectionLost, "comm_lost_waiting_reply", "the connection was closed while the reply was awaited"),
    )
    .words(&["socket closed"])
    .beside(&["ldap.Connection.readReply"]),
    Rule::class(
        &["ServiceUnavailableException"],
        Meaning::no(NotConnected, "service_unavailable", "the service takes no requests").trust(70),
    )
    .words(&["socket closed"]),
    Rule::class(NAMING, CLOSED).words(&["connection has been closed", "connection closed", "connection reset", "broken pipe"]),
    Rule::class(&["NamingException", "CommunicationException", "SourceUnavailableException"], CLOSED).words(&["socket closed"]),
    Rule::class(
        &["ServiceUnavailableException"],
        Meaning::no(NotConnected, "service_unavailable", "the service takes no requests").trust(85),
    ),
    Rule::class(
        &["naming.CommunicationException", "CommunicationException"],
        Meaning::no(NotConnected, "connect_failed", "no connection could be made").wrapper(),
    )
    .connecting(),
    Rule::class(
        &["naming.CommunicationException", "CommunicationException"],
        Meaning::maybe(ConnectionLost, "comm_lost", "communication failed").wrapper(),
    ),
    Rule::class(
        &["naming.NamingException", "NamingException"],
        Meaning::maybe(crate::failure::Category::Unknown, "naming", "a naming operation failed").wrapper(),
    ),
];

/// Whose words tell: the plain exception, the one for communication, and wrappers that quote it.
const NAMING: &[&str] =
    &["NamingException", "CommunicationException", "SourceUnavailableException", "ServiceUnavailableException"];

const CLOSED: Meaning = Meaning::maybe(ConnectionLost, "comm_lost", "the connection has been closed");
const LOST_UNLIMITED: Meaning =
    Meaning::maybe(ConnectionLost, "comm_lost_waiting_reply", "no time limit was set, so the connection was lost");

const fn answer(classes: &'static [&'static str], detail: &'static str, why: &'static str) -> Rule {
    Rule::class(classes, Meaning::yes(NamingAnswer, detail, why))
}
