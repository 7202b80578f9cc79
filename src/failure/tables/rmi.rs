//! Java RMI: what is thrown before the call is sent, and what after.

use crate::failure::Category::{
    Application, Configuration, ConnectionLost, Marshalling, NamingAnswer, NotConnected, ResourceExhausted, ResultLost,
    StaleReference,
};
use crate::failure::rule::{Meaning, Rule};

/// Thrown on the client for what happened on the server: what is deeper in the chain is the server's own matter.
pub const FROM_THE_SERVER: &[&str] = &["ServerException", "ServerError", "ServerRuntimeException"];

/// Frames that show that the exception came with the server's reply.
pub const ANSWERED: &[&str] = &["exceptionReceivedFromServer", "ResponseImpl.unmarshalReturn"];

/// What begins the trace that a `WebSphere` server sends with an exception, in the message of the client's.
pub const SERVER_TRACE: &str = ">> SERVER (";

/// The rows.
pub const RULES: &[Rule] = &[
    Rule::class(
        &["ConnectIOException", "ConnectException", "ConnectIOError"],
        Meaning::no(Configuration, "protocol_mismatch", "the peer does not speak RMI").decisive(),
    )
    .words(&["non-jrmp server"]),
    Rule::class(&["ConnectIOException"], Meaning::no(NotConnected, "connect_failed", "the connection could not be set up")),
    Rule::class(
        &["rmi.UnknownHostException"],
        Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved"),
    ),
    Rule::class(
        &["NoSuchObjectException"],
        Meaning::no(StaleReference, "stale_reference", "the object is gone; the call may be sent again").trust(95),
    ),
    Rule::class(
        &["NoSuchObjectLocalException", "NoSuchEJBException"],
        Meaning::no(StaleReference, "stale_reference", "the object is gone"),
    ),
    Rule::class(
        &["UnmarshalException"],
        Meaning::maybe(ConnectionLost, "comm_lost_waiting_reply", "the reply's header did not come"),
    )
    .words(&["error unmarshaling return header", "error unmarshalling return header"]),
    Rule::class(&["UnmarshalException"], Meaning::yes(ResultLost, "result_lost", "the call ran; its result could not be read"))
        .words(&["error unmarshalling return"]),
    Rule::class(
        &["UnmarshalException"],
        Meaning::maybe(Marshalling, "unreadable_exception", "the server threw something that cannot be read"),
    )
    .words(&["error unmarshaling return"]),
    Rule::class(
        &["UnmarshalException"],
        Meaning::no(Marshalling, "unmarshal_arguments", "the server could not read the arguments").decisive(),
    )
    .words(&["error unmarshalling arguments", "error unmarshaling arguments", "unrecognized method hash"]),
    Rule::class(&["UnmarshalException"], Meaning::maybe(Marshalling, "unmarshal", "the reply could not be read")),
    Rule::class(&["MarshalException"], Meaning::yes(ResultLost, "result_lost", "the call ran; its result could not be written"))
        .words(&["error marshalling return", "error marshaling return"]),
    Rule::class(&["MarshalException"], Meaning::no(Marshalling, "marshal_arguments", "the arguments could not be written"))
        .words(&["error marshalling arguments", "error marshaling arguments"]),
    Rule::class(&["MarshalException"], Meaning::maybe(Marshalling, "marshal", "the request could not be written").wrapper()),
    Rule::class(FROM_THE_SERVER, Meaning::maybe(Application, "server_side_failure", "the call failed on the server").wrapper()),
    Rule::class(&["StubNotFoundException", "SkeletonNotFoundException", "SkeletonMismatchException"], STUBS),
    Rule::class(&["NotBoundException"], Meaning::yes(NamingAnswer, "not_found", "the registry has no such name")),
    Rule::class(&["AlreadyBoundException"], Meaning::yes(NamingAnswer, "already_bound", "the registry has the name already")),
    Rule::class(&["ExportException"], Meaning::no(ResourceExhausted, "export_failed", "the object could not be exported here")),
    Rule::class(
        &["UnexpectedException"],
        Meaning::yes(Application, "undeclared_exception", "the target threw what it does not declare").wrapper(),
    ),
    Rule::class(&["rmi.RemoteException"], Meaning::maybe(ConnectionLost, "remote", "a remote call failed").wrapper()),
];

const STUBS: Meaning = Meaning::no(Configuration, "stub_missing", "the stub's class is missing or does not fit");
