"""`hanaming.aio.Watch`: events of watched names, for whoever listens on an event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from hanaming import _native
    from hanaming.records import Event

__all__ = ["Watch"]


class Watch:
    """Events of watched names: an asynchronous iterator and context manager. The twin of `hanaming.Watch`.

    Each event says what happened to a name: first the names that are bound, as `added`, then each change. Closing it
    ends the iteration; where the context is closed, or its node in this process, that is an error.
    """

    def __init__(self, watch: _native.Watch) -> None:
        self._watch = watch
        self._waiting: set[asyncio.Future[None]] = set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while True:
            event = self._watch._poll()  # noqa: SLF001 - it is there for this
            if event is not None:
                return event
            await self._rung()

    async def _rung(self) -> None:
        """Waits until there may be an event."""
        loop = asyncio.get_running_loop()
        descriptor = self._watch._descriptor()  # noqa: SLF001 - and so is this
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.add(future)
        loop.add_reader(descriptor, self._wake)
        try:
            await future
        finally:
            self._waiting.discard(future)
            if not self._waiting:
                loop.remove_reader(descriptor)

    def _wake(self) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    def aclose(self) -> asyncio.Future[None]:
        """Ends it. Doing so again does nothing."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watch.close()
        done.set_result(None)
        return done

    def close(self) -> asyncio.Future[None]:
        """The same as `aclose`."""
        return self.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<aio.{repr(self._watch)[1:]}"
