"""What other libraries' exceptions carry beside their message, read without importing any of them.

Everything is asked with care: an attribute may be missing, of another type in another version, or raise.
"""

from __future__ import annotations

import errno
from typing import Any

from hanaming.corba import SystemException
from hanaming.exceptions import NamingError
from hanaming.failure import CompletionStatus

__all__ = ["facts", "kept", "phase"]

# Classes whose name says that a connection was being made: what they were raised for happened then, too. That one says
# "read" proves less: urllib3 calls a handshake that timed out a read.
_CONNECTING = {
    "ConnectError",
    "ConnectTimeout",
    "ConnectTimeoutError",
    "ConnectionTimeoutError",
    "ClientConnectorError",
    "ClientProxyConnectionError",
    "NewConnectionError",
    "NameResolutionError",
    "ConnectionTimeout",
    "KazooTimeoutError",
}
# What gRPC's futures raise in place of a status.
_FUTURES = {"FutureCancelledError": "CancelledError", "FutureTimeoutError": "TimeoutError"}


def facts(error: BaseException) -> dict[str, Any]:
    """The fields of the chain that this kind of exception knows better than its class and message."""
    if isinstance(error, NamingError):
        return {"completed": error.completion.value, "phase": error.attempts[-1].phase if error.attempts else None}
    if isinstance(error, SystemException) or _is_kind(error, "SystemException", "CORBA"):
        return _corba(error)
    if _is_kind(error, "RpcError", "grpc"):
        return _grpc(error)
    if (status := _http_status(error)) is not None:
        return {"message": f"HTTP status {status}: {error}"}
    if name := _plain_name(error):
        return {"class": name}
    return {"code": _symbol(error)}


def _plain_name(error: BaseException) -> str | None:
    """The plain class that an exception stands for."""
    name = type(error).__name__
    if name in _FUTURES and _is_kind(error, name, "grpc"):
        return _FUTURES[name]
    if name == "SSLError" and not _is_kind(error, name, "ssl") and kept(error) is not None:
        # Says no more than that it happened within TLS; what it was raised for says what.
        return "ConnectionError"
    return None


def _symbol(error: BaseException) -> str | None:
    """The symbol of an error number; a database's state."""
    if isinstance(error, OSError):
        # TLS and the resolver number their errors by themselves.
        own_numbers = any(cls.__module__ in ("ssl", "socket") for cls in type(error).__mro__)
        return None if own_numbers else errno.errorcode.get(error.errno or 0)
    state = _ask(error, "sqlstate") or _ask(error, "pgcode")
    return state if isinstance(state, str) else None


def _http_status(error: BaseException) -> int | None:
    """The status of an HTTP reply that a client raised for."""
    if type(error).__name__ not in ("HTTPError", "HTTPStatusError", "ClientResponseError"):
        return None
    response = _ask(error, "response")
    for status in (_ask(error, "status"), _ask(error, "code"), getattr(response, "status_code", None)):
        if isinstance(status, int):
            return status
    return None


def kept(error: BaseException) -> BaseException | None:
    """The exception that an exception was raised for, where a library keeps it elsewhere than in `__cause__`."""
    for name in ("reason", "os_error"):
        found = _ask(error, name)
        if isinstance(found, BaseException) and found is not error:
            return found
    return next((arg for arg in error.args if isinstance(arg, BaseException) and arg is not error), None)


def phase(error: BaseException) -> str | None:
    """`"connect"` where the class says that a connection was being made."""
    return "connect" if any(cls.__name__ in _CONNECTING for cls in type(error).__mro__) else None


def _corba(error: BaseException) -> dict[str, Any]:
    found: dict[str, Any] = {
        "class": f"CORBA.{type(error).__name__}",
        "completed": _completed(_ask(error, "completed")),
    }
    minor = _ask(error, "minor")
    if isinstance(minor, int):
        found["minor"] = minor & 0xFFFFFFFF
    return found


def _completed(status: object) -> str | None:
    """The word of a completion status: ours, an ORB's enum item, or its number on the wire."""
    if isinstance(status, CompletionStatus):
        return status.value
    if isinstance(status, int):
        return ("YES", "NO", "MAYBE")[status] if 0 <= status <= 2 else None  # noqa: PLR2004 - as CORBA numbers them
    name = getattr(status, "_n", None) or getattr(status, "name", None) or str(status)
    word = str(name).upper().rpartition("COMPLETED_")[2]
    return word if word in CompletionStatus.__members__ else None


def _grpc(error: BaseException) -> dict[str, Any]:
    code = _ask(error, "code")
    details = _ask(error, "details") or _ask(error, "debug_error_string")
    found: dict[str, Any] = {"class": "grpc.RpcError", "code": getattr(code, "name", None)}
    if isinstance(details, str):
        found["message"] = details
    return found


def _is_kind(error: BaseException, name: str, package: str) -> bool:
    """Whether a class of that name in that package is among the bases."""
    return any(cls.__name__ == name and package in cls.__module__.split(".") for cls in type(error).__mro__)


def _ask(error: BaseException, name: str) -> Any:
    """An attribute's value, or what a method without arguments returns; `None` where there is none."""
    try:
        found = getattr(error, name, None)
        return found() if callable(found) and not isinstance(found, BaseException) else found
    except Exception:  # noqa: BLE001 - a stranger's property must not hide the failure itself
        return None
