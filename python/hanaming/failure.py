"""The words for what a failed call means: did it run, what to do next, what kind of failure it was."""

from enum import Enum


class CompletionStatus(Enum):
    """Did the request run?"""

    YES = "YES"
    """It ran, and its outcome is known."""
    NO = "NO"
    """It certainly did not run."""
    MAYBE = "MAYBE"
    """It left and no outcome came back: it may have run."""

    def __str__(self) -> str:
        return self.value


class Action(Enum):
    """What the caller should do with a failed call."""

    FAILOVER = "failover"
    """Send it to another server."""
    RETRY_LATER = "retry_later"
    """No candidate is left now: try again later."""
    SURFACE = "surface"
    """Raise it to the caller."""
    SUCCESS = "success"
    """It succeeded although its reply was lost, and no value is needed."""
    IGNORE = "ignore"
    """There is no failure here."""

    def __str__(self) -> str:
        return self.value


class Category(Enum):
    """What kind of failure it was."""

    NOT_CONNECTED = "not_connected"
    """Never reached a server: refused, unreachable, name resolution, connect timed out."""
    QUIESCING = "quiescing"
    """Refused before running: draining, overloaded, not started."""
    ALL_UNAVAILABLE = "all_unavailable"
    """Every candidate was tried."""
    CONNECTION_LOST = "connection_lost"
    """The connection broke after the request had left."""
    NO_RESPONSE = "no_response"
    """Timed out waiting."""
    RESULT_LOST = "result_lost"
    """It ran; the reply was lost or unreadable."""
    STALE_REFERENCE = "stale_reference"
    """The target object is gone: resolve again."""
    TRANSACTION_ROLLED_BACK = "transaction_rolled_back"
    """Redo the whole transaction."""
    WORKLOAD_MANAGER_FAULT = "workload_manager_fault"
    """The workload manager itself is broken."""
    SECURITY = "security"
    """Authentication, permission, TLS."""
    CONFIGURATION = "configuration"
    """URL, provider, protocol mismatch."""
    NAMING_ANSWER = "naming_answer"
    """A definite answer: not found, already bound, ..."""
    APPLICATION = "application"
    """The target's own exception."""
    MARSHALLING = "marshalling"
    """Arguments or results could not be written or read."""
    RESOURCE_EXHAUSTED = "resource_exhausted"
    """This process ran out of something."""
    CLIENT_SHUTDOWN = "client_shutdown"
    """The client itself was being shut down."""
    NOT_A_FAILURE = "not_a_failure"
    """No failure at all."""
    UNKNOWN = "unknown"
    """In the shape of a failure, and no rule knows it."""

    def __str__(self) -> str:
        return self.value
