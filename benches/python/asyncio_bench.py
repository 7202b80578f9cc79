"""The asyncio client alone: its ratios to the bare loop and to a bare socket, in a minute and without Redis.

    taskset -c 0 python benches/python/asyncio_bench.py [--rounds 7] [--loop uvloop] [--width 64]

The bare limit is a future that the loop completes in its next turn, without any I/O; the floor is a blocking socket
against the echo server (`cargo build --release --example echo_server`). All of a round are measured one after the
other, and a ratio is the median over the rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from servers import NodeProcess, echo
from sync_cases import echo_call

import hanaming
import hanaming.aio

VALUE = "v" * 100


def bare_call() -> asyncio.Future[None]:
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    loop.call_soon(future.set_result, None)
    return future


async def rate(call: Callable[[], Awaitable[object]], count: int, width: int) -> float:
    """Calls a second, ``width`` in flight at any time."""

    async def worker() -> None:
        for _ in range(count // width):
            await call()

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(width)))
    return count / (time.perf_counter() - began)


async def one_by_one(call: Callable[[], Awaitable[object]], count: int) -> float:
    """The median time of a call in seconds, one in flight."""
    times = []
    for _ in range(count):
        began = time.perf_counter()
        await call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def blocking(call: Callable[[], object], count: int) -> float:
    times = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


async def measure(rounds: int, width: int, address: str, floor: Callable[[], object]) -> None:
    context = hanaming.aio.HAContext(f"hn://{address}", follow_views=False)
    await context.bind("bench/value", VALUE, create_parents=True)

    def lookup() -> Awaitable[object]:
        return context.lookup("bench/value")

    assert await lookup() == VALUE
    rows: dict[str, list[float]] = {"bare": [], "ours": [], "floor": [], "one": []}
    for number in range(rounds + 1):
        gc.collect()
        gc.disable()
        figures = {
            "bare": await rate(bare_call, 32_000, width),
            "ours": await rate(lookup, 32_000, width),
            "floor": blocking(floor, 2000),
            "one": await one_by_one(lookup, 2000),
        }
        gc.enable()
        if number:
            for name, figure in figures.items():
                rows[name].append(figure)
    await context.aclose()

    def ratio(one: str, other: str) -> float:
        return statistics.median(a / b for a, b in zip(rows[one], rows[other], strict=True))

    median = {name: statistics.median(figures) for name, figures in rows.items()}
    print(
        f"{width} in flight: {median['ours'] / 1000:7.1f} k/s, bare limit {median['bare'] / 1000:7.1f} k/s: "
        f"{ratio('ours', 'bare'):.2f} (goal >= 0.7)"
    )
    print(
        f" 1 in flight: {median['one'] * 1e6:7.1f} us,  floor {median['floor'] * 1e6:7.1f} us: "
        f"{ratio('one', 'floor'):.2f} (goal <= 2.5)"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--width", type=int, default=64)
    options.add_argument("--loop", choices=["asyncio", "uvloop"], default="asyncio")
    given = options.parse_args()
    new_loop = None
    if given.loop == "uvloop":
        import uvloop

        new_loop = uvloop.new_event_loop
    node = NodeProcess("n1")
    try:
        with echo() as port:
            connection, floor = echo_call(port)
            with connection, asyncio.Runner(loop_factory=new_loop) as runner:
                runner.run(measure(given.rounds, given.width, node.address, floor))
    finally:
        node.stop()


if __name__ == "__main__":
    main()
