"""Descriptions: a failure as a mapping, as programs, metrics and people write it down."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any

__all__ = ["description_of", "is_repeatable"]

# The keys in circulation, the usual ones first.
_CLASS = ("exception", "class", "exception_class", "type", "error")
_MESSAGE = ("message", "description", "details", "detail", "text")
_CAUSE = ("cause", "causes", "caused_by", "root_cause", "nested")
_MINOR = ("minor", "minor_code", "minor_hex_text", "minor_hex", "minor_decimal")
_COMPLETED = ("completed", "completion", "completion_status")
_VENDOR = ("vmcid", "vendor", "vendor_id")
_GRPC = ("grpc_code", "grpc_status", "status_code")
_CODE = ("code", "errno", "errno_name", "symbol")
_FRAMES = ("frames", "stack", "frame")
# No chain of causes that anybody wrote down is longer.
_DEEPEST = 64
_READS = {"read", "get", "lookup", "list", "query", "search", "find"}


def description_of(given: Mapping[str, Any], depth: int = 0) -> dict[str, Any]:
    """What a mapping says, in the core's words. What it says under other keys is left alone.

    Raises:
        ValueError: Its causes lead round in a circle, or on and on.
    """
    if depth > _DEEPEST:
        raise ValueError(f"the causes in the mapping lead round in a circle, or are over {_DEEPEST} deep: cut them off")
    description = {
        "exception": _text(_first(given, _CLASS)),
        "message": _text(_first(given, _MESSAGE)),
        "completed": _text(_first(given, _COMPLETED)),
        "vmcid": _text(_first(given, _VENDOR)),
        "minor": [_text(given[key]) for key in _MINOR if given.get(key) is not None],
        "code": _symbol(_first(given, _CODE)),
        "phase": _text(given.get("phase")),
        "cause": _cause(_first(given, _CAUSE), depth),
        "frames": [_text(frame) for frame in _listed(_first(given, _FRAMES))],
    }
    status = _first(given, _GRPC)
    if status is not None:
        description["code"] = _text(status).rpartition(".")[2].upper()
        description["exception"] = description["exception"] or "grpc.RpcError"
    return description


def is_repeatable(given: Mapping[str, Any]) -> bool:
    """Whether it says that the call does no harm when it runs twice."""
    operation = given.get("op", given.get("operation"))
    return given.get("idempotent") is True or (isinstance(operation, str) and operation.lower() in _READS)


def _cause(cause: object, depth: int) -> str:
    """Causes as a log would show them: texts, further mappings, or several of them, each the cause of the one before."""
    shown = []
    for one in _listed(cause):
        if isinstance(one, Mapping):
            described = description_of(one, depth + 1)
            parts = [described["exception"] + ":", described["message"]]
            parts += [f"vmcid: {described['vmcid']}"] if described["vmcid"] else []
            parts += [f"minor code: {minor}" for minor in described["minor"]]
            parts += [f"completed: {described['completed']}"] if described["completed"] else []
            shown += [" ".join(parts), *([described["cause"]] if described["cause"] else [])]
        else:
            shown.append(_text(one))
    return "\nCaused by: ".join(shown)


def _symbol(code: object) -> str:
    """A symbol; an errno's number becomes this system's symbol for it."""
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    return errno.errorcode.get(code, str(code)) if isinstance(code, int) else _text(code)


def _listed(value: object) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _first(given: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value for key in keys if (value := given.get(key)) is not None), None)


def _text(value: object) -> str:
    """A value as text: an enum's is its name, an ORB's item's is printed."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else str(value)
