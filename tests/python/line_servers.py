"""Servers that behave as they are told, and the call that a program makes at them: one line there, one line back."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable

from typing_extensions import Self

from hanaming import Target, corba

LINGER_NOT = struct.pack("ii", 1, 0)


class ServerError(Exception):
    """The application's own exception, as the server raised it."""


class LineServer:
    """A server whose `behaviour` says what becomes of a request.

    `"answer"`; `"silent"`: it takes the request and says nothing; `"reset"`, `"half"`: it takes it and breaks off, with
    nothing or half of the answer said; `"raise ..."`: the client is to raise that.
    """

    def __init__(self, behaviour: str = "answer") -> None:
        self.behaviour = behaviour
        self.ran = 0
        """Requests that it took."""
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """From now on connections are refused."""
        self._over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join(5)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client, client.makefile("rb") as lines:
            if not lines.readline():
                return  # a probe
            self.ran += 1
            behaviour = self.behaviour
            if behaviour == "silent":
                self._over.wait(20)
            elif behaviour == "reset":
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
            elif behaviour == "half":
                client.sendall(b"o")
            elif behaviour == "answer":
                client.sendall(f"ok {self.address}\n".encode())
            else:
                client.sendall(f"{behaviour}\n".encode())


def ask(target: Target | str, *, timeout: float = 0.3) -> str:
    """Calls a `LineServer`: gives the address that answered, or raises as it says."""
    host, _, port = str(target).rpartition(":")
    with socket.create_connection((host, int(port)), timeout=timeout) as connection:
        connection.sendall(b"call\n")
        with connection.makefile("r", encoding="utf-8") as lines:
            line = lines.readline()
    if not line.endswith("\n"):
        raise ConnectionResetError("the connection ended before the answer")
    word, _, rest = line.strip().partition(" ")
    if word == "ok":
        return rest
    kind, _, fields = rest.partition(" ")
    if kind == "application":
        raise ServerError(fields)
    minor, _, completed = fields.partition(" ")
    make: Callable[[int, str], Exception] = getattr(corba, kind)
    raise make(int(minor, 16), completed)
