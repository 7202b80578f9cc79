"""The two balancers as one: a contract test is written once and runs for both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import hanaming
from hanaming import Target, aio


class Sync:
    """`hanaming.Balancer`."""

    name = "Balancer"

    def make(self, source: Any, **options: Any) -> Any:
        return hanaming.Balancer(source, **options)

    def loop(self, balancer: Any, fn: Callable[[Target], Any], **needs: bool) -> Any:
        """`fn` in the block of each attempt; what it gives, or `None` where the loop ended without that."""
        for attempt in balancer.attempts(**needs):
            with attempt as target:
                return fn(target)
        return None

    def call(self, balancer: Any, *args: Any, **kwargs: Any) -> Any:
        return balancer.call(*args, **kwargs)

    def explain(self, balancer: Any) -> list[hanaming.Attempt]:
        found: list[hanaming.Attempt] = balancer.explain()
        return found

    def close(self, balancer: Any) -> None:
        balancer.close()


class Asynchronous(Sync):
    """`hanaming.aio.Balancer`, on a loop of its own; `explain()` is asked in the task that called."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._explained: list[hanaming.Attempt] = []

    def make(self, source: Any, **options: Any) -> Any:
        return aio.Balancer(source, **options)

    def _run(self, balancer: Any, work: Any) -> Any:
        async def explained() -> Any:
            try:
                return await work
            finally:
                self._explained = balancer.explain()

        return self._loop.run_until_complete(explained())

    def loop(self, balancer: Any, fn: Callable[[Target], Any], **needs: bool) -> Any:
        async def run() -> Any:
            async for attempt in balancer.attempts(**needs):
                async with attempt as target:
                    return fn(target)
            return None

        return self._run(balancer, run())

    def call(self, balancer: Any, *args: Any, **kwargs: Any) -> Any:
        return self._run(balancer, balancer.call(*args, **kwargs))

    def explain(self, balancer: Any) -> list[hanaming.Attempt]:
        return self._explained

    def close(self, balancer: Any) -> None:
        self._loop.run_until_complete(balancer.aclose())


@contextmanager
def asynchronous() -> Iterator[Sync]:
    loop = asyncio.new_event_loop()
    try:
        yield Asynchronous(loop)
    finally:
        loop.close()


@contextmanager
def sync() -> Iterator[Sync]:
    yield Sync()


TWINS = {"sync": sync, "aio": asynchronous}
