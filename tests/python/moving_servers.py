"""Servers that come, go and move between the addresses of loopback, and a program that calls them all the time."""

from __future__ import annotations

import http.server
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
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


class _Where(http.server.BaseHTTPRequestHandler):
    """Answers with its own address, and hangs up."""

    def do_GET(self) -> None:
        body = str(self.connection.getsockname()[0]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class WebServers:
    """The same with HTTP servers, which know nothing of hanaming."""

    def __init__(self, stack: ExitStack) -> None:
        self.port = free_port()
        self._servers: dict[str, tuple[http.server.ThreadingHTTPServer, threading.Thread]] = {}
        stack.callback(self._stop_all)

    def start(self, *numbers: int) -> list[str]:
        """Starts those at 127.0.0.<number>, and gives their addresses."""
        hosts = [f"127.0.0.{number}" for number in numbers]
        for host in hosts:
            server = http.server.ThreadingHTTPServer((host, self.port), _Where)
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            self._servers[host] = (server, thread)
        return hosts

    def stop(self, host: str) -> None:
        server, thread = self._servers.pop(host)
        server.shutdown()
        thread.join()
        server.server_close()

    def _stop_all(self) -> None:
        for host in list(self._servers):
            self.stop(host)


class Load:
    """Calls, one after the other, until the block ends: who answered when, and what failed."""

    def __init__(self, call: Callable[[], str]) -> None:
        self.answers: list[tuple[float, str]] = []
        self.failures: list[Exception] = []
        self._call = call
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._over.wait(0.002):
            try:
                self.answers.append((time.monotonic(), self._call()))
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
def load(called: HAContext | Callable[[], str]) -> Iterator[Load]:
    """Lookups by this context, or whatever is to be called."""
    running = Load((lambda: called.lookup("where")) if isinstance(called, HAContext) else called)
    running.start()
    try:
        yield running
    finally:
        running.stop()
