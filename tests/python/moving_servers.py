"""Nodes that come, go and move between the addresses of loopback, and a program that calls them all the time."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import hanaming
from hanaming import HAContext, Node


def free_port() -> int:
    """A port that nobody listens at, on any address of loopback."""
    with Node("probe") as node:
        return int(node.address.rpartition(":")[2])


class Servers:
    """Nodes, each alone in its cluster, on one port of different addresses; each knows its own address as `where`."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.port = free_port()
        self._nodes: dict[str, Node] = {}

    def start(self, *numbers: int) -> list[str]:
        """Starts those at 127.0.0.<number>, and gives their addresses."""
        hosts = [f"127.0.0.{number}" for number in numbers]
        for host in hosts:
            node = self._stack.enter_context(Node(f"n{host.rpartition('.')[2]}", listen=f"{host}:{self.port}"))
            node.local.bind("where", host)
            self._nodes[host] = node
        return hosts

    def stop(self, host: str) -> None:
        self._nodes.pop(host).close()


class Load:
    """Lookups, one after the other, until the block ends: who answered when, and what failed."""

    def __init__(self, ctx: HAContext) -> None:
        self.answers: list[tuple[float, str]] = []
        self.failures: list[Exception] = []
        self._ctx = ctx
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._over.wait(0.002):
            try:
                self.answers.append((time.monotonic(), self._ctx.lookup("where")))
            except (hanaming.NamingError, OSError) as failure:
                self.failures.append(failure)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends, and waits for the last call."""
        self._over.set()
        self._thread.join(20)

    def since(self, at: float) -> Counter[str]:
        """Who answered since then, how often."""
        return Counter(host for when, host in list(self.answers) if when >= at)


@contextmanager
def load(ctx: HAContext) -> Iterator[Load]:
    running = Load(ctx)
    running.start()
    try:
        yield running
    finally:
        running.stop()
