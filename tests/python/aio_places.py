"""The asyncio twin in the contract tests: its contexts behind blocking calls, so that the same tests run on both."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from hanaming import Node, _native, aio
from places import Place


class Portal:
    """An event loop in a thread. What one calling thread asks for runs in one task, of which `explain()` speaks."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._tasks = threading.local()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def call(self, made: Callable[[], Any]) -> Any:
        """What `made()` gives, in this thread's task; awaited where it can be."""
        asked: asyncio.Queue[tuple[Callable[[], Any], Future[Any]]] | None = getattr(self._tasks, "asked", None)
        if asked is None:
            asked = self._tasks.asked = asyncio.Queue()
            asyncio.run_coroutine_threadsafe(self._serve(asked), self._loop)
        answer: Future[Any] = Future()
        self._loop.call_soon_threadsafe(asked.put_nowait, (made, answer))
        return answer.result(timeout=60)

    async def _serve(self, asked: asyncio.Queue[tuple[Callable[[], Any], Future[Any]]]) -> None:
        while True:
            made, answer = await asked.get()
            try:
                result = made()
                answer.set_result(await result if isinstance(result, Awaitable) else result)
            except Exception as error:  # noqa: BLE001
                answer.set_exception(error)

    def close(self) -> None:
        """Ends the loop and all that runs on it."""

        async def cancel() -> None:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(cancel(), self._loop).result(timeout=60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=60)
        self._loop.close()


class BlockingContext:
    """A context of `hanaming.aio`, called as if it were one of `hanaming`."""

    def __init__(self, portal: Portal, context: aio.Context) -> None:
        self._portal = portal
        self._context = context

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._context, name)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._wrapped(self._portal.call(lambda: found(*args, **kwargs)))

        return call

    def __iter__(self) -> Iterator[str]:
        async def collect() -> list[str]:
            return [name async for name in self._context]

        return iter(self._portal.call(collect))

    def __repr__(self) -> str:
        return repr(self._context)

    def _wrapped(self, result: Any) -> Any:
        if isinstance(result, aio.Context):
            return BlockingContext(self._portal, result)
        if isinstance(result, list):
            return [self._wrapped(item) for item in result]
        if type(result) is dict:
            return {key: self._wrapped(item) for key, item in result.items()}
        if isinstance(getattr(result, "value", None), aio.Context):
            object.__setattr__(result, "value", self._wrapped(result.value))
        return result


@contextmanager
def _portal() -> Iterator[Portal]:
    portal = Portal()
    try:
        yield portal
    finally:
        portal.close()


def _place(kind: str, *, is_ha: bool) -> Callable[[], Any]:
    @contextmanager
    def opened() -> Iterator[Place]:
        with Node("n1") as node, _portal() as portal:
            if kind == "aio-in-process":
                local = not is_ha
                context: aio.Context = (
                    _native.aio_context_of(node, local=True) if local else _native.aio_context_of(node, local=False)
                )
            else:
                context = aio.HAContext(node.url) if is_ha else aio.Context(node.url)
            blocking = BlockingContext(portal, context)
            yield Place("ha" if is_ha else "local", node, blocking, is_ha=is_ha)
            blocking.aclose()

    return opened


AIO_PLACES = {
    "aio-local": _place("aio-in-process", is_ha=False),
    "aio-local-url": _place("aio-url", is_ha=False),
    "aio-ha": _place("aio-in-process", is_ha=True),
    "aio-ha-url": _place("aio-url", is_ha=True),
}
