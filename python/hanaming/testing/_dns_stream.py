"""One client of a zone over TCP: messages behind their lengths."""

from __future__ import annotations

import struct
from selectors import EVENT_READ, EVENT_WRITE
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from hanaming.testing._reactor import Reactor

LENGTH = struct.Struct("!H")
PIECE = 64 * 1024


class DnsStream:
    """A connection. All here runs on the reactor's thread."""

    def __init__(
        self,
        reactor: Reactor,
        client: socket.socket,
        asked: Callable[[DnsStream, bytes], None],
        ended: Callable[[DnsStream], None],
    ) -> None:
        self._reactor = reactor
        self._client = client
        self._asked = asked
        self._ended = ended
        self._heard = self._unsent = b""
        self._is_over = False
        client.setblocking(False)
        self._look()

    def send(self, answer: bytes) -> None:
        """Sends a message, unless the client has gone."""
        if not self._is_over:
            self._unsent += LENGTH.pack(len(answer)) + answer
            self._look()

    def end(self) -> None:
        """Closes it."""
        if not self._is_over:
            self._is_over = True
            self._reactor.watch(self._client, 0, self._ready)
            self._client.close()
            self._ended(self)

    def _look(self) -> None:
        self._reactor.watch(self._client, EVENT_READ | (EVENT_WRITE if self._unsent else 0), self._ready)

    def _ready(self, events: int) -> None:
        try:
            if events & EVENT_WRITE:
                self._unsent = self._unsent[self._client.send(self._unsent) :]
            if events & EVENT_READ:
                data = self._client.recv(PIECE)
                if not data:
                    self.end()
                    return
                self._heard += data
                self._take()
        except BlockingIOError:
            pass
        except OSError:
            self.end()
            return
        self._look()

    def _take(self) -> None:
        while len(self._heard) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._heard)
            end = LENGTH.size + length
            if len(self._heard) < end:
                return
            message, self._heard = self._heard[LENGTH.size : end], self._heard[end:]
            self._asked(self, message)
