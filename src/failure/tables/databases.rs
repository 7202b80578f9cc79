//! Clients of stores whose own classes say what happened: `ZooKeeper`, redis, `PostgreSQL`.

use crate::failure::Category::{
    Application, Configuration, ConnectionLost, Marshalling, NamingAnswer, NoResponse, NotConnected, Quiescing,
    ResourceExhausted, Security, StaleReference, TransactionRolledBack,
};
use crate::failure::rule::{Meaning, Rule};

const REDIS: &[&str] = &[
    "redis.exceptions.ConnectionError",
    "redis.exceptions.TimeoutError",
    "redis.ConnectionError",
    "redis.TimeoutError",
    "exceptions.TimeoutError",
];
const SQL: &[&str] = &["OperationalError", "PSQLException", "InterfaceError", "DatabaseError"];

/// The rows.
pub const RULES: &[Rule] = &[
    Rule::class(
        &["ConnectionLoss", "ConnectionLossException", "kazoo.exceptions.ConnectionDropped"],
        Meaning::maybe(ConnectionLost, "comm_lost", "the session's connection broke"),
    ),
    Rule::class(
        &["SessionExpiredError", "SessionExpiredException"],
        Meaning::maybe(ConnectionLost, "session_expired", "the session has expired"),
    ),
    Rule::class(
        &["OperationTimeoutError", "OperationTimeoutException", "kazoo.exceptions.RequestTimeoutError"],
        Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time"),
    ),
    Rule::class(
        &["kazoo.exceptions.MarshallingError"],
        Meaning::maybe(Marshalling, "marshal", "arguments or results could not be read"),
    ),
    Rule::class(&["KazooTimeoutError"], Meaning::no(NotConnected, "connect_timeout", "no server was reached in time")),
    Rule::class(&["NoNodeError", "NoNodeException"], Meaning::yes(NamingAnswer, "not_found", "there is no such node")),
    Rule::class(&["NodeExistsError", "NodeExistsException"], Meaning::yes(NamingAnswer, "already_exists", "the node exists")),
    Rule::class(
        &["NotEmptyError", "NotEmptyException"],
        Meaning::yes(NamingAnswer, "context_not_empty", "the node has children"),
    ),
    Rule::class(
        &["BusyLoadingError", "ClusterDownError", "TryAgainError", "MasterDownError"],
        Meaning::no(Quiescing, "server_not_ready", "the server is not ready yet"),
    ),
    // The slot is another server's, the session has moved, or a server without a majority takes only reads.
    Rule::class(
        &["redis.exceptions.MovedError", "redis.exceptions.AskError"],
        Meaning::no(StaleReference, "moved", "another server has the key"),
    ),
    Rule::class(
        &["kazoo.exceptions.SessionMovedError"],
        Meaning::no(StaleReference, "moved", "the session is at another server"),
    ),
    Rule::class(
        &["redis.exceptions.SlotNotCoveredError"],
        Meaning::no(Quiescing, "server_not_ready", "no server has the key's slot"),
    ),
    Rule::class(
        &["ReadOnlyError", "errors.ReadOnlySqlTransaction", "kazoo.exceptions.NotReadOnlyCallError"],
        Meaning::no(Quiescing, "read_only", "this server takes no writes"),
    ),
    Rule::class(REDIS, Meaning::no(NotConnected, "connect_timeout", "the connect timed out")).words(&["timeout connecting"]),
    Rule::class(REDIS, Meaning::maybe(NoResponse, "timeout_waiting_reply", "no reply came in time"))
        .words(&["timeout reading", "timed out reading"]),
    Rule::class(REDIS, Meaning::no(NotConnected, "connect_refused", "the connection could not be made"))
        .words(&["connecting to", "connection refused"]),
    Rule::class(REDIS, Meaning::maybe(ConnectionLost, "comm_lost", "the connection broke")).words(&[
        "connection closed by server",
        "while reading",
        "while writing",
        "reset by peer",
        "broken pipe",
    ]),
    Rule::class(&["JedisConnectionException"], Meaning::no(NotConnected, "connect_failed", "the connection could not be made"))
        .words(&["failed to connect to", "failed connecting to", "failed to create socket"]),
    Rule::class(&["JedisConnectionException"], Meaning::maybe(ConnectionLost, "comm_lost", "the connection broke").wrapper()),
    Rule::class(
        &["redis.exceptions.InvalidResponse"],
        Meaning::maybe(Configuration, "protocol_mismatch", "the peer speaks another protocol"),
    ),
    Rule::class(SQL, Meaning::no(Security, "authentication", "authentication failed").decisive()).words(&[
        "password authentication failed",
        "no pg_hba.conf entry",
        "authentication failed",
        "access denied",
    ]),
    Rule::class(SQL, Meaning::no(Quiescing, "server_not_ready", "the database takes no connections now")).words(&[
        "is starting up",
        "is shutting down",
        "too many clients",
        "too many connections",
        "remaining connection slots",
    ]),
    Rule::class(SQL, Meaning::no(NotConnected, "name_resolution", "the server's name could not be resolved"))
        .words(&["could not translate host name", "unknown host"]),
    Rule::class(SQL, Meaning::maybe(ConnectionLost, "comm_lost", "the server closed the connection")).words(&[
        "server closed the connection",
        "connection already closed",
        "connection is closed",
        "lost connection",
        "terminating connection",
        "connection has been closed",
    ]),
    Rule::class(SQL, Meaning::no(NotConnected, "connect_refused", "the connection was refused")).words(&[
        "connection refused",
        "could not connect to server",
        "connection to server at",
        "can't connect to",
        "refused. check that the hostname",
    ]),
    // MySQL's: what is deeper tells whether the connection stood.
    Rule::class(
        &["CommunicationsException"],
        Meaning::maybe(ConnectionLost, "comm_lost", "the link to the database failed").wrapper(),
    ),
    Rule::class(&["errors.ConnectionTimeout"], Meaning::no(NotConnected, "connect_timeout", "the connect timed out")),
    Rule::class(&["QueryCanceled", "QueryCanceledError"], Meaning::maybe(NoResponse, "cancelled", "the statement was cancelled")),
    Rule::class(
        &[
            "IntegrityError",
            "UniqueViolation",
            "ForeignKeyViolation",
            "NotNullViolation",
            "CheckViolation",
            "DataError",
            "ProgrammingError",
            "RestrictViolation",
            "ExclusionViolation",
            "errors.FeatureNotSupported",
            "errors.InFailedSqlTransaction",
            "errors.LockNotAvailable",
            "redis.exceptions.ResponseError",
            "redis.exceptions.DataError",
            "redis.exceptions.ClusterCrossSlotError",
            "redis.exceptions.ExecAbortError",
            "redis.exceptions.ModuleError",
            "redis.exceptions.NoScriptError",
            "redis.exceptions.NoSuchFieldsetError",
            "redis.exceptions.WatchError",
            "kazoo.exceptions.BadArgumentsError",
            "kazoo.exceptions.BadVersionError",
            "kazoo.exceptions.EphemeralOnLocalSessionError",
            "kazoo.exceptions.InvalidACLError",
            "kazoo.exceptions.NewConfigNoQuorumError",
            "kazoo.exceptions.NoChildrenForEphemeralsError",
            "kazoo.exceptions.NoWatcherError",
            "kazoo.exceptions.QuotaExceededError",
            "kazoo.exceptions.ReconfigDisabledError",
            "kazoo.exceptions.ReconfigInProcessError",
            "kazoo.exceptions.UnimplementedError",
        ],
        Meaning::yes(Application, "database_answer", "the database answered with an error").trust(80),
    ),
    Rule::class(
        &[
            "AdminShutdown",
            "CrashShutdown",
            "errors.DatabaseDropped",
            "errors.IdleSessionTimeout",
            "errors.IdleInTransactionSessionTimeout",
        ],
        Meaning::maybe(ConnectionLost, "comm_lost", "the server ended the connection"),
    ),
    Rule::class(
        &[
            "errors.ConnectionException",
            "errors.ConnectionFailure",
            "errors.ConnectionDoesNotExist",
            "errors.StatementCompletionUnknown",
        ],
        Meaning::maybe(ConnectionLost, "comm_lost", "the connection broke"),
    ),
    Rule::class(
        &["errors.SqlclientUnableToEstablishSqlconnection"],
        Meaning::no(NotConnected, "connect_failed", "the connection could not be made"),
    ),
    Rule::class(
        &["redis.exceptions.MaxConnectionsError"],
        Meaning::no(ResourceExhausted, "pool_exhausted", "no connection of the pool was free"),
    ),
    Rule::class(
        &["CannotConnectNow", "errors.SqlserverRejectedEstablishmentOfSqlconnection"],
        Meaning::no(Quiescing, "server_not_ready", "the database takes no connections now"),
    ),
    Rule::class(
        &["TooManyConnections"],
        Meaning::no(ResourceExhausted, "too_many_connections", "the database has no connection left"),
    ),
];

/// Of a transaction that was rolled back, whatever else its exception says.
pub const ROLLED_BACK: &[Rule] = &[Rule::class(
    &[
        "SerializationFailure",
        "DeadlockDetected",
        "TransactionRollback",
        "TransactionRollbackError",
        "errors.TransactionIntegrityConstraintViolation",
        "kazoo.exceptions.RolledBackError",
        "RollbackException",
        "TransactionRolledbackException",
        "EJBTransactionRolledbackException",
        "TransactionRolledbackLocalException",
    ],
    Meaning::maybe(TransactionRolledBack, "transaction_rolledback", "the transaction was rolled back").decisive(),
)];
