"""What many names cost: the memory of each, and how long a node takes to join."""

from __future__ import annotations

import subprocess
import sys
import time

from servers import NodeProcess, nodes

import hanaming

_JOINED = 100_000
_MILLION = 1_000_000

# In a process of its own, so that nothing else is in its memory.
_FILL = """
import sys, time
from hanaming import Node

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * 4096

count = int(sys.argv[2])
with Node("n1") as node, node.context() as shared:
    tree = node.local if sys.argv[1] == "local" else shared
    for number in range(1000):
        tree.create_subcontext(f"ctx{number}")
    before = resident()
    begin = time.perf_counter()
    for number in range(count):
        tree.bind(f"ctx{number % 1000}/name{number}", f"value-{number}")
    took = time.perf_counter() - begin
    print(resident() - before, took)
"""


def measure() -> None:
    print("\nmany names")
    for tree, goal in (("local", 450), ("cluster", 700)):
        command = [sys.executable, "-c", _FILL, tree, str(_MILLION)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        per_name = int(said[0]) / _MILLION
        rate = _MILLION / float(said[1])
        print(
            f"  {_MILLION:,} names in the {tree} tree: {per_name:.0f} B a name (to reach: <= {goal}), bound at {rate:,.0f}/s"
        )
    with nodes(1) as (first,):
        empty = _join(first)
        fill(first.address, _JOINED)
        took = _join(first)
        print(f"  {_JOINED:,} names joined: {took:.2f} s until ready, {empty:.2f} s without a name (to reach: <= 5 s)")


def fill(address: str, count: int) -> None:
    """Binds so many names in the cluster tree, with 64 in flight."""
    import asyncio

    import hanaming.aio

    async def work() -> None:
        async with hanaming.aio.HAContext(address, timeout=60) as ctx:
            for number in range(100):
                await ctx.create_subcontext(f"ctx{number}")

            async def some(first: int) -> None:
                for number in range(first, count, 64):
                    await ctx.bind(f"ctx{number % 100}/name{number}", f"value-{number}")

            await asyncio.gather(*(some(first) for first in range(64)))

    asyncio.run(work())


def _join(first: NodeProcess) -> float:
    """How long another node takes from its start until it serves."""
    with hanaming.Context(f"hn://{first.address}") as node:
        expected = node.status().cluster_names
        begin = time.perf_counter()
        joined = NodeProcess("joined", [first.address])
        took = time.perf_counter() - begin
        try:
            with hanaming.Context(f"hn://{joined.address}") as other:
                assert other.status().cluster_names == expected
        finally:
            joined.stop()
        end = time.monotonic() + 20
        while len(node.status().members) > 1:
            assert time.monotonic() < end, "the node that joined was not found dead"
            time.sleep(0.05)
    return took
