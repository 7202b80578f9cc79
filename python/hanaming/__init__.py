"""Highly available naming.

A *name* is bound to a *value* on one of a cluster's nodes. Any client finds it from anywhere, goes on finding it
while nodes die, come back, quiesce or change address, and when a call fails the client knows whether the call ran
and whether it may be sent again.

    from hanaming import HAContext, Node

    with Node("n1") as n1, Node("n2", seeds=[n1.address]) as n2:
        n1.local.bind("orders", {"url": "http://10.0.0.5:8080"})
        with HAContext(n2.url) as ctx:
            ctx.lookup("orders")

`hanaming.aio` is the asyncio twin: the same names, with `await`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hanaming import _startup as _startup
from hanaming._native import Context, HAContext, LinkRef, Name, Node, Reference, Registration, Watch, __version__
from hanaming.exceptions import (
    CommunicationError,
    ConfigurationError,
    ContextClosedError,
    ContextNotEmptyError,
    FactoryError,
    InternalError,
    InvalidNameError,
    InvalidValueError,
    LimitExceededError,
    LinkLoopError,
    NameAlreadyBoundError,
    NameNotFoundError,
    NamingError,
    NotContextError,
    OperationNotSupportedError,
    ServiceUnavailableError,
    TimeLimitExceededError,
)
from hanaming.factories import register_object_factory, register_state_factory
from hanaming.failure import Action, Category, CompletionStatus

if TYPE_CHECKING:
    from hanaming import aio as aio
    from hanaming import corba as corba
    from hanaming import jndi as jndi
    from hanaming import log as log
    from hanaming import simulation as simulation
    from hanaming.balancer import Balancer
    from hanaming.classification import Report, Verdict, classify, read_failures
    from hanaming.records import (
        Attempt,
        Binding,
        CheckReport,
        Conflict,
        Event,
        Hidden,
        Instance,
        Member,
        Metrics,
        Mismatch,
        NameEntry,
        NodeStatus,
        OperationStatus,
        Receipt,
        Resolution,
        Setting,
        Target,
        TreeCopy,
        View,
    )
    from hanaming.types import DnsRefresh, Policy, Tree, Value

__all__ = [
    "Action",
    "Attempt",
    "Balancer",
    "Binding",
    "Category",
    "CheckReport",
    "CommunicationError",
    "CompletionStatus",
    "ConfigurationError",
    "Conflict",
    "Context",
    "ContextClosedError",
    "ContextNotEmptyError",
    "DnsRefresh",
    "Event",
    "FactoryError",
    "HAContext",
    "Hidden",
    "Instance",
    "InternalError",
    "InvalidNameError",
    "InvalidValueError",
    "LimitExceededError",
    "LinkLoopError",
    "LinkRef",
    "Member",
    "Metrics",
    "Mismatch",
    "Name",
    "NameAlreadyBoundError",
    "NameEntry",
    "NameNotFoundError",
    "NamingError",
    "Node",
    "NodeStatus",
    "NotContextError",
    "OperationNotSupportedError",
    "OperationStatus",
    "Policy",
    "Receipt",
    "Reference",
    "Registration",
    "Report",
    "Resolution",
    "ServiceUnavailableError",
    "Setting",
    "Target",
    "TimeLimitExceededError",
    "Tree",
    "TreeCopy",
    "Value",
    "Verdict",
    "View",
    "Watch",
    "__version__",
    "classify",
    "read_failures",
    "register_object_factory",
    "register_state_factory",
]


_OF_CLASSIFICATION = ("Report", "Verdict", "classify", "read_failures")


def __getattr__(name: str) -> Any:
    """What importing `hanaming` need not load: `Balancer`, records, type aliases and the modules beside it."""
    found: Any
    if name == "Balancer":
        from hanaming.balancer import Balancer  # noqa: PLC0415

        found = Balancer
    elif name in _OF_CLASSIFICATION:
        from hanaming import classification  # noqa: PLC0415

        found = getattr(classification, name)
    elif name in __all__:
        from hanaming import records, types  # noqa: PLC0415

        found = getattr(records, name, None) or getattr(types, name)
    elif name == "aio":
        import hanaming.aio  # noqa: PLC0415 - `from hanaming import aio` would ask this very function

        found = hanaming.aio
    elif name == "corba":
        import hanaming.corba  # noqa: PLC0415

        found = hanaming.corba
    elif name == "jndi":
        import hanaming.jndi  # noqa: PLC0415

        found = hanaming.jndi
    elif name == "log":
        import hanaming.log  # noqa: PLC0415

        found = hanaming.log
    elif name == "simulation":
        import hanaming.simulation  # noqa: PLC0415

        found = hanaming.simulation
    else:
        message = f"module 'hanaming' has no attribute {name!r}"
        raise AttributeError(message)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "aio", "corba", "jndi", "log", "simulation"})
