"""A TCP proxy that breaks what passes, as it is told."""

from __future__ import annotations

import contextlib
import socket
from selectors import EVENT_READ
from typing import TYPE_CHECKING, Protocol

from hanaming._arguments import number, text, whole, wrong_type
from hanaming.testing._closing import Closing
from hanaming.testing._connection import Connection
from hanaming.testing._faults import Faults, Loss
from hanaming.testing._reactor import Reactor

if TYPE_CHECKING:
    from collections.abc import Callable


BACKLOG = 256


class Addressed(Protocol):
    """Whatever says where it is reached: a `Node`, or another proxy."""

    @property
    def address(self) -> str:
        """As `host:port`."""


class FaultProxy(Closing):
    """Stands before a TCP service; clients are given `address` instead of the service's own.

    Each verb holds, for connections that are open and for those to come, until another one changes it or `heal` ends
    it, and holds when it returns. Verbs add up: a service can be slow and narrow at once.

    Args:
        upstream: The service, as `"host:port"`, or something with an `address`. It needn't be there yet.
        host: The address to listen on; a loopback address.

    Raises:
        ValueError: `upstream` is no address.
        OSError: `upstream`'s host is not known, or `host` is no address of this machine.
    """

    def __init__(self, upstream: str | Addressed, *, host: str = "127.0.0.1") -> None:
        at = upstream if isinstance(upstream, str) else getattr(upstream, "address", None)
        if at is None:
            raise wrong_type("upstream", 'an address, such as "127.0.0.1:8080", or something that has one', upstream)
        self._upstream = _resolved(text("upstream", at))
        self._faults = Faults()
        self._connections: set[Connection] = set()
        self._taken = 0
        self._listener = _bound(text("host", host), 0)
        self._name: tuple[str, int] = self._listener.getsockname()[:2]
        self._is_refusing = self._is_closed = False
        self._reactor = Reactor(f"hanaming-fault-proxy-{self.port}")
        self._reactor.ask(self._listen)

    @property
    def host(self) -> str:
        """The address that it listens on."""
        return self._name[0]

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._name[1]

    @property
    def address(self) -> str:
        """Both, as `host:port`."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def connections(self) -> int:
        """How many connections are open through it."""
        return len(self._connections)

    @property
    def taken(self) -> int:
        """How many connections it has taken so far."""
        return self._taken

    def refuse(self) -> None:
        """As when the service's process has died: open connections are reset, and new ones refused."""

        def refuse() -> None:
            if not self._is_refusing:
                self._is_refusing = True
                self._reactor.watch(self._listener, 0, self._accept)
                self._listener.close()
                # Held without listening: connecting is refused, and nobody else is given the port.
                self._listener = _bound(*self._name)
            self._reset_all()

        self._do(refuse)

    def black_hole(self) -> None:
        """As when the service is frozen or the network drops all: connections are taken, and nothing passes.

        What was sent meanwhile arrives after `heal`, as it does with TCP.
        """
        self._change(is_held=True)

    def delay(self, seconds: float) -> None:
        """Each response comes so much later.

        Raises:
            ValueError: `seconds` is negative or no number.
        """
        if not 0 <= number("seconds", seconds) <= 3600:  # noqa: PLR2004
            raise ValueError(f"seconds: {seconds!r} is no time between 0 and 3600 s")
        self._change(delay=float(seconds))

    def throttle(self, bytes_per_second: float) -> None:
        """Each direction of each connection carries no more than that.

        Raises:
            ValueError: `bytes_per_second` is not positive.
        """
        if not number("bytes_per_second", bytes_per_second) > 0:
            raise ValueError(f"bytes_per_second: {bytes_per_second!r} is not positive; black_hole() lets nothing pass")
        self._change(rate=float(bytes_per_second))

    def drop_response(self, *, times: int | None = None, after: int = 0) -> None:
        """The request reaches the service and runs, its response never arrives: its client learns nothing (`MAYBE`).

        The connection stays open and is silent from then on. hanaming's own protocol is known: there greetings pass,
        and what was not struck goes on.

        Args:
            times: How many responses are lost, on all connections together; `None` for all until `heal`.
            after: How many exchanges of each connection are left alone, such as a greeting or a login.

        Raises:
            ValueError: `times` is less than 1, or `after` is negative.
        """
        self._lose(Loss.DROPPED, times, after)

    def reset_after_send(self, *, times: int | None = None, after: int = 0) -> None:
        """The same, but the connection is reset in place of the response, so that its client knows at once.

        Args:
            times: How many responses are lost, on all connections together; `None` for all until `heal`.
            after: How many exchanges of each connection are left alone, such as a greeting or a login.

        Raises:
            ValueError: `times` is less than 1, or `after` is negative.
        """
        self._lose(Loss.RESET, times, after)

    def heal(self) -> None:
        """Ends all faults. What was held goes on; connections that lost a response are reset."""

        def heal() -> None:
            self._faults.heal()
            if self._is_refusing:
                self._is_refusing = False
                self._listen()
            for connection in list(self._connections):
                if connection.is_lost:
                    connection.reset()
                else:
                    connection.look()

        self._do(heal)

    def close(self) -> None:
        """Ends it and its connections, and gives the port back. Doing so again does nothing."""
        if self._is_closed:
            return
        self._is_closed = True

        def last() -> None:
            self._reset_all()
            self._reactor.watch(self._listener, 0, self._accept)
            self._listener.close()

        self._reactor.close(last)

    def __repr__(self) -> str:
        host, port = self._upstream[1][:2]
        state = "closed" if self._is_closed else "refusing" if self._is_refusing else _told(self._faults)
        return f"<FaultProxy {self.address} to {host}:{port}, {state}>"

    def _lose(self, loss: Loss, times: int | None, after: int) -> None:
        if times is not None and whole("times", times) < 1:
            raise ValueError(f"times: {times!r} is less than 1; heal() ends all faults")
        if whole("after", after) < 0:
            raise ValueError(f"after: {after!r} is negative")
        self._change(loss=loss, times=times, after=after)

    def _change(self, **to: object) -> None:
        def change() -> None:
            for field, value in to.items():
                setattr(self._faults, field, value)
            for connection in list(self._connections):
                connection.look()

        self._do(change)

    def _do(self, change: Callable[[], None]) -> None:
        if self._is_closed:
            raise ValueError(f"{self!r} is closed")
        self._reactor.ask(change)

    def _listen(self) -> None:
        self._listener.listen(BACKLOG)
        self._listener.setblocking(False)
        self._reactor.watch(self._listener, EVENT_READ, self._accept)

    def _accept(self, _: int) -> None:
        with contextlib.suppress(BlockingIOError):
            client, _address = self._listener.accept()
            self._taken += 1
            self._connections.add(
                Connection(self._reactor, self._faults, client, self._upstream, self._connections.discard)
            )

    def _reset_all(self) -> None:
        for connection in list(self._connections):
            connection.reset()


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError:
        bound.close()
        raise
    return bound


def _resolved(address: str) -> tuple[socket.AddressFamily, tuple[str, int]]:
    host, _, port = address.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:  # noqa: PLR2004
        raise ValueError(f'upstream: {address!r} is no address; give "host:port", such as "127.0.0.1:8080"')
    found = socket.getaddrinfo(host.removeprefix("[").removesuffix("]"), int(port), type=socket.SOCK_STREAM)
    family, _, _, _, name = found[0]
    return family, (str(name[0]), int(name[1]))


def _told(faults: Faults) -> str:
    words = [
        "black hole" if faults.is_held else "",
        f"{faults.delay:g} s late" if faults.delay else "",
        f"{faults.rate:g} B/s" if faults.rate is not None else "",
        f"responses {faults.loss.value}" if faults.loss else "",
    ]
    return ", ".join(filter(None, words)) or "no fault"
