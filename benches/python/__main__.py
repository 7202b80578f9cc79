"""Prints all figures. Usage: python benches/python [--rounds N] [--only GROUP]... [--no-pin | --pin-only]

Runs itself twice, pinned to one core (which is what the goals are judged by) and unpinned.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import asyncio_cases
import data_cases
import fault_cases
import freshness_cases
import growth_cases
import in_process_cases
import repair_cases
import servers
import sync_cases
import testing_cases
import write_cases

GROUPS = (
    "sync",
    "asyncio",
    "in-process",
    "writes",
    "data",
    "growth",
    "faults",
    "repair",
    "freshness",
    "testing",
    "package",
)
# What is measured in seconds, or takes minutes, is measured once, with all cores.
ONLY_UNPINNED = ("growth", "faults", "repair", "freshness", "testing")
# Rounds of what starts a cluster each time.
FEW = 3


def package_figures() -> None:
    """Import time against a bare interpreter, in alternating runs, and the size of the installed extension."""
    import importlib.util
    import statistics
    import time

    def start(code: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - begin

    bare, full = [], []
    for _ in range(11):
        bare.append(start("pass"))
        full.append(start("import hanaming"))
    cost = statistics.median(b - a for a, b in zip(bare, full, strict=True)) * 1000
    spec = importlib.util.find_spec("hanaming._native")
    size = Path(spec.origin).stat().st_size / 1e6 if spec and spec.origin else float("nan")
    print(f"\nimport hanaming: {cost:.0f} ms beyond a bare interpreter (to reach: <= 60 ms)")
    print(f"extension module: {size:.1f} MB unpacked (a wheel is smaller; to reach: <= 8 MB)")


def beside_others(groups: list[str], rounds: int) -> None:
    """What is measured against the echo floor and Redis."""
    with contextlib.ExitStack() as stack:
        echo_port = stack.enter_context(servers.echo())
        redis_port = stack.enter_context(servers.redis())
        if "sync" in groups or "asyncio" in groups:
            cluster = stack.enter_context(servers.nodes(2))
            fault_cases.bind_everywhere(cluster[:1])
            if "sync" in groups:
                sync_cases.measure(echo_port, redis_port, cluster, rounds)
            if "asyncio" in groups:
                asyncio_cases.measure(echo_port, redis_port, cluster, rounds)
        if "writes" in groups:
            write_cases.measure(echo_port, min(rounds, FEW))


def run(groups: list[str], rounds: int) -> None:
    if {"sync", "asyncio", "writes"} & set(groups):
        beside_others(groups, rounds)
    others: dict[str, Callable[[], None]] = {
        "in-process": lambda: in_process_cases.measure(rounds),
        "data": data_cases.measure,
        "growth": growth_cases.measure,
        "faults": lambda: fault_cases.measure(rounds),
        "repair": lambda: repair_cases.measure(min(rounds, FEW)),
        "freshness": lambda: freshness_cases.measure(rounds),
        "testing": lambda: testing_cases.measure(min(rounds, FEW)),
        "package": package_figures,
    }
    for group, measure in others.items():
        if group in groups:
            measure()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", action="append", choices=GROUPS)
    parser.add_argument("--no-pin", action="store_true", help="only the unpinned run")
    parser.add_argument("--pin-only", action="store_true", help="only the pinned run")
    options = parser.parse_args()
    groups = options.only or list(GROUPS)
    cores = sorted(os.sched_getaffinity(0))
    print(
        f"Python {platform.python_version()}, {platform.machine()}, {len(cores)} cores; medians over {options.rounds} rounds"
    )
    if not options.no_pin:
        os.sched_setaffinity(0, cores[:1])
        print("\n=== pinned to one core ===")
        run([group for group in groups if group not in ONLY_UNPINNED], options.rounds)
        os.sched_setaffinity(0, cores)
    if not options.pin_only:
        print("\n=== unpinned ===")
        run(groups, options.rounds)


if __name__ == "__main__":
    main()
