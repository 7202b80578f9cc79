"""The asyncio twin of `hanaming`: the same names, with `await`.

    from hanaming.aio import HAContext, Node

    async with Node("n1") as n1, HAContext(n1.url) as ctx:
        await n1.local.bind("orders", {"url": "http://10.0.0.5:8080"})
        await ctx.lookup("orders")
        async for name in ctx:
            print(name)

A method of a context returns a future of the running event loop, so a call starts when it is made; cancelling the
future gives the call up. `explain()`, `targets` and `view` are at hand and not awaited. A context may be used on any
number of loops, one after the other or at the same time in several threads; it needs loops with `add_reader()`
(asyncio's own on Linux and macOS, uvloop).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hanaming._native import AioContext as Context
from hanaming._native import AioHAContext as HAContext
from hanaming.aio._node import Node, Registration
from hanaming.aio._watch import Watch

if TYPE_CHECKING:
    from hanaming.aio._balancer import Balancer

__all__ = ["Balancer", "Context", "HAContext", "Node", "Registration", "Watch"]


def __getattr__(name: str) -> Any:
    """What importing `hanaming.aio` need not load."""
    if name == "Balancer":
        from hanaming.aio._balancer import Balancer  # noqa: PLC0415

        globals()[name] = Balancer
        return Balancer
    raise AttributeError(f"module 'hanaming.aio' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
