"""CORBA's system exceptions, named as the OMG's Python mapping names them.

    from hanaming import CompletionStatus, classify, corba

    error = corba.COMM_FAILURE(corba.OMNIORB | 7, CompletionStatus.MAYBE)
    classify(error).category                      # Category.CONNECTION_LOST

A program that has no ORB can raise them, keep them and classify them; `hanaming.classify` reads an ORB's own alike. A minor
code is a vendor's id and the vendor's number; what it means depends on the class (`hanaming explain 0x49421040`).
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from hanaming._arguments import count
from hanaming.failure import CompletionStatus

_BITS = 0xFFFFFFFF

OMG = 0x4F4D0000
"""The standard's own vendor id."""
SUN = 0x53550000
"""The ORB of Sun's and Oracle's JDK, and of GlassFish."""
IBM_ORB = 0x4942F000
"""IBM's Java ORB."""
IBM_WEBSPHERE = 0x49421000
"""IBM WebSphere: workload management."""
YOKO = 0x41534000
"""Apache Yoko, and Open Liberty's ORB."""
OMNIORB = 0x41540000
"""omniORB."""
JACORB = 0x4A430000
"""JacORB."""
TAO = 0x54410000
"""TAO."""


COMPLETED_YES = CompletionStatus.YES
"""It ran."""
COMPLETED_NO = CompletionStatus.NO
"""It did not run."""
COMPLETED_MAYBE = CompletionStatus.MAYBE
"""It may have run."""


class SystemException(Exception):
    """What an ORB raises; the base of all of them.

    Args:
        minor: The minor code, vendor id included; 32 bits. A negative number means its bits, as some ORBs print it.
        completed: Whether the operation ran: a `CompletionStatus`, its word or the mapping's (`"COMPLETED_NO"`).
    """

    minor: int
    """The minor code, vendor id included."""
    completed: CompletionStatus
    """Whether the operation ran."""

    def __init__(self, minor: int = 0, completed: CompletionStatus | str = CompletionStatus.MAYBE) -> None:
        self.minor = count("minor", minor, least=-(1 << 31), most=_BITS) & _BITS
        self.completed = _status(completed)
        super().__init__(self.minor, self.completed)

    def __str__(self) -> str:
        # As ORBs print it, so that it is understood in a log, too.
        return (
            f"vmcid: {self.minor & ~0xFFF:#x}  minor code: {self.minor & 0xFFF:#x}  completed: {self.completed.value}"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.minor:#010x}, {self.completed})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SystemException) or type(other) is not type(self):
            return NotImplemented
        return (self.minor, self.completed) == (other.minor, other.completed)

    def __hash__(self) -> int:
        return hash((type(self), self.minor, self.completed))


def _status(completed: Any) -> CompletionStatus:
    if isinstance(completed, CompletionStatus):
        return completed
    word = completed.name if isinstance(completed, Enum) else completed
    try:
        return CompletionStatus(str(word).upper().removeprefix("COMPLETED_"))
    except ValueError:
        raise ValueError(f"completed is {completed!r}: give CompletionStatus.YES, NO or MAYBE") from None


class UNKNOWN(SystemException):
    """The target threw what the ORB cannot name."""


class BAD_PARAM(SystemException):
    """A parameter was refused."""


class NO_MEMORY(SystemException):
    """Memory had run out."""


class IMP_LIMIT(SystemException):
    """A limit of the ORB was reached."""


class COMM_FAILURE(SystemException):
    """The connection broke."""


class INV_OBJREF(SystemException):
    """The object reference is not valid."""


class NO_PERMISSION(SystemException):
    """Permission was refused."""


class INTERNAL(SystemException):
    """The ORB failed inside; under IBM's workload management, that itself is broken."""


class MARSHAL(SystemException):
    """Arguments or results could not be read."""


class INITIALIZE(SystemException):
    """The local ORB did not start."""


class NO_IMPLEMENT(SystemException):
    """The server does not implement it; under IBM's workload management, no server can process the request."""


class BAD_TYPECODE(SystemException):
    """A type code is wrong."""


class BAD_OPERATION(SystemException):
    """The server does not know the operation."""


class NO_RESOURCES(SystemException):
    """A resource had run out."""


class NO_RESPONSE(SystemException):
    """No reply came."""


class PERSIST_STORE(SystemException):
    """The server's store failed."""


class BAD_INV_ORDER(SystemException):
    """The local ORB was used out of order, or has shut down."""


class TRANSIENT(SystemException):
    """The server could not be reached, or not now; some ORBs use it for timeouts, too."""


class FREE_MEM(SystemException):
    """The local ORB could not free memory."""


class INV_IDENT(SystemException):
    """An identifier is not valid."""


class INV_FLAG(SystemException):
    """A flag is not valid."""


class INTF_REPOS(SystemException):
    """The interface repository failed."""


class BAD_CONTEXT(SystemException):
    """The context was refused."""


class OBJ_ADAPTER(SystemException):
    """The object adapter does not serve it."""


class DATA_CONVERSION(SystemException):
    """Data could not be converted."""


class OBJECT_NOT_EXIST(SystemException):
    """The object is gone: resolve its name again."""


class TRANSACTION_REQUIRED(SystemException):
    """A transaction is needed."""


class TRANSACTION_ROLLEDBACK(SystemException):
    """The transaction was rolled back: redo all of it."""


class INVALID_TRANSACTION(SystemException):
    """The transaction is not valid."""


class INV_POLICY(SystemException):
    """The policies do not fit."""


class CODESET_INCOMPATIBLE(SystemException):
    """The code sets do not fit."""


class REBIND(SystemException):
    """The reference must be bound again."""


class TIMEOUT(SystemException):
    """The call's time ran out."""


class TRANSACTION_UNAVAILABLE(SystemException):
    """There is no transaction service."""


class TRANSACTION_MODE(SystemException):
    """The transaction's mode does not fit."""


class BAD_QOS(SystemException):
    """The quality of service cannot be had."""


class INVALID_ACTIVITY(SystemException):
    """The activity's context is not valid."""


class ACTIVITY_COMPLETED(SystemException):
    """The activity has ended."""


class ACTIVITY_REQUIRED(SystemException):
    """An activity is needed."""
