"""Servers that come, go and move between the addresses of loopback, and a program that calls them all the time."""

from __future__ import annotations

import http.server
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise

import hanaming
from hanaming import HAContext, Node
from hanaming.testing import DnsFailure, DnsZone
from waiting import until


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


def outage(zone: DnsZone, moving: Servers, mood: DnsFailure, seconds: float) -> None:
    """The name server fails for so long: no server is lost, no call fails though one server is restarted, and nothing is
    asked more than once a second; then it's believed again."""
    hosts = moving.start(2, 3)
    zone.set("orders.test", hosts)
    with (
        HAContext(f"hn://orders.test:{moving.port}", dns_servers=[zone.address], follow_views=False) as ctx,
        load(ctx) as calls,
    ):
        until(lambda: len(calls.since(0)) == 2, "both are asked")
        zone.fail(mood)
        began = time.monotonic()
        moving.stop(hosts[0])
        until(lambda: set(calls.since(time.monotonic() - 0.2)) == {hosts[1]}, "the other one has all")
        moving.start(2)
        until(lambda: hosts[0] in calls.since(time.monotonic() - 0.2), "it is taken back", within=20)
        until(lambda: time.monotonic() - began > seconds, "the outage is over", within=seconds + 10)
        until(lambda: ctx.metrics.failed_refreshes > 0, "it was asked")
        assert not calls.failures
        assert sorted(target.host for target in ctx.targets) == hosts
        assert ctx.metrics.drained == 0
        for kind in ("A", "AAAA"):
            asked = zone.asked(kind, since=began)
            if mood != "silent":
                assert all(later - earlier > 0.75 for earlier, later in pairwise(asked)), asked
            # A datagram that is not answered is sent again, by the same resolution.
            assert len(asked) <= 3 * (seconds + 2), asked
        zone.heal()
        (fresh,) = moving.start(4)
        zone.set("orders.test", [fresh])
        until(lambda: [target.host for target in ctx.targets] == [fresh], "it is believed again", within=20)
        assert not calls.failures
