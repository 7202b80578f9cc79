"""One direction of a connection through a proxy: bytes with the time at which they may go on."""

from __future__ import annotations

import time
from collections import deque

# How much waits here before no more is taken from the sender.
MOST = 256 * 1024
# A limited stream sends at least this often.
SLICE = 0.02


class Stream:
    """Bytes on their way."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[float, bytes]] = deque()
        self._size = 0
        self._credit = 0.0
        self._since = time.monotonic()
        self.is_ended = False
        """The sender has said all."""
        self.is_closed = False
        """The receiver was told so."""

    def put(self, data: bytes, due: float) -> None:
        """Takes bytes that may go on at a time."""
        self._waiting.append((due, data))
        self._size += len(data)

    @property
    def is_full(self) -> bool:
        """Whether no more should be taken for now."""
        return self._size >= MOST

    @property
    def is_empty(self) -> bool:
        """Whether all has gone on."""
        return not self._waiting

    def next_due(self, rate: float | None) -> float:
        """When something may go on; only where it isn't empty."""
        due = self._waiting[0][0]
        if rate is None or self._credit + (time.monotonic() - self._since) * rate >= 1:
            return due
        return max(due, time.monotonic() + max(SLICE, 1 / rate))

    def due(self, rate: float | None) -> bytes:
        """What may go on now: take off what has gone with `sent`."""
        now = time.monotonic()
        data = self._waiting[0][1] if self._waiting and self._waiting[0][0] <= now else b""
        if rate is None or not data:
            return data
        # What was not used is not saved up: a stream that was idle has no burst.
        self._credit = min(self._credit + (now - self._since) * rate, max(1.0, rate * SLICE * 2))
        self._since = now
        return data[: int(self._credit)]

    def sent(self, count: int) -> None:
        """So many bytes have gone on."""
        due, data = self._waiting.popleft()
        if count < len(data):
            self._waiting.appendleft((due, data[count:]))
        self._size -= count
        self._credit -= count
