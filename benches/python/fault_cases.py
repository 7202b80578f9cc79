"""The gap that clients see when the node that they use is killed, frozen or quiesced, under running lookups."""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from servers import NodeProcess, nodes
from sync_cases import VALUE

import hanaming
import hanaming.aio

_SECONDS = 1.5
_CALLERS = (1, 8, 64)
# What is done to the node in use. The first row shows how long a lookup takes its turn where nothing happens: 64 callers
# wait for each other.
_FAULTS = (
    ("none", None, ""),
    ("kill -9", signal.SIGKILL, "0 failed, <= 5 ms median, <= 20 worst"),
    ("SIGSTOP", signal.SIGSTOP, "0 failed, <= 300 ms"),
    ("quiesce", signal.SIGTERM, "0 failed"),
)


@dataclass
class Seen:
    """What callers saw in one round."""

    done: int = 0
    failed: int = 0
    longest: float = 0.0
    """The longest time in seconds that a caller waited for one answer."""

    def call(self, error: Exception | None, took: float) -> None:
        self.done += error is None
        self.failed += error is not None
        self.longest = max(self.longest, took)


def bind_everywhere(cluster: list[NodeProcess]) -> None:
    """The name in every node's local tree, so that each answers by itself."""
    for node in cluster:
        with hanaming.Context(f"hn://{node.address}") as local:
            local.rebind("bench/value", VALUE, create_parents=True)


def _turns(seen: Seen, end: float) -> Iterator[Callable[[Exception | None], None]]:
    """For one caller: what it is to tell after each lookup, until the time is over."""
    last = time.monotonic()
    while last < end:
        began = last

        def over(error: Exception | None, began: float = began) -> None:
            seen.call(error, time.monotonic() - began)

        yield over
        last = time.monotonic()


def from_threads(provider: list[str], callers: int, struck: Callable[[str], None]) -> Seen:
    """Lookups from so many threads over one context; the fault comes after a fifth of the time."""
    every = [Seen() for _ in range(callers)]
    with hanaming.HAContext(provider, policy="first_available") as context:
        context.lookup("bench/value")
        end = time.monotonic() + _SECONDS

        def work(seen: Seen) -> None:
            for over in _turns(seen, end):
                try:
                    context.lookup("bench/value", timeout=1.0)
                    over(None)
                except hanaming.NamingError as error:
                    over(error)

        threads = [threading.Thread(target=work, args=(seen,)) for seen in every]
        used = str(context.explain()[-1].target)
        for thread in threads:
            thread.start()
        threading.Event().wait(_SECONDS / 5)
        struck(used)
        for thread in threads:
            thread.join()
    return _all(every)


def from_tasks(provider: list[str], callers: int, struck: Callable[[str], None]) -> Seen:
    """The same from tasks of one event loop."""
    every = [Seen() for _ in range(callers)]

    async def run() -> None:
        async with hanaming.aio.HAContext(provider, policy="first_available") as context:
            await context.lookup("bench/value")
            used = str(context.explain()[-1].target)
            end = time.monotonic() + _SECONDS

            async def work(seen: Seen) -> None:
                for over in _turns(seen, end):
                    try:
                        await context.lookup("bench/value", timeout=1.0)
                        over(None)
                    except hanaming.NamingError as error:
                        over(error)

            tasks = [asyncio.create_task(work(seen)) for seen in every]
            await asyncio.sleep(_SECONDS / 5)
            struck(used)
            await asyncio.gather(*tasks)

    asyncio.run(run())
    return _all(every)


def _all(every: list[Seen]) -> Seen:
    return Seen(sum(s.done for s in every), sum(s.failed for s in every), max(s.longest for s in every))


def one_round(number: signal.Signals | None, run: Callable[..., Seen], callers: int) -> Seen:
    """Three nodes of their own; the one in use is struck."""
    with nodes(3) as cluster:
        bind_everywhere(cluster)

        def struck(used: str) -> None:
            victim = next(node for node in cluster if node.address == used)
            if number is not None:
                os.kill(victim.pid, number)

        return run([node.address for node in cluster], callers, struck)


def measure(rounds: int) -> None:
    print("\nthe node in use is struck under lookups (the longest that any caller waited for one answer)")
    print(
        f"{'fault':8}  {'callers':>10}  {'lookups':>9}  {'failed':>6}  {'median ms':>9}  {'worst ms':>8}  to reach with 1"
    )
    for fault, number, goal in _FAULTS:
        for kind, run in (("threads", from_threads), ("tasks", from_tasks)):
            for callers in _CALLERS:
                rows = [one_round(number, run, callers) for _ in range(rounds)]
                gaps = [seen.longest * 1000 for seen in rows]
                done, failed = sum(seen.done for seen in rows), sum(seen.failed for seen in rows)
                told = f"{callers} {kind}"
                print(
                    f"{fault:8}  {told:>10}  {done:9,}  {failed:6}  {statistics.median(gaps):9.1f}  {max(gaps):8.1f}"
                    f"  {goal if callers == 1 else ''}"
                )
