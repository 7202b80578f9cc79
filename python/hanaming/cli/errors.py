"""From an exception to one message and an exit status.

| status | meaning |
|---|---|
| 0 | done |
| 1 | a naming answer: not found, already bound, …; findings of `check` |
| 2 | usage: an option, a name, a value or a setting is wrong; nothing was sent |
| 3 | not reachable: nobody who could know the answer gave one; a member that `status` got no answer from |
| 4 | outcome unknown: a change may or may not have been made |
| 74 | standard output can't be written |
| 130 | interrupted |
| 141 | whoever read standard output has gone |
"""

from __future__ import annotations

from typing import Any

from hanaming import (
    Attempt,
    CommunicationError,
    CompletionStatus,
    ConfigurationError,
    ContextClosedError,
    InvalidNameError,
    InvalidValueError,
    LimitExceededError,
    NamingError,
    ServiceUnavailableError,
)

DONE = 0
ANSWER = 1
USAGE = 2
UNREACHABLE = 3
UNKNOWN = 4
NOT_WRITTEN = 74
INTERRUPTED = 130
BROKEN_PIPE = 141


def exit_status(error: NamingError, *, mutation: bool) -> int:
    """The exit status for an error. What a read left behind is never unknown: it changes nothing."""
    if mutation and error.completion is CompletionStatus.MAYBE:
        return UNKNOWN
    if isinstance(error, (InvalidNameError, ConfigurationError)):
        return USAGE
    if isinstance(error, (InvalidValueError, LimitExceededError)) and not error.attempts:
        return USAGE  # it was the argument that is wrong or too large: nobody was asked
    if isinstance(error, (CommunicationError, ContextClosedError)):
        return UNREACHABLE
    return ANSWER


def document(error: NamingError, message: str, status: int) -> dict[str, Any]:
    """An error for programs: its class, its message and its fields, and the exit status that goes with it."""
    document: dict[str, Any] = {
        "type": type(error).__name__,
        "message": message,
        "name": error.name,
        "resolved_name": error.resolved_name,
        "remaining_name": error.remaining_name,
        "completion": error.completion.value,
        "safe_to_retry": error.safe_to_retry,
        "attempts": attempt_documents(error.attempts),
        "status": status,
    }
    if isinstance(error, ServiceUnavailableError):
        document |= {"answered": error.answered, "silent": error.silent}
    return document


def attempt_documents(attempts: list[Attempt]) -> list[dict[str, Any]]:
    """The attempts of a call for programs."""
    return [
        {
            "target": attempt.target,
            "phase": attempt.phase,
            "outcome": attempt.outcome,
            "completion": attempt.completion.value,
            "elapsed": attempt.elapsed,
            "why_next": attempt.why_next,
        }
        for attempt in attempts
    ]


def attempt_lines(attempts: list[Attempt]) -> list[str]:
    """One line for each attempt: target, phase, outcome, completion, time, and why the next one was made."""
    lines = []
    for number, attempt in enumerate(attempts, 1):
        line = f"  {number}. {attempt.target}  {attempt.phase}: {attempt.outcome}"
        line += f"  (completed {attempt.completion.value}, {attempt.elapsed * 1000:.1f} ms)"
        if attempt.why_next:
            line += f"; next: {attempt.why_next}"
        lines.append(line)
    return lines


def printable(text: str) -> str:
    """The text on one line, with all that is not printable escaped: a name or a value must not steer the terminal."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def text(given: str, what: str) -> str:
    """What was given on the command line or in the environment, where it is text: bytes can be given, too."""
    try:
        given.encode()
    except UnicodeEncodeError:
        raise ConfigurationError(f"{what} is not UTF-8: '{printable(given)}'") from None
    return given


def _escaped(c: str) -> str:
    if "\udc80" <= c <= "\udcff":  # how Python keeps a byte that is no text
        return f"\\x{ord(c) - 0xDC00:02x}"
    return c.encode("unicode_escape").decode("ascii")
