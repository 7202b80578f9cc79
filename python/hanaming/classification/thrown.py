"""Exception objects as the chain that the core judges: each thrown exception with what hangs on it.

The order is from what the caller saw to the deepest cause, along `__cause__`, exceptions that a library keeps in an
attribute or an argument, and `__context__` where it is not suppressed. Members of a group are parts: evidence, not causes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hanaming._native import classify_chain
from hanaming.classification import foreign
from hanaming.classification.calls import failing_call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["Chain", "chain_of"]

Chain = tuple[list[dict[str, Any]], list[list[dict[str, Any]]]]

# A chain that is longer is a loop of retries that chains its errors: its ends say all.
_LONGEST = 32
_FRAMES = 8
# Raised on the way when something has to be waited for, and caught: no failures.
_TURNS = {"SSLWantReadError", "SSLWantWriteError", "BlockingIOError", "StopIteration", "StopAsyncIteration"}
_MESSAGE = 4000


def chain_of(error: BaseException) -> Chain:
    """The chain of an exception, and the parts that stand beside it."""
    thrown: list[dict[str, Any]] = []
    parts: list[list[dict[str, Any]]] = []
    phase: str | None = None
    for one, link in _walk(error):
        if link == "context":
            # What was being handled happened before, and need not be what the one after it was raised for.
            phase = None
        if thrown and type(one).__name__ in _TURNS:
            continue
        fields = _fields(one, link)
        phase = foreign.phase(one) or phase
        if phase is not None and fields.get("phase") is None:
            fields["phase"] = phase
        if thrown and _was_cut_off(thrown[-1], one):
            # asyncio makes a timeout of a cancellation: where that hit says what timed out.
            thrown[-1]["frames"] = fields["frames"] + thrown[-1]["frames"]
            continue
        thrown.append(fields)
        members = [chain_of(member)[0] for member in _members(one)]
        if members and not _is_known(fields):
            # What a group means is what the worst of its members means; the others are evidence.
            worst = max(members, key=_severity)
            members.remove(worst)
            thrown.extend({**member, "link": "nested"} for member in worst)
        parts.extend(members)
    return thrown, parts


def _severity(thrown: list[dict[str, Any]]) -> int:
    """How much is to be feared: a call that may have run more than one that ran, and that more than one that didn't."""
    completion = classify_chain(thrown)["completion"]
    return ("NO", "YES", "MAYBE").index(completion) if completion else -1


def _walk(error: BaseException) -> Iterator[tuple[BaseException, str]]:
    seen: set[int] = set()
    one: BaseException | None = error
    link = "outermost"
    while one is not None and id(one) not in seen and len(seen) < _LONGEST:
        seen.add(id(one))
        yield one, link
        kept = foreign.kept(one)
        if one.__cause__ is not None:
            one, link = one.__cause__, "cause"
        elif kept is not None and id(kept) not in seen:
            one, link = kept, "nested"
        elif one.__suppress_context__:
            one = None
        else:
            one, link = one.__context__, "context"


def _fields(error: BaseException, link: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "class": _name(type(error)),
        "message": _message(error),
        "link": link,
        "frames": _frames(error.__traceback__),
        "phase": None,
    }
    fields.update(foreign.facts(error))
    if not _is_known(fields):
        # A class of the user's own: what it inherits from may be known.
        for base in type(error).__mro__[1:]:
            if base in (Exception, BaseException, object):
                break
            of_base = {**fields, "class": _name(base)}
            if _is_known(of_base):
                return of_base
    return fields


def _is_known(fields: dict[str, Any]) -> bool:
    """Whether a rule knows it, be it that it says nothing of how far the call had come."""
    return bool(classify_chain([fields])["detail"] != "unknown")


def _name(cls: type) -> str:
    name = cls.__qualname__.rpartition("<locals>.")[2]
    return name if cls.__module__ == "builtins" else f"{cls.__module__}.{name}"


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - what a stranger's `__str__` does must not hide the failure itself
        return ""
    return text[:_MESSAGE]


def _members(error: BaseException) -> list[BaseException]:
    """The members of an exception group; also a backport's, before Python 3.11."""
    members = getattr(error, "exceptions", None)
    if not isinstance(members, (tuple, list)):
        return []
    return [member for member in members if isinstance(member, BaseException)][:_LONGEST]


def _was_cut_off(before: dict[str, Any], error: BaseException) -> bool:
    return type(error).__name__ == "CancelledError" and before["class"].rpartition(".")[2] == "TimeoutError"


def _frames(traceback: TracebackType | None) -> list[str]:
    """The uppermost frames, the one that threw first; that one with the call that failed, where that is certain."""
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    shown: list[str] = []
    for entry in reversed(entries[-_FRAMES:]):
        code = entry.tb_frame.f_code
        frame = f'File "{code.co_filename}", line {entry.tb_lineno}, in {code.co_name}'
        if not shown and (call := failing_call(entry)):
            frame = f"{frame}: {call}"
        shown.append(frame)
    return shown
