"""The gap that a client sees when the node that it uses is killed or frozen, under running lookups."""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time
from collections.abc import Callable

from servers import NodeProcess, nodes
from sync_cases import VALUE

import hanaming


def watch_gap(
    context: hanaming.HAContext, fault: Callable[[], None], seconds: float, callers: int
) -> tuple[int, int, float]:
    """Runs lookups from ``callers`` threads, strikes after a fifth of the time: (done, failed, longest gap in s)."""
    done = [0] * callers
    failed = [0] * callers
    longest = [0.0] * callers
    end = time.monotonic() + seconds

    def work(number: int) -> None:
        last = time.monotonic()
        while last < end:
            try:
                context.lookup("bench/value", timeout=1.0)
                done[number] += 1
            except hanaming.NamingError:
                failed[number] += 1
            now = time.monotonic()
            longest[number] = max(longest[number], now - last)
            last = now

    threads = [threading.Thread(target=work, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    threading.Event().wait(seconds / 5)
    fault()
    for thread in threads:
        thread.join()
    return sum(done), sum(failed), max(longest)


def bind_everywhere(cluster: list[NodeProcess]) -> None:
    """The name in every node's local tree, so that each answers by itself."""
    for node in cluster:
        with hanaming.Context(f"hn://{node.address}") as local:
            local.rebind("bench/value", VALUE, create_parents=True)


def one_round(fault: str, callers: int) -> tuple[int, int, float]:
    with nodes(3) as cluster:
        bind_everywhere(cluster)
        # The elected target is the first one: the node in use is known, and it is the one struck.
        with hanaming.HAContext([node.address for node in cluster], policy="first_available") as context:
            context.lookup("bench/value")
            used = str(context.explain()[-1].target)
            victim = next(node for node in cluster if node.address == used)
            number = signal.SIGKILL if fault == "kill -9" else signal.SIGSTOP
            return watch_gap(context, lambda: os.kill(victim.pid, number), 1.5, callers)


def measure(rounds: int) -> None:
    print("\nthe node in use is struck under lookups (longest gap any caller saw)")
    print(f"{'fault':8}  {'callers':>7}  {'lookups':>9}  {'failed':>6}  {'median ms':>9}  {'worst ms':>8}  to reach")
    for fault, goal in (("kill -9", "0 failed, <= 5 ms median, <= 20 worst"), ("SIGSTOP", "0 failed, <= 300 ms")):
        for callers in (1, 8):
            results = [one_round(fault, callers) for _ in range(rounds)]
            gaps = [gap * 1000 for _, _, gap in results]
            done = sum(result[0] for result in results)
            failed = sum(result[1] for result in results)
            print(
                f"{fault:8}  {callers:7}  {done:9,}  {failed:6}  {statistics.median(gaps):9.1f}  {max(gaps):8.1f}  {goal}"
            )
