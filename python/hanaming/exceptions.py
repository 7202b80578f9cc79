"""The exceptions that users see: each is written here, once, and raised by its code on the wire.

Every one says whether the operation ran (`completion`), whether it may simply be sent again (`safe_to_retry`) and
what was tried (`attempts`). They pickle with all their fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hanaming.failure import CompletionStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hanaming.records import Attempt, NameEntry

__all__ = [
    "CommunicationError",
    "ConfigurationError",
    "ContextClosedError",
    "ContextNotEmptyError",
    "FactoryError",
    "InternalError",
    "InvalidNameError",
    "InvalidValueError",
    "LimitExceededError",
    "LinkLoopError",
    "NameAlreadyBoundError",
    "NameNotFoundError",
    "NamingError",
    "NotContextError",
    "OperationNotSupportedError",
    "ServiceUnavailableError",
    "TimeLimitExceededError",
]


class NamingError(Exception):
    """What went wrong with an operation; the base of all of hanaming's exceptions.

    Args:
        message: What went wrong, in words.
        name: The name as the caller gave it.
        resolved_name: The part of it that was resolved.
        remaining_name: The part that could not be.
        completion: Whether the operation ran.
        safe_to_retry: Whether sending the same operation again does no harm.
        attempts: What was tried, in order.
        operation_id: The id of a change that may have run.
    """

    _ran: ClassVar[CompletionStatus] = CompletionStatus.NO

    name: str | None
    """The name as the caller gave it."""
    resolved_name: str | None
    """The part of it that was resolved."""
    remaining_name: str | None
    """The part that could not be."""
    completion: CompletionStatus
    """Whether the operation ran."""
    safe_to_retry: bool
    """Whether sending the same operation again does no harm."""
    attempts: list[Attempt]
    """What was tried, in order; also shown as notes in the traceback."""
    operation_id: str | None
    """The id of a change of the cluster tree that may have run: `ctx.operation_status(id)` tells what became of it."""

    def __init__(
        self,
        message: str = "",
        *,
        name: str | None = None,
        resolved_name: str | None = None,
        remaining_name: str | None = None,
        completion: CompletionStatus | None = None,
        safe_to_retry: bool = False,
        attempts: Sequence[Attempt] = (),
        operation_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.name = name
        self.resolved_name = resolved_name
        self.remaining_name = remaining_name
        self.completion = self._ran if completion is None else completion
        self.safe_to_retry = safe_to_retry
        self.attempts = list(attempts)
        self.operation_id = operation_id

    def __str__(self) -> str:
        # `KeyError` would print the message's repr, `OSError` would look for an error number.
        return str(self.args[0]) if self.args else ""


class NameNotFoundError(NamingError, KeyError):
    """Every live node answered that it has no such name. Bind it, or ask for another."""

    _ran = CompletionStatus.YES


class NameAlreadyBoundError(NamingError):
    """The name is taken. Use `rebind`, or another name."""

    _ran = CompletionStatus.YES

    existing: NameEntry | None
    """What already stands at the name, and where."""

    def __init__(self, message: str = "", *, existing: NameEntry | None = None, **fields: Any) -> None:
        super().__init__(message, **fields)
        self.existing = existing


class NotContextError(NamingError):
    """Something on the way, or the name to be listed, is not a context. Look at `resolved_name`."""

    _ran = CompletionStatus.YES


class ContextNotEmptyError(NamingError):
    """The context has children. Remove them first."""

    _ran = CompletionStatus.YES


class InvalidNameError(NamingError, ValueError):
    """The name breaks a rule of names. Mend it."""


class InvalidValueError(NamingError, ValueError):
    """The value is no value: its bytes, or a string in it, are malformed. Mend it."""


class LinkLoopError(NamingError):
    """Links lead round in a circle or through too many hops. Mend the links."""

    _ran = CompletionStatus.YES

    chain: list[str]
    """The links that were followed, in order."""

    def __init__(self, message: str = "", *, chain: Sequence[str] = (), **fields: Any) -> None:
        super().__init__(message, **fields)
        self.chain = list(chain)


class LimitExceededError(NamingError):
    """A value or a request is over a limit. Make it smaller."""


class ContextClosedError(NamingError):
    """The context or node is closed, or was left behind by a fork. Open a new one."""


class OperationNotSupportedError(NamingError):
    """This node or version cannot do that. The message says what can."""


class ConfigurationError(NamingError, ValueError):
    """An option, URL or address is wrong. Mend it."""


class CommunicationError(NamingError, ConnectionError):
    """Talking to the server broke. See `completion` before sending it again."""


class ServiceUnavailableError(CommunicationError):
    """No server could answer, or some node was silent where every node's word was needed. Try again later."""

    answered: list[str]
    """The nodes that answered."""
    silent: list[str]
    """The nodes that did not."""
    partial: Any
    """What a listing had gathered until then (a list of `NameEntry`), else `None`."""

    def __init__(
        self,
        message: str = "",
        *,
        answered: Sequence[str] = (),
        silent: Sequence[str] = (),
        partial: Any = None,
        **fields: Any,
    ) -> None:
        super().__init__(message, **fields)
        self.answered = list(answered)
        self.silent = list(silent)
        self.partial = partial


class TimeLimitExceededError(ServiceUnavailableError, TimeoutError):
    """The time given was too short. Give more, or see who was silent."""


class FactoryError(NamingError):
    """An object or state factory of this process raised; what it raised is the `__cause__`. Mend the factory."""


class InternalError(NamingError, RuntimeError):
    """A fault of hanaming's own. Please report it."""


# The codes of the wire. They are never reused; one that this version does not know is a plain `NamingError`.
_BY_CODE: dict[int, type[NamingError]] = {
    1: NameNotFoundError,
    2: NameAlreadyBoundError,
    3: NotContextError,
    4: ContextNotEmptyError,
    5: InvalidNameError,
    6: LinkLoopError,
    7: LimitExceededError,
    8: ContextClosedError,
    9: OperationNotSupportedError,
    10: ConfigurationError,
    11: CommunicationError,
    12: ServiceUnavailableError,
    13: TimeLimitExceededError,
    14: InvalidValueError,
    15: InternalError,
}


def _from_code(code: int, message: str, fields: dict[str, Any], attempts: list[Attempt]) -> NamingError:
    """The exception of this code. Called from Rust; `fields` become attributes as they are."""
    error = _BY_CODE.get(code, NamingError)(message, attempts=attempts)
    vars(error).update(fields)
    add_note = getattr(error, "add_note", None)  # Python 3.11 and later
    if add_note is not None:
        for number, attempt in enumerate(attempts, 1):
            add_note(f"attempt {number}: {attempt}")
    return error
