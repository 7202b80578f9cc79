"""A client's connection through a proxy, and the one to the upstream that belongs to it."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from selectors import EVENT_READ, EVENT_WRITE
from typing import TYPE_CHECKING

from hanaming.testing._faults import Faults, Loss
from hanaming.testing._responses import Exchanges, Frames, responses_to
from hanaming.testing._stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from hanaming.testing._reactor import Reactor

PIECE = 64 * 1024
# Closing with this tells the other side that the connection broke, not that all was said.
RESET = struct.pack("ii", 1, 0)


class Connection:
    """Two sockets, and what is on its way between them. All here runs on the reactor's thread."""

    def __init__(
        self,
        reactor: Reactor,
        faults: Faults,
        client: socket.socket,
        upstream: tuple[socket.AddressFamily, tuple[str, int]],
        ended: Callable[[Connection], None],
    ) -> None:
        self._reactor = reactor
        self._faults = faults
        self._ended = ended
        self._client = client
        self._upstream = socket.socket(upstream[0], socket.SOCK_STREAM)
        self._requests, self._responses = Stream(), Stream()
        self._found: Exchanges | Frames | None = None
        self._is_connected = self._is_over = False
        self._alarm: float | None = None
        self.is_lost = False
        """A response of it was dropped: nothing that comes after it would be understood."""
        for sock in (self._client, self._upstream):
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        error = self._upstream.connect_ex(upstream[1])
        self._is_connected = error == 0
        self.look()

    def reset(self) -> None:
        """Breaks it, on both sides."""
        for sock in (self._client, self._upstream):
            with contextlib.suppress(OSError):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._end()

    def look(self) -> None:
        """What is waited for, by what is on its way and by the faults."""
        if self._is_over:
            return
        passes = not self._faults.is_held
        client = upstream = 0
        if passes and self._is_connected:
            client |= EVENT_READ if self._takes(self._requests) else 0
            upstream |= EVENT_READ if self._takes(self._responses) else 0
            client |= EVENT_WRITE if self._goes_on(self._responses) else 0
            upstream |= EVENT_WRITE if self._goes_on(self._requests) else 0
        elif passes:
            upstream = EVENT_WRITE
        self._reactor.watch(self._client, client, self._client_ready)
        self._reactor.watch(self._upstream, upstream, self._upstream_ready)

    def _takes(self, stream: Stream) -> bool:
        return not (stream.is_ended or stream.is_full)

    def _goes_on(self, stream: Stream) -> bool:
        if stream.is_empty:
            # Where a response was lost, the server's goodbye is lost as well.
            is_silent = self.is_lost and stream is self._responses
            return stream.is_ended and not stream.is_closed and not is_silent
        due = stream.next_due(self._faults.rate)
        if due <= time.monotonic():
            return True
        if self._alarm is None or due < self._alarm:
            self._alarm = due
            self._reactor.at(due, lambda: self._alarmed(due))
        return False

    def _alarmed(self, due: float) -> None:
        # One that was set for later and is no longer the next does nothing.
        if self._alarm == due:
            self._alarm = None
            self.look()

    def _client_ready(self, events: int) -> None:
        self._carry(events, self._client, self._requests, self._responses, self._asked)

    def _upstream_ready(self, events: int) -> None:
        if self._is_connected:
            self._carry(events, self._upstream, self._responses, self._requests, self._answered)
        elif self._upstream.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            # Nobody is there: the client is told as it would be by a gateway, after it was connected.
            self.reset()
        else:
            self._is_connected = True
            self.look()

    def _carry(
        self, events: int, sock: socket.socket, said: Stream, told: Stream, heard: Callable[[bytes], None]
    ) -> None:
        try:
            if events & EVENT_READ:
                data = sock.recv(PIECE)
                said.is_ended = not data
                if data:
                    heard(data)
            if events & EVENT_WRITE and not self._is_over:
                self._write(sock, told)
        except BlockingIOError:
            pass
        except OSError:
            self.reset()
        if self._requests.is_closed and (self._responses.is_closed or self.is_lost):
            self._end()
        self.look()

    def _write(self, sock: socket.socket, told: Stream) -> None:
        data = told.due(self._faults.rate)
        if data:
            told.sent(sock.send(data))
        if told.is_ended and told.is_empty:
            sock.shutdown(socket.SHUT_WR)
            told.is_closed = True

    def _asked(self, data: bytes) -> None:
        if self._found is None:
            self._found = responses_to(data)
        self._found.asked()
        self._requests.put(data, time.monotonic())

    def _answered(self, data: bytes) -> None:
        due = time.monotonic() + self._faults.delay
        # A server that speaks first answers nobody.
        for piece, exchange in self._found.split(data) if self._found else [(data, 0)]:
            loss = self._faults.take_loss(exchange) if exchange else None
            if loss is Loss.RESET:
                self.reset()
                return
            self.is_lost = self.is_lost or (loss is Loss.DROPPED and isinstance(self._found, Exchanges))
            if loss is None and not self.is_lost:
                self._responses.put(piece, due)

    def _end(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        for sock in (self._client, self._upstream):
            self._reactor.watch(sock, 0, self._client_ready)
            sock.close()
        self._ended(self)
