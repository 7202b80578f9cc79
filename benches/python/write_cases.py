"""Binds that three nodes acknowledge, in memory and on disk, beside etcd on the same machine in the same run."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import etcd
from harness import Case, all_together, one_by_one, show
from harness import measure as run_rounds
from servers import NodeProcess, nodes
from sync_cases import VALUE, echo_call

import hanaming
import hanaming.aio

IN_FLIGHT = 64
# A folder in memory: what syncs there costs nothing.
_MEMORY = Path("/dev/shm")  # noqa: S108 - where Linux has it


def measure(echo_port: int, rounds: int) -> None:
    """Latency of one bind at a time, then throughput of many."""
    why_not = etcd.why_not()
    if why_not is not None:
        print(f"\nSKIPPED: etcd's rows: {why_not}")
    with contextlib.ExitStack() as stack:
        connection, floor = echo_call(echo_port)
        stack.enter_context(connection)
        disk, memory = (Path(stack.enter_context(_folder(where))) for where in (None, _MEMORY))
        latency = [Case("floor", one_by_one(floor), 2000)]
        rates: list[Case] = []
        for title, folder, goals in (("memory", None, ("<= 5", "<= 7.5")), ("fsync", disk, ("", ""))):
            provider, own, other, first = _cluster(stack, folder)
            count = 600 if folder is None else 60
            for whose, context, goal in (("the owner", own, goals[0]), ("another node", other, goals[1])):
                call = _binding(context, first)
                latency.append(Case(f"bind, {title}, to {whose}", one_by_one(call), count, "floor", goal))
            base = rates[0].name if rates else None
            rates.append(Case(f"hanaming, {title}", _hanaming_rate(provider), count * 10, base, kind="throughput"))
        if why_not is None:
            for title, folder in (("no fsync", memory), ("fsync", disk)):
                addresses = stack.enter_context(etcd.servers(folder))
                for whose, address in (("the leader", addresses[0]), ("a follower", addresses[1])):
                    call = _creating(stack, address)
                    count = 300 if folder is memory else 60
                    latency.append(Case(f"etcd, {title}, to {whose}", one_by_one(call), count, "floor"))
                rates.append(
                    Case(f"etcd, {title}", _etcd_rate(addresses[0]), count * 10, rates[0].name, kind="throughput")
                )
        run_rounds(latency, rounds)
        show("a bind acknowledged by three nodes, one in flight (etcd: a put if absent, over gRPC)", latency)
        run_rounds(rates, rounds)
        show(f"the same, {IN_FLIGHT} in flight", rates)


def _folder(where: Path | None) -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="hanaming-bench-", dir=where)


def _cluster(
    stack: contextlib.ExitStack, folder: Path | None
) -> tuple[list[str], hanaming.HAContext, hanaming.HAContext, str]:
    """Three nodes; a context on the owner of a context's names, one on another node, and the name of that context."""
    first = stack.enter_context(nodes(1, folder))[0]
    with hanaming.HAContext(f"hn://{first.address}") as alone:
        # While it is alone every write is its own.
        author = str(alone.rebind("author", 1).version).partition(".")[0]
    others = [NodeProcess(name, [first.address], folder) for name in ("n2", "n3")]
    for node in others:
        stack.callback(node.stop)
    provider = [node.address for node in (first, *others)]
    own, other = (
        stack.enter_context(hanaming.HAContext(address, follow_views=False, timeout=20)) for address in provider[:2]
    )
    end = time.monotonic() + 20
    while own.rebind("author", 2).live < len(provider):
        assert time.monotonic() < end, "three nodes did not meet"
        time.sleep(0.05)
    for number in itertools.count():
        name = f"bench{number}"
        receipt = other.bind(f"{name}/first", VALUE, create_parents=True)
        if str(receipt.version).startswith(f"{author}."):
            assert len(receipt.acked_by) == len(provider)
            return provider, own, other, name
    raise AssertionError


def _binding(context: hanaming.HAContext, beneath: str) -> Callable[[], object]:
    names = _names(beneath)
    return lambda: context.bind(next(names), VALUE)


def _creating(stack: contextlib.ExitStack, address: str) -> Callable[[], object]:
    import grpc

    create, names = etcd.binder(stack.enter_context(grpc.insecure_channel(address))), _names("bench")
    return lambda: create(next(names), VALUE)


_numbers = itertools.count()


def _names(beneath: str) -> Iterator[str]:
    return (f"{beneath}/name{number}" for number in _numbers)


def _hanaming_rate(provider: list[str]) -> Callable[[int], list[float]]:
    async def work(count: int) -> None:
        async with hanaming.aio.HAContext(provider, timeout=20) as context:
            names = _names("rate")
            await context.bind(next(names), VALUE, create_parents=True)
            await _in_flight(count, lambda: context.bind(next(names), VALUE))

    return all_together(lambda count: asyncio.run(work(count)))


def _etcd_rate(address: str) -> Callable[[int], list[float]]:
    async def work(count: int) -> None:
        import grpc

        async with grpc.aio.insecure_channel(address) as channel:
            call, names = channel.unary_unary(etcd.TXN), _names("rate")
            await _in_flight(count, lambda: call(etcd.create(next(names), VALUE), timeout=20))

    return all_together(lambda count: asyncio.run(work(count)))


async def _in_flight(count: int, call: Callable[[], Awaitable[object]]) -> None:
    async def one_after_the_other() -> None:
        for _ in range(count // IN_FLIGHT):
            await call()

    await asyncio.gather(*(one_after_the_other() for _ in range(IN_FLIGHT)))
