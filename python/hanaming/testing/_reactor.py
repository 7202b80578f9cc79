"""One thread that waits for sockets and times, and does what other threads ask for in between.

All state of what runs on it belongs to that thread alone, so nothing there needs a lock.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import selectors
import socket
import threading
import time
from collections import deque
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# How long a caller waits for what it asked for, and for the thread's end.
LIMIT = 10.0


class Reactor:
    """The thread. It ends with `close`, or with the process."""

    def __init__(self, name: str) -> None:
        self._selector = selectors.DefaultSelector()
        self._asked: deque[Callable[[], None]] = deque()
        self._timers: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._bell, self._rung = socket.socketpair()
        self._bell.setblocking(False)
        self._rung.setblocking(False)
        self._over = False
        self._selector.register(self._rung, selectors.EVENT_READ, self._heard)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def ask(self, work: Callable[[], T]) -> T:
        """Has the thread do something, and returns or raises what comes of it."""
        if threading.current_thread() is self._thread:
            return work()
        done: Future[T] = Future()

        def do() -> None:
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
                done.set_exception(error)

        self._asked.append(do)
        self._ring()
        return done.result(LIMIT)

    def close(self, last: Callable[[], None]) -> None:
        """Does a last thing, and ends the thread."""
        if not self._thread.is_alive():
            return

        def end() -> None:
            self._over = True
            last()

        self.ask(end)
        self._thread.join(LIMIT)
        # Here, since whoever asks rings after the thread may have heard it.
        self._selector.close()
        self._bell.close()
        self._rung.close()

    # From here on: for the thread itself.

    def watch(self, sock: socket.socket, events: int, ready: Callable[[int], None]) -> None:
        """From now on, `ready` is called with the events that a socket is ready for; with none it isn't watched."""
        known = sock.fileno() in self._selector.get_map()
        if events and known:
            if self._selector.get_key(sock).events != events:
                self._selector.modify(sock, events, ready)
        elif events:
            self._selector.register(sock, events, ready)
        elif known:
            self._selector.unregister(sock)

    def at(self, when: float, work: Callable[[], None]) -> None:
        """Does something when `time.monotonic()` has reached `when`."""
        heapq.heappush(self._timers, (when, next(self._order), work))

    def _ring(self) -> None:
        # A bell that is full has been rung.
        with contextlib.suppress(BlockingIOError):
            self._bell.send(b"!")

    def _heard(self, _: int) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._rung.recv(4096):
                pass

    def _run(self) -> None:
        while not self._over:
            wait = max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None
            for key, events in self._selector.select(wait):
                # What was done for another socket may have ended this one.
                if self._selector.get_map().get(key.fd) is key:
                    key.data(events)
            while self._timers and self._timers[0][0] <= time.monotonic():
                heapq.heappop(self._timers)[2]()
            while self._asked:
                self._asked.popleft()()
