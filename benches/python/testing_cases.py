"""What a test pays for a fresh cluster."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from hanaming.testing import Cluster


def measure(rounds: int) -> None:
    print("\na cluster of three for a test, up and gone again")
    up, gone = _both(lambda: Cluster(3), 5 * rounds)
    print(
        f"  in process: {1000 * up:.0f} ms until all see each other, {1000 * gone:.0f} ms until it is gone (to reach: < 500 ms)"
    )
    up, gone = _both(lambda: Cluster(3, data=True), 5 * rounds)
    print(f"  in process, with data: {1000 * up:.0f} ms, {1000 * gone:.0f} ms")
    up, gone = _both(lambda: Cluster(3, processes=True), rounds)
    print(f"  as processes: {1000 * up:.0f} ms, {1000 * gone:.0f} ms")


def _both(make: Callable[[], Cluster], rounds: int) -> tuple[float, float]:
    """Medians of how long it takes to come up, and to end."""
    up, gone = [], []
    for _ in range(rounds):
        begin = time.perf_counter()
        with make():
            ready = time.perf_counter()
        up.append(ready - begin)
        gone.append(time.perf_counter() - ready)
    return statistics.median(up), statistics.median(gone)
