"""The processes that are measured against: the echo floor, Redis, and hanaming nodes. All on loopback, free ports,
ended by their process ids."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def echo() -> Iterator[int]:
    """The epoll echo server of the floor; gives its port."""
    binary = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples" / "echo_server"
    if not binary.exists():
        sys.exit(f"{binary} is missing: run `cargo build --release --example echo_server`, or `make bench`")
    process = subprocess.Popen([str(binary)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait(5)


@contextlib.contextmanager
def redis() -> Iterator[int | None]:
    """A Redis server without persistence; gives its port, or None where Redis isn't installed."""
    program = shutil.which("redis-server")
    if program is None:
        print("redis-server is not installed: its rows are left out (apt-get install redis-server)")
        yield None
        return
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder],
            stdout=subprocess.DEVNULL,
        )
        try:
            wait_for_port(port)
            yield port
        finally:
            process.kill()
            process.wait(5)


def wait_for_port(port: int, limit: float = 10.0) -> None:
    end = time.monotonic() + limit
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if time.monotonic() > end:
                raise
        else:
            return


class NodeProcess:
    """One `hanaming serve`."""

    def __init__(self, name: str, seeds: Sequence[str] = (), folder: Path | None = None) -> None:
        command = [sys.executable, "-m", "hanaming", "serve", "--name", name, "--listen", "127.0.0.1:0"]
        if folder is not None:
            command += ["--data-dir", str(folder / name)]
        for seed in seeds:
            command += ["--seed", seed]
        self.name = name
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if " ready on " not in line:
            msg = f"node {name} did not start: {line!r}"
            raise RuntimeError(msg)
        self.address = line.rsplit(" ", 1)[1].strip()

    @property
    def pid(self) -> int:
        return self.process.pid

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(10)


@contextlib.contextmanager
def nodes(count: int, folder: Path | None = None) -> Iterator[list[NodeProcess]]:
    """A cluster of node processes, with data in a folder or in memory."""
    started: list[NodeProcess] = []
    try:
        for number in range(count):
            started.append(NodeProcess(f"n{number + 1}", [node.address for node in started[:1]], folder))
        yield started
    finally:
        for node in started:
            node.stop()
