"""More calls at once than a loop or a node has time for: all are answered, as nobody is silent."""

from __future__ import annotations

import asyncio
import time

import pytest

from hanaming import Node, aio

pytestmark = pytest.mark.asyncio

ATTEMPT = 0.25


async def test_a_busy_loop_is_no_silence(node: Node) -> None:
    node.local.bind("a", 1)
    async with aio.HAContext(node.url) as ctx:
        # Before there is a connection, and when there is one.
        for _ in range(2):
            calls = [ctx.lookup("a") for _ in range(3000)]
            time.sleep(2 * ATTEMPT)
            assert await asyncio.gather(*calls) == [1] * 3000


async def test_a_busy_node_is_no_silence(node: Node) -> None:
    for number in range(500):
        node.local.bind(f"n{number}", number)
    async with aio.HAContext(node.url) as ctx:
        listings = await asyncio.gather(*(ctx.list_names(timeout=60.0) for _ in range(300)))
        assert {len(listing) for listing in listings} == {500}
        # Another time: the node didn't count as failed.
        assert [target.state for target in ctx.targets] == ["good"]


async def test_many_changes_at_once_are_made_once(node: Node) -> None:
    async with aio.HAContext(node.url) as ctx:
        changes = [ctx.bind(f"n{number}", number) for number in range(3000)]
        time.sleep(2 * ATTEMPT)
        await asyncio.gather(*changes)
        assert len(await ctx.list_names()) == 3000
