"""Rounds, ratios and tables: every figure is a ratio inside one interleaved run.

A case does a fixed number of operations and returns the time of each, or of all together. All cases take turns
within a round, and a figure is the median over rounds of the ratio to the base case *of the same round*, so that a
noisy neighbour hits both.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Case:
    """One thing that is measured.

    ``run(n)`` does ``n`` operations and returns their times in seconds, one each (latency), or one figure for all
    of them (throughput).
    """

    name: str
    run: Callable[[int], list[float]]
    operations: int
    #: name of the case that this one is compared with; None for a base
    base: str | None = None
    #: what is to be reached, e.g. "<= 1.25"
    goal: str = ""
    #: "latency": p50 of this over p50 of the base; "throughput": operations a second of this over the base's
    kind: str = "latency"
    #: operations in one call of what ``run`` counts (1000 for a batch of 1000 names)
    scale: int = 1
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)


def one_by_one(call: Callable[[], object]) -> Callable[[int], list[float]]:
    """Times each call alone."""

    def run(count: int) -> list[float]:
        clock = time.perf_counter
        times = [0.0] * count
        for index in range(count):
            start = clock()
            call()
            times[index] = clock() - start
        return times

    return run


def all_together(call: Callable[[int], object]) -> Callable[[int], list[float]]:
    """Times ``call(n)`` as a whole."""

    def run(count: int) -> list[float]:
        start = time.perf_counter()
        call(count)
        return [(time.perf_counter() - start) / count] * count

    return run


def measure(cases: list[Case], rounds: int) -> None:
    """Runs all cases in turn, ``rounds`` times after one round to warm up."""
    for number in range(rounds + 1):
        for case in cases:
            gc.collect()
            gc.disable()
            times = sorted(case.run(case.operations))
            gc.enable()
            if number == 0:
                continue
            case.p50.append(times[len(times) // 2])
            case.p99.append(times[int(len(times) * 0.99)])
            case.rate.append(case.scale * len(times) / sum(times))


def rows(cases: list[Case]) -> list[tuple[str, str, str, str, str, str]]:
    """The table: case, p50, p99, operations a second, ratio, goal."""
    by_name = {case.name: case for case in cases}
    table = []
    for case in cases:
        ratio = ""
        if case.base is not None:
            base = by_name[case.base]
            if case.kind == "latency":
                value = statistics.median(a / b for a, b in zip(case.p50, base.p50, strict=True))
            else:
                value = statistics.median(a / b for a, b in zip(case.rate, base.rate, strict=True))
            ratio = f"{value:.2f} x {case.base}"
        table.append(
            (
                case.name,
                f"{statistics.median(case.p50) * 1e6:.2f}",
                f"{statistics.median(case.p99) * 1e6:.2f}",
                f"{statistics.median(case.rate):,.0f}",
                ratio,
                case.goal,
            ),
        )
    return table


def show(title: str, cases: list[Case]) -> None:
    """Prints the table of one group."""
    heads = ("case", "p50 us", "p99 us", "ops/s", "ratio", "to reach")
    table = [heads, *rows(cases)]
    widths = [max(len(row[column]) for row in table) for column in range(len(heads))]
    print(f"\n{title}")
    for index, row in enumerate(table):
        cells = [
            cell.ljust(width) if column in (0, 4, 5) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())
        if index == 0:
            print("  ".join("-" * width for width in widths))
