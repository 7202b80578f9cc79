"""More calls at once than a loop or a node has time for: all are answered, as nobody is silent."""

from __future__ import annotations

import asyncio
import time

import pytest

from hanaming import Node, aio

pytestmark = pytest.mark.asyncio

ATTEMPT = 0.1


async def test_a_busy_loop_is_no_silence(node: Node) -> None:
    node.local.bind("a", 1)
    async with aio.HAContext(node.url, attempt_timeout=ATTEMPT) as ctx:
        # Before there is a connection, and when there is one.
        for _ in range(2):
            calls = [ctx.resolve("a") for _ in range(3000)]
            time.sleep(3 * ATTEMPT)  # the program is busy with something else
            answers = await asyncio.gather(*calls)
            assert {len(answer.attempts) for answer in answers} == {1}


async def test_a_busy_node_is_no_silence(node: Node) -> None:
    for number in range(500):
        node.local.bind(f"n{number}", number)
    # More at once than can be answered in the time of an attempt.
    async with aio.HAContext(node.url, timeout=60.0, attempt_timeout=0.02) as ctx:
        await ctx.lookup("n1")
        listings = await asyncio.gather(*(ctx.list_names() for _ in range(300)), return_exceptions=True)
        assert [listing for listing in listings if isinstance(listing, Exception)] == []
