"""The node in use is killed, frozen or quiesced under running lookups of one event loop: none of them fails.

The asyncio twin of `test_failover`: real processes, and 1, 8 or 64 lookups in flight.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator

import pytest
from typing_extensions import Self

from cli_support import Served
from cli_support import cluster as served_cluster
from hanaming import Context, HAContext, Policy, aio
from waiting import until

pytestmark = pytest.mark.asyncio


@pytest.fixture
def served() -> Iterator[list[Served]]:
    """Three node processes, with a name in every local tree."""
    with served_cluster(3) as nodes:
        for node in nodes:
            with Context(node.url) as local:
                local.bind("everywhere", "v" * 100)
        for node in nodes:
            with HAContext(node.url, follow_views=False) as ctx:
                until(lambda ctx=ctx: len(ctx.status().members) == 3, "each node sees the others")  # type: ignore[misc]
        yield nodes


class Callers:
    """Tasks that look a name up until they are stopped."""

    def __init__(self, ctx: aio.HAContext, count: int, timeout: float) -> None:
        self._ctx = ctx
        self._timeout = timeout
        self._over = False
        self.done = [0] * count
        self.errors: list[Exception] = []
        self._tasks = [asyncio.create_task(self._run(number)) for number in range(count)]

    async def _run(self, number: int) -> None:
        while not self._over:
            try:
                await self._ctx.lookup("everywhere", timeout=self._timeout)
            except Exception as error:  # noqa: BLE001 - every failure is told
                self.errors.append(error)
            self.done[number] += 1

    async def went_on(self, more: int) -> None:
        """Waits until every caller has made as many more lookups."""
        goals = [done + more for done in self.done]
        end = asyncio.get_running_loop().time() + 60
        while any(done < goal for done, goal in zip(self.done, goals, strict=True)):
            assert asyncio.get_running_loop().time() < end, "the callers don't go on"
            await asyncio.sleep(0.005)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over = True
        await asyncio.gather(*self._tasks)


def leave(node: Served) -> None:
    node.signal(signal.SIGTERM)
    assert node.wait() == 0


FAULTS: dict[str, Callable[[Served], None]] = {
    "kill": lambda node: node.signal(signal.SIGKILL),
    "freeze": Served.stop,
    "quiesce": leave,
}


@pytest.mark.parametrize("callers", [1, 8, 64])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("policy", ["round_robin", "first_available"])
async def test_no_lookup_fails(served: list[Served], callers: int, fault: str, policy: Policy) -> None:
    async with aio.HAContext([node.url for node in served], policy=policy) as ctx:
        await ctx.lookup("everywhere")
        address = ctx.explain()[-1].target
        victim = next(node for node in served if node.address == address)
        async with Callers(ctx, callers, timeout=5) as calling:
            await calling.went_on(20)
            await asyncio.get_running_loop().run_in_executor(None, FAULTS[fault], victim)
            await calling.went_on(50)
        assert calling.errors == []
        states = {str(target): target.state for target in ctx.targets}
        assert states.get(victim.address, "gone") not in ("good", "untried")
