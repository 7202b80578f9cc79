"""A hot name in process or kept by a client, beside a dict and a hit of functools.lru_cache."""

from __future__ import annotations

import functools
import time
import timeit
from collections.abc import Callable

from harness import Case, show
from harness import measure as run_rounds

import hanaming

LOOPS = 20_000


def tight(statement: str, names: dict[str, object]) -> Callable[[int], list[float]]:
    """Times ``LOOPS`` runs of a statement at once, so that the clock's own cost doesn't count."""
    timer = timeit.Timer(statement, globals=names)

    def run(count: int) -> list[float]:
        return [timer.timeit(LOOPS) / LOOPS for _ in range(count)]

    return run


def measure(rounds: int) -> None:
    @functools.lru_cache
    def cached(_name: str) -> str:
        return "v" * 100

    table = {"bench/value": "v" * 100}
    with (
        hanaming.Node("in-process") as node,
        node.context() as context,
        hanaming.HAContext(node.url, cache=True) as remote,
    ):
        context.bind("kept", "v" * 100)
        # The first ones ask.
        while remote.lookup("kept") and remote.explain():
            time.sleep(0.001)
        node.local.bind("bench/value", "v" * 100, create_parents=True)
        names: dict[str, object] = {
            "cached": cached,
            "table": table,
            "lookup": context.lookup,
            "local": node.local.lookup,
        }
        names["context"], names["remote"] = context, remote
        cases = [
            Case("dict", tight("table['bench/value']", names), 10),
            Case("lru_cache hit", tight("cached('bench/value')", names), 10),
            Case("HA context", tight("context.lookup('bench/value')", names), 10, "lru_cache hit", "<= 1.3"),
            Case("cache=True", tight("remote.lookup('kept')", names), 10, "lru_cache hit", "<= 1.3"),
            Case("local context", tight("local('bench/value')", names), 10, "lru_cache hit", "<= 1.3"),
        ]
        run_rounds(cases, rounds)
        show("in process or kept, a hot name", cases)
