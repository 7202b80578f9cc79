"""Before each node of a cluster stands a relay, whose address the node tells others: so faults need no root.

The address of a relay stays the node's whenever the node is started again. One thread serves all relays of a cluster.
"""

from __future__ import annotations

import contextlib
import socket
from dataclasses import dataclass
from selectors import EVENT_READ
from typing import TYPE_CHECKING

from hanaming.testing._reactor import Reactor
from hanaming.testing._relayed import Relayed
from hanaming.testing._routes import Routes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOST = "127.0.0.1"
BACKLOG = 256


@dataclass(slots=True)
class Relay:
    """Of one node."""

    listener: socket.socket
    """Held without listening while the node is down: connecting is refused, and nobody else is given the port."""
    port: int
    upstream: tuple[str, int] | None = None
    """Where the node listens; `None` while it is down."""


class Relays:
    """Those of a cluster."""

    def __init__(self, nodes: Sequence[str]) -> None:
        self._relays: dict[str, Relay] = {}
        self._connections: set[Relayed] = set()
        self._routes = Routes()
        self._is_closed = False
        self._reactor = Reactor("hanaming-testing-cluster")
        try:
            for node in nodes:
                listener = _bound(0)
                self._relays[node] = Relay(listener, listener.getsockname()[1])
        except OSError:
            self.close()
            raise

    def address(self, node: str) -> str:
        """Where the node is reached."""
        return f"{HOST}:{self._relays[node].port}"

    @property
    def cuts(self) -> list[tuple[str, str]]:
        """Who is not heard by whom."""
        return self._routes.cuts

    def open(self, node: str, port: int) -> None:
        """The node listens at this port from now on, or will in a moment."""
        relay = self._relays[node]

        def begin() -> None:
            if relay.upstream is None:
                relay.listener.listen(BACKLOG)
                relay.listener.setblocking(False)
                self._reactor.watch(relay.listener, EVENT_READ, lambda _: self._accept(node, relay))
            relay.upstream = (HOST, port)

        self._ask(begin)

    def break_off(self, node: str) -> None:
        """The node is down: its connections are reset, those it made as well, and new ones are refused."""
        relay = self._relays[node]

        def end() -> None:
            if relay.upstream is not None:
                relay.upstream = None
                self._reactor.watch(relay.listener, 0, _nothing)
                relay.listener.close()
                relay.listener = _bound(relay.port)
            self._routes.pause(node, paused=False)
            for connection in list(self._connections):
                if node in {connection.node, connection.dialler}:
                    connection.reset()

        self._ask(end)

    def pause(self, node: str, *, paused: bool) -> None:
        """Nothing reaches the node any longer, or everything that has waited does."""
        self._change(lambda: self._routes.pause(node, paused=paused))

    def cut(self, senders: list[str], receivers: list[str]) -> None:
        """Nothing that these nodes send reaches those."""
        self._change(lambda: self._routes.cut(senders, receivers))

    def heal(self) -> None:
        """All nodes hear each other again."""
        self._change(self._routes.heal)

    def close(self) -> None:
        """Ends all, and the thread."""
        self._is_closed = True

        def last() -> None:
            for connection in list(self._connections):
                connection.reset()
            for relay in self._relays.values():
                self._reactor.watch(relay.listener, 0, _nothing)
                relay.listener.close()

        self._reactor.close(last)

    def _change(self, change: Callable[[], None]) -> None:
        def do() -> None:
            change()
            for connection in list(self._connections):
                connection.look()

        self._ask(do)

    def _ask(self, work: Callable[[], None]) -> None:
        if self._is_closed:
            raise RuntimeError("the cluster is closed")
        self._reactor.ask(work)

    def _accept(self, node: str, relay: Relay) -> None:
        # Whoever dialled may have gone; where this process has no more sockets it is tried again.
        with contextlib.suppress(OSError):
            dialled, _ = relay.listener.accept()
            if relay.upstream is None:
                dialled.close()
                return
            made = Relayed(self._reactor, self._routes, node, (dialled, relay.upstream), self._connections.discard)
            self._connections.add(made)


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((HOST, port))
    except OSError:
        bound.close()
        raise
    return bound


def _nothing(_: int) -> None:
    """What is not watched is not ready."""
