"""A connection to a node, by way of its relay."""

from __future__ import annotations

import contextlib
import socket
import struct
from selectors import EVENT_READ, EVENT_WRITE
from typing import TYPE_CHECKING

from hanaming import _native
from hanaming.testing._stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from hanaming.testing._reactor import Reactor
    from hanaming.testing._routes import Routes

PIECE = 64 * 1024
# Who has said so much without a whole hello is no node.
LONGEST_HELLO = 16 * 1024
RESET = struct.pack("ii", 1, 0)


class Relayed:
    """Two sockets: of whoever dialled, and to the node. All here runs on the reactor's thread.

    Nothing is passed on before it is known who dialled, which the first frame tells. What a route holds stays in the
    kernel's buffers, as it does where the other side is frozen, and arrives when the route is open again.
    """

    def __init__(
        self,
        reactor: Reactor,
        routes: Routes,
        node: str,
        sockets: tuple[socket.socket, tuple[str, int]],
        ended: Callable[[Relayed], None],
    ) -> None:
        self.node = node
        self.dialler: str | None = None
        """The node that dialled; "" for anybody else; `None` until it's known."""
        self._reactor = reactor
        self._routes = routes
        self._ended = ended
        self._near, upstream = sockets
        self._far = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._asked, self._answered = Stream(), Stream()
        self._first = b""
        self._is_over = False
        for sock in (self._near, self._far):
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._is_connected = self._far.connect_ex(upstream) == 0
        self.look()

    def reset(self) -> None:
        """Breaks it, on both sides."""
        for sock in (self._near, self._far):
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._end()

    def look(self) -> None:
        """What is waited for, by what is on its way and by the routes."""
        if self._is_over:
            return
        near = far = 0
        if self.dialler is None:
            near = EVENT_READ
        elif self._is_connected:
            # Each direction for itself: one may be open and the other not.
            if self._routes.passes(self.dialler, self.node):
                near |= EVENT_READ if _takes(self._asked) else 0
                far |= EVENT_WRITE if _goes_on(self._asked) else 0
            if self._routes.passes(self.node, self.dialler):
                far |= EVENT_READ if _takes(self._answered) else 0
                near |= EVENT_WRITE if _goes_on(self._answered) else 0
        if not self._is_connected:
            far = EVENT_WRITE
        self._reactor.watch(self._near, near, self._near_ready)
        self._reactor.watch(self._far, far, self._far_ready)

    def _near_ready(self, events: int) -> None:
        self._carry(events, self._near, self._asked, self._answered)

    def _far_ready(self, events: int) -> None:
        if self._is_connected:
            self._carry(events, self._far, self._answered, self._asked)
        elif self._far.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self.reset()
        else:
            self._is_connected = True
            self.look()

    def _carry(self, events: int, sock: socket.socket, said: Stream, told: Stream) -> None:
        try:
            if events & EVENT_READ:
                data = sock.recv(PIECE)
                said.is_ended = not data
                if data:
                    said.put(data, 0.0)
                if said is self._asked and self.dialler is None:
                    self._recognise(data)
            if events & EVENT_WRITE:
                _write(sock, told)
        except BlockingIOError:
            pass
        except OSError:
            # Whoever breaks it off, the other side sees it so.
            self.reset()
        if self._asked.is_closed and self._answered.is_closed:
            self._end()
        self.look()

    def _recognise(self, data: bytes) -> None:
        self._first += data
        self.dialler = _native.dialler(self._first)
        if self.dialler is None and (not data or len(self._first) > LONGEST_HELLO):
            self.dialler = ""
        if self.dialler is not None:
            self._first = b""

    def _end(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        for sock in (self._near, self._far):
            self._reactor.watch(sock, 0, self._near_ready)
            sock.close()
        self._ended(self)


def _takes(stream: Stream) -> bool:
    return not (stream.is_ended or stream.is_full)


def _goes_on(stream: Stream) -> bool:
    return not stream.is_empty or (stream.is_ended and not stream.is_closed)


def _write(sock: socket.socket, told: Stream) -> None:
    data = told.due(None)
    if data:
        told.sent(sock.send(data))
    if told.is_ended and told.is_empty:
        sock.shutdown(socket.SHUT_WR)
        told.is_closed = True
