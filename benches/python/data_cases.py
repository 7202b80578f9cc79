"""Data folders: what a sync costs, what sharing one gains, and how long a node with much data takes to start."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hanaming import Node

_NAMES = 100_000
_AT_ONCE = 64
_ONE_BY_ONE = 200


def measure() -> None:
    """Prints the figures of one folder in the system's temporary folder: on its disk, and on no other."""
    print("\ndata folder (one node)")
    with tempfile.TemporaryDirectory() as folder:
        with Node("n1", data_dir=folder) as node:
            print(f"  the disk alone, a write and its sync: {1 / _sync(folder):,.0f}/s")
            print(f"  binds, {_AT_ONCE} in flight: {_NAMES / _bind_all(node):,.0f}/s")
            print(f"  rebinds, one by one: {_ONE_BY_ONE / _rebind(node):,.0f}/s")
        size = (Path(folder) / "tree.redb").stat().st_size / 1e6
        print(f"  {_NAMES:,} names on disk: {size:.0f} MB")
        print(f"  ready again after leaving: {_start(folder):.2f} s (to reach: <= 3 s)")
        _kill(folder)
        print(f"  ready again after kill -9: {_start(folder):.2f} s (to reach: <= 3 s)")


def _sync(folder: str) -> float:
    with (Path(folder) / "probe").open("wb", buffering=0) as file:
        begin = time.perf_counter()
        for _ in range(_ONE_BY_ONE):
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
        took = time.perf_counter() - begin
    (Path(folder) / "probe").unlink()
    return took / _ONE_BY_ONE


def _bind_all(node: Node) -> float:
    def bind(first: int) -> None:
        with node.context() as ctx:
            for number in range(first, _NAMES, _AT_ONCE):
                ctx.bind(f"ctx{number % 100}/name{number}", f"value-{number}", create_parents=True)

    begin = time.perf_counter()
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(bind, range(_AT_ONCE)))
    return time.perf_counter() - begin


def _rebind(node: Node) -> float:
    with node.context() as ctx:
        begin = time.perf_counter()
        for number in range(_ONE_BY_ONE):
            ctx.rebind("one", number)
        return time.perf_counter() - begin


def _start(folder: str) -> float:
    begin = time.perf_counter()
    with Node("n1", data_dir=folder):
        return time.perf_counter() - begin


def _kill(folder: str) -> None:
    command = [
        sys.executable,
        "-m",
        "hanaming",
        "serve",
        "--name",
        "n1",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        folder,
    ]
    node = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert node.stdout is not None
    node.stdout.readline()
    node.send_signal(signal.SIGKILL)
    node.wait()
    node.stdout.close()
