"""The two faces as one: a test of contexts is written once and runs for both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import hanaming
from hanaming import aio

FACES = ["sync", "asyncio"]


class Sync:
    """`hanaming`."""

    module = hanaming

    def do(self, call, *args, **options):
        return call(*args, **options)

    def close(self, context):
        context.close()


class Asynchronous(Sync):
    """`hanaming.aio`, on a loop of its own."""

    module = aio

    def __init__(self, loop):
        self.loop = loop

    def do(self, call, *args, **options):
        async def run():
            return await call(*args, **options)

        return self.loop.run_until_complete(run())

    def close(self, context):
        self.do(context.aclose)


@contextmanager
def face(name: str) -> Iterator[Sync]:
    if name == "sync":
        yield Sync()
        return
    loop = asyncio.new_event_loop()
    yield Asynchronous(loop)
    loop.close()
