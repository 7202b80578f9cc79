"""`async for name in context`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

__all__ = ["each"]


async def each(listing: Awaitable[list[str]]) -> AsyncIterator[str]:
    """The names of a listing that is under way."""
    for name in await listing:
        yield name
