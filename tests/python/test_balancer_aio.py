"""The asyncio twin's own: cancellation, many loops, awaitables."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, aclosing

import pytest

from hanaming import ContextClosedError, Target, aio
from line_servers import LineServer

pytestmark = pytest.mark.asyncio

ADDRESSES = ["10.0.0.1:80", "10.0.0.2:80"]


@pytest.fixture
def servers() -> Iterator[list[LineServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(LineServer()) for _ in range(3)]


async def aask(target: Target) -> str:
    """Calls a `LineServer`, as `line_servers.ask` does."""
    reader, writer = await asyncio.open_connection(target.host, target.port)
    try:
        writer.write(b"call\n")
        line = (await reader.readline()).decode()
        if not line:
            raise ConnectionResetError("the connection ended before the answer")
        return line.split()[1]
    finally:
        writer.close()


def outcomes(balancer: aio.Balancer) -> list[str]:
    return [made.outcome for made in balancer.explain()]


async def test_calls_are_awaited_where_they_can_be(servers: list[LineServer]) -> None:
    async with aio.Balancer([server.address for server in servers]) as balancer:
        addresses = Counter([await balancer.call(aask) for _ in range(6)])
        assert addresses == {server.address: 2 for server in servers}
        assert await balancer.call(str) in addresses
        async for attempt in balancer.attempts():
            async with attempt as target:
                assert await aask(target) == str(target)
    with pytest.raises(ContextClosedError, match="the balancer is closed"):
        await balancer.call(aask)
    await balancer.close()


async def test_a_cancelled_call_is_no_failure(servers: list[LineServer]) -> None:
    for server in servers:
        server.behaviour = "silent"
    balancer = aio.Balancer([server.address for server in servers])
    calls = [asyncio.create_task(balancer.idempotent.call(aask)) for _ in range(6)]
    while sum(server.ran for server in servers) < 6:
        await asyncio.sleep(0.005)
    for call in calls:
        call.cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(result) for result in results} == {asyncio.CancelledError}
    assert sum(server.ran for server in servers) == 6, "none was sent again"
    assert {target.state for target in balancer.targets} == {"untried"}


async def test_a_timeout_of_the_caller_s_own_is_a_cancellation(servers: list[LineServer]) -> None:
    servers[0].behaviour = "silent"
    balancer = aio.Balancer(servers[0].address)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(balancer.idempotent.call(aask), 0.1)
    assert servers[0].ran == 1
    assert {target.state for target in balancer.targets} == {"untried"}


async def test_a_timeout_around_each_attempt_is_the_target_s(servers: list[LineServer]) -> None:
    servers[0].behaviour = servers[1].behaviour = "silent"
    balancer = aio.Balancer([server.address for server in servers])

    async def within(target: Target) -> str:
        return await asyncio.wait_for(aask(target), 0.1)

    assert await balancer.idempotent.call(within) == servers[2].address


async def test_a_call_that_waits_can_be_cancelled() -> None:
    balancer = aio.Balancer("no-such-host.invalid:80", timeout=30)
    call = asyncio.create_task(balancer.call(aask))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_generator_that_is_closed_in_a_block_gives_up_the_call() -> None:
    balancer = aio.Balancer(ADDRESSES)

    async def answers() -> AsyncIterator[Target]:
        async for attempt in balancer.attempts():
            async with attempt as target:
                yield target

    async with aclosing(answers()) as generator:  # type: ignore[type-var]
        await anext(generator)
    assert outcomes(balancer) == ["given up by the caller"]


async def test_an_attempt_is_entered_and_once() -> None:
    balancer = aio.Balancer(ADDRESSES)
    with pytest.raises(RuntimeError, match="an attempt was not entered"):
        async for _attempt in balancer.attempts():
            pass
    attempt = await anext(balancer.attempts())
    async with attempt:
        assert attempt.number == 1
        assert 0 < attempt.time_left <= 5
    with pytest.raises(RuntimeError, match="an attempt is entered once"):
        await attempt.__aenter__()


async def test_each_task_has_its_own_explanation(servers: list[LineServer]) -> None:
    servers[0].behaviour = "reset"
    balancer = aio.Balancer([server.address for server in servers[:2]], policy="first_available")

    async def call() -> list[int]:
        made = []
        for _ in range(3):
            await balancer.idempotent.call(aask)
            await asyncio.sleep(0)
            made.append(len(balancer.explain()))
        return made

    first, second = await asyncio.gather(call(), call())
    assert balancer.explain() == [], "this task has made no call"
    assert set(first + second) <= {1, 2}
    await asyncio.sleep(0)  # the loop lets go of what it has just done
    gc.collect()
    assert len(balancer._explained._tasks) == 0


async def test_many_at_once(servers: list[LineServer]) -> None:
    balancer = aio.Balancer([server.address for server in servers], policy="least_loaded")
    answers = Counter(await asyncio.gather(*(balancer.call(aask) for _ in range(90))))
    assert sum(answers.values()) == 90
    assert all(20 <= count <= 40 for count in answers.values()), answers


async def test_many_loops_share_one(servers: list[LineServer]) -> None:
    balancer = aio.Balancer([server.address for server in servers])
    failed: list[BaseException] = []

    async def calls() -> None:
        assert {await balancer.call(aask) for _ in range(20)} <= {server.address for server in servers}
        assert len(balancer.explain()) == 1

    def run() -> None:
        try:
            asyncio.run(calls())
        except BaseException as error:  # noqa: BLE001 - every failure is told
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        await asyncio.sleep(0.01)
    assert not failed
    assert sum(server.ran for server in servers) == 80
