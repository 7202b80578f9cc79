"""The types that signatures are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from hanaming._native import LinkRef, Reference

__all__ = ["DnsRefresh", "Policy", "Tree", "Value", "WatchScope"]

Value: TypeAlias = "bool | int | float | str | bytes | list[Value] | dict[str, Value] | Reference | LinkRef | None"
"""What can be bound: data, never code. See also `register_state_factory`."""

Tree: TypeAlias = Literal["all", "cluster", "local"]
"""Which trees a listing merges."""

Policy: TypeAlias = Literal[
    "round_robin", "random_robin", "first_available", "first_available_identical_all_proxies", "least_loaded"
]
"""How an HA context spreads its requests."""

DnsRefresh: TypeAlias = Literal["ttl", "on_empty", "always"] | float
"""When host names are resolved again."""

WatchScope: TypeAlias = Literal["object", "one_level", "subtree"]
"""How much beneath a name is watched."""
