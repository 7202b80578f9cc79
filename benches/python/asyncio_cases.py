"""asyncio with 1 and 64 in flight, beside the bare limit of the loop and redis.asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from harness import Case, show
from harness import measure as run_rounds
from servers import NodeProcess
from sync_cases import VALUE, echo_call

import hanaming.aio

IN_FLIGHT = 64


def bare_call() -> asyncio.Future[None]:
    """What no client can beat: a future that the loop completes in its next turn, without any I/O."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    loop.call_soon(future.set_result, None)
    return future


async def in_flight(call: Callable[[], Awaitable[object]], count: int, width: int) -> None:
    """``count`` calls, ``width`` at any time."""

    async def worker() -> None:
        for _ in range(count // width):
            await call()

    await asyncio.gather(*(worker() for _ in range(width)))


def throughput(runner: asyncio.Runner, call: Callable[[], Awaitable[object]]) -> Callable[[int], list[float]]:
    def run(count: int) -> list[float]:
        start = time.perf_counter()
        runner.run(in_flight(call, count, IN_FLIGHT))
        return [(time.perf_counter() - start) / count] * count

    return run


def latency(runner: asyncio.Runner, call: Callable[[], Awaitable[object]]) -> Callable[[int], list[float]]:
    async def one_by_one(count: int) -> list[float]:
        times = []
        for _ in range(count):
            start = time.perf_counter()
            await call()
            times.append(time.perf_counter() - start)
        return times

    return lambda count: runner.run(one_by_one(count))


def measure(echo_port: int, redis_port: int | None, cluster: list[NodeProcess], rounds: int) -> None:
    measure_on("asyncio", None, echo_port, redis_port, cluster, rounds)
    try:
        import uvloop
    except ImportError:
        return
    measure_on("uvloop", uvloop.new_event_loop, echo_port, redis_port, cluster, rounds)


def measure_on(
    label: str,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None,
    echo_port: int,
    redis_port: int | None,
    cluster: list[NodeProcess],
    rounds: int,
) -> None:
    connection, echo = echo_call(echo_port)

    def floor(count: int) -> list[float]:
        times = []
        for _ in range(count):
            start = time.perf_counter()
            echo()
            times.append(time.perf_counter() - start)
        return times

    with connection, asyncio.Runner(loop_factory=loop_factory) as runner:
        context = hanaming.aio.HAContext(f"hn://{cluster[0].address}", follow_views=False)

        def lookup() -> Awaitable[object]:
            return context.lookup("bench/value")

        async def lookup_once() -> object:
            return await lookup()

        assert runner.run(lookup_once()) == VALUE
        ones = [Case("floor", floor, 2000), Case("lookup", latency(runner, lookup), 2000, "floor", "<= 2.5")]
        rates = [
            Case("bare limit", throughput(runner, bare_call), 32_000),
            Case("lookup", throughput(runner, lookup), 32_000, "bare limit", ">= 0.7", "throughput"),
        ]
        client = None
        if redis_port is not None:
            import redis.asyncio

            client = redis.asyncio.Redis(port=redis_port)

            def get() -> Awaitable[object]:
                return client.get("bench/value")

            ones.append(Case("redis.asyncio get", latency(runner, get), 1000, "floor"))
            rates.append(Case("redis.asyncio get", throughput(runner, get), 6400, "bare limit", "", "throughput"))
            rates.append(
                Case("lookup again", throughput(runner, lookup), 32_000, "redis.asyncio get", ">= 10", "throughput")
            )
        run_rounds(ones, rounds)
        show(f"{label}, one in flight", ones)
        run_rounds(rates, rounds)
        show(f"{label}, {IN_FLIGHT} in flight", rates)
        runner.run(close(context, client))


async def close(context: hanaming.aio.HAContext, client: object) -> None:
    await context.aclose()
    if client is not None:
        await client.aclose()
