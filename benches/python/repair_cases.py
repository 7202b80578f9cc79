"""Five nodes with 10,000 names: how soon a dead node is noticed, what writers feel, and how soon a split is healed."""

from __future__ import annotations

import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from growth_cases import fill
from servers import ROOT, NodeProcess, nodes

import hanaming

sys.path.insert(0, str(ROOT / "tests" / "campaigns"))
import namespaces

_NAMES = 10_000
_WRITTEN = 50


def measure(rounds: int) -> None:
    print(f"\nfive nodes, {_NAMES:,} names")
    for fault, number in (("kill -9", signal.SIGKILL), ("SIGSTOP", signal.SIGSTOP)):
        seen, blips = zip(*(_strike(number) for _ in range(rounds)), strict=True)
        print(
            f"  {fault}: all others know after {statistics.median(seen):.2f} s, {max(seen):.2f} at most (to reach: <= 2.5); "
            f"longest rebind meanwhile {statistics.median(blips) * 1000:.0f} ms, {max(blips) * 1000:.0f} at most "
            "(to reach: <= 300)"
        )
    why_not = namespaces.why_not()
    if why_not is not None:
        print(f"  SKIPPED: healing of a split: {why_not}")
        return
    healed = [_heal() for _ in range(rounds)]
    print(
        f"  two against three, both sides write 1,000 names: equal {statistics.median(healed):.2f} s after healing, "
        f"{max(healed):.2f} at most (to reach: <= 5)"
    )


def _strike(number: int) -> tuple[float, float]:
    with nodes(5) as cluster:
        fill(cluster[0].address, _NAMES)
        *rest, struck = cluster
        _until(lambda: all(len(_members(node)) == len(cluster) for node in cluster))
        writer = _Writer([node.address for node in rest])
        # Until it knows all owners: who is not known has more time.
        _until(lambda: writer.written >= 10 * _WRITTEN)
        begin = time.perf_counter()
        os.kill(struck.pid, number)
        _until(lambda: all("n5" not in _members(node) for node in rest))
        took = time.perf_counter() - begin
        return took, writer.longest()


class _Writer:
    """Binds names anew, one after the other, until it is asked how long the longest took."""

    def __init__(self, provider: list[str]) -> None:
        self._stop = threading.Event()
        self._longest = 0.0
        self.written = 0
        self._context = hanaming.HAContext(provider, timeout=20)
        self._context.rebind("written", 0)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def longest(self) -> float:
        self._stop.set()
        self._thread.join()
        self._context.close()
        return self._longest

    def _run(self) -> None:
        while not self._stop.is_set():
            begin = time.perf_counter()
            self._context.rebind(f"written{self.written % _WRITTEN}", self.written)
            self.written += 1
            self._longest = max(self._longest, time.perf_counter() - begin)


def _heal() -> float:
    with tempfile.TemporaryDirectory() as folder, namespaces.Namespaces(Path(folder), 5) as network:
        fleet = network.fleet
        fleet.start()
        fill(fleet.nodes[0].address, _NAMES)
        fleet.settled()
        sides = fleet.nodes[:2], fleet.nodes[2:]
        network.drop(*sides)
        network.drop(*reversed(sides))
        _until(lambda: all(len(node.status().members) == len(side) for side in sides for node in side))
        for index, side in enumerate(sides):
            with hanaming.HAContext(side[0].url, follow_views=False, timeout=20) as ctx:
                for number in range(1000):
                    ctx.bind(f"side{index}/name{number}", number, create_parents=True)
        network.heal()
        begin = time.perf_counter()
        fleet.settled()
        return time.perf_counter() - begin


def _members(node: NodeProcess) -> set[str]:
    with hanaming.Context(f"hn://{node.address}") as asked:
        return {member.name for member in asked.status().members}


def _until(condition: Callable[[], bool], limit: float = 30.0) -> None:
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)
