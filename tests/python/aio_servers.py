"""A relay in front of a node that can fall silent, and waiting on a loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable

import pytest
from typing_extensions import Self

from hanaming import Node


class Relay:
    """Passes bytes between clients and a node; `freeze()` keeps back what the node answers."""

    def __init__(self, node: Node) -> None:
        host, _, upstream = node.address.rpartition(":")
        self._upstream = (host, int(upstream))
        self._flowing = threading.Event()
        self._flowing.set()
        self._sockets: list[socket.socket] = []
        self.asked = 0
        """Bytes that clients have sent since the last `freeze()`."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.address = f"127.0.0.1:{port}"
        self.url = f"hn://{self.address}"
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> None:
        """From now on, nothing comes back."""
        self.asked = 0
        self._flowing.clear()

    def thaw(self) -> None:
        """What was kept back comes."""
        self._flowing.set()

    def cut(self) -> None:
        """Ends all connections."""
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def close(self) -> None:
        """Ends it."""
        self._listener.close()
        self.thaw()
        self.cut()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                upstream = socket.create_connection(self._upstream)
                self._sockets += [client, upstream]
                threading.Thread(target=self._up, args=(client, upstream), daemon=True).start()
                threading.Thread(target=self._down, args=(upstream, client), daemon=True).start()

    def _up(self, client: socket.socket, upstream: socket.socket) -> None:
        with contextlib.suppress(OSError), client, upstream:
            while chunk := client.recv(65536):
                upstream.sendall(chunk)
                self.asked += len(chunk)
            upstream.shutdown(socket.SHUT_WR)

    def _down(self, upstream: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while chunk := upstream.recv(65536):
                self._flowing.wait()
                client.sendall(chunk)
            client.shutdown(socket.SHUT_WR)


async def until(condition: Callable[[], object], what: str) -> None:
    """Returns once the condition holds, without holding up the loop; fails the test where it does not in time."""
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.005)
    pytest.fail(f"not in time: {what}")
