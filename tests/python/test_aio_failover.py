"""Servers go, and nobody notices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from aio_servers import Relay, until
from hanaming import Node, aio

pytestmark = pytest.mark.asyncio


async def callers(ctx: aio.HAContext, count: int, stop: asyncio.Event) -> list[float]:
    """So many callers look up without a pause; gives how long each lookup took."""
    loop = asyncio.get_running_loop()
    times: list[float] = []

    async def caller() -> None:
        while not stop.is_set():
            began = loop.time()
            assert await ctx.lookup("a") == 1
            times.append(loop.time() - began)

    await asyncio.gather(*(caller() for _ in range(count)))
    return times


async def in_thread(fn: Callable[[], Any]) -> None:
    await asyncio.get_running_loop().run_in_executor(None, fn)


@pytest.mark.parametrize("count", [1, 8, 64])
@pytest.mark.parametrize("how", ["close", "quiesce"])
async def test_no_lookup_fails_while_nodes_go(cluster: Callable[[int], list[Node]], count: int, how: str) -> None:
    nodes = cluster(3)
    for node in nodes:
        node.local.bind("a", 1)
    async with aio.HAContext([node.url for node in nodes]) as ctx:
        stop = asyncio.Event()
        calling = asyncio.create_task(callers(ctx, count, stop))
        await asyncio.sleep(0.05)
        for node in nodes[:2]:
            await in_thread(getattr(node, how))
            await asyncio.sleep(0.05)
        stop.set()
        assert len(await calling) > count


async def test_a_silent_server_costs_one_attempt_and_is_left_out(cluster: Callable[[int], list[Node]]) -> None:
    frozen, well = cluster(2)
    for node in (frozen, well):
        node.local.bind("a", 1)
    with Relay(frozen) as relay:
        async with aio.HAContext([relay.url, well.url], follow_views=False) as ctx:
            for _ in range(4):
                await ctx.lookup("a")
            relay.freeze()
            loop = asyncio.get_running_loop()
            began = loop.time()
            assert await asyncio.gather(*(ctx.lookup("a") for _ in range(64))) == [1] * 64
            assert loop.time() - began < 1.5
            began = loop.time()
            for _ in range(20):
                await ctx.lookup("a")
            assert loop.time() - began < 0.25, "it's left out"
            relay.thaw()


async def test_a_mutation_of_a_local_tree_is_never_sent_twice(node: Node) -> None:
    with Relay(node) as relay:
        async with aio.Context(relay.url) as ctx:
            await ctx.bind("counted", 0)
            relay.freeze()
            binding = ctx.bind("b", 1)
            await until(lambda: relay.asked > 0, "the request has left")
            relay.cut()
            with pytest.raises(Exception, match="may have run") as caught:
                await binding
            assert len(caught.value.attempts) == 1  # type: ignore[attr-defined]
            relay.thaw()


async def test_a_mutation_of_the_cluster_tree_is_sent_again_and_runs_once(node: Node) -> None:
    async with aio.Node("n2", seeds=[node.address]) as second:
        await until(lambda: len(second.view.members) == 2, "the nodes see each other")
        with Relay(node) as relay:
            async with aio.HAContext([relay.address, second.address], follow_views=False) as ctx:
                for number in range(50):
                    # Both connections stand: a change waits for its server's welcome.
                    await asyncio.gather(*(ctx.get("nowhere") for _ in range(4)))
                    relay.freeze()
                    binding = ctx.bind(f"b{number}", number)
                    await until(lambda binding=binding: relay.asked > 0 or binding.done(), "the request has left")
                    relay.cut()
                    await binding
                    was_lost = any(attempt.completion.name == "MAYBE" for attempt in ctx.explain())
                    relay.thaw()
                    assert await ctx.lookup(f"b{number}") == number
                    if was_lost:
                        break
                assert was_lost, "some were sent to the node whose answers are kept back"


async def test_a_node_in_process(node: Node) -> None:
    await in_thread(lambda: node.local.bind("a", 1))
    async with aio.Node("n2", seeds=[node.address]) as second, second.context() as ctx:
        await until(lambda: len(second.view.members) == 2, "the nodes see each other")
        at_once = ctx.lookup("")
        assert at_once.done(), "what the node knows itself needs no other thread"
        # The other node has it: the answer comes from a thread of the node's.
        assert await asyncio.gather(*(ctx.lookup("a") for _ in range(100))) == [1] * 100
        receipt = await ctx.bind("all", 1)
        assert sorted(receipt.acked_by) == ["n1", "n2"]
        await second.local.bind("b", 2)
        assert sorted([name async for name in ctx]) == ["a", "all", "b"]
        async with second.register("service", "here", weight=2.0) as registration:
            assert registration.name == "service/n2"
            (instance,) = await ctx.instances("service")
            assert (instance.node, instance.value, instance.weight) == ("n2", "here", 2.0)
        assert await ctx.get("service/n2") is None
        assert not await second.check()
        await second.quiesce(timeout=5)
        with pytest.raises(Exception, match="quiescing") as caught:
            await ctx.lookup("b")
        assert caught.value.completion.name == "NO"  # type: ignore[attr-defined]
    with pytest.raises(Exception, match="closed"):
        await ctx.lookup("a")


async def test_starting_a_node_does_not_hold_up_the_loop(node: Node) -> None:
    second = aio.Node("n2", seeds=[node.address])
    assert "not started" in repr(second)
    with pytest.raises(RuntimeError, match="not been started"):
        _ = second.address
    turns = 0

    async def turning() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    turner = asyncio.create_task(turning())
    await second.start()
    assert await second.start() is second
    await second.aclose()
    await second.aclose()
    turner.cancel()
    assert turns > 5
    with pytest.raises(Exception, match="closed"):
        await second.start()


async def test_a_node_whose_start_is_given_up_is_closed_with_it(node: Node) -> None:
    second = aio.Node("n2", seeds=[node.address])
    starting = second.start()
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await second.aclose()
    assert "not started" in repr(second) or "closed" in repr(second)
