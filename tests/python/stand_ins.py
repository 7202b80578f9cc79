"""Servers just good enough for a real client library to be answered: what the documents' examples are called against."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator

Serve = Callable[[socket.socket], None]


@contextlib.contextmanager
def serving(serve: Serve) -> Iterator[str]:
    """A server at a free port, each connection in a thread of its own; gives `host:port`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=_one, args=(serve, listener.accept()[0]), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join(10)


def _one(serve: Serve, connection: socket.socket) -> None:
    with contextlib.suppress(OSError, EOFError), connection:
        serve(connection)


def redis(connection: socket.socket) -> None:
    """Knows a greeting and `GET`."""
    answers = {b"GET": b"$5\r\nvalue\r\n", b"HELLO": b"%2\r\n+server\r\n+redis\r\n+proto\r\n:3\r\n"}
    with connection.makefile("rb") as lines:
        while line := lines.readline():
            words = []
            for _ in range(int(line[1:])):
                words.append(lines.read(int(lines.readline()[1:])))
                lines.readline()
            connection.sendall(answers.get(words[0].upper(), b"-ERR unknown command\r\n"))


def postgres(connection: socket.socket) -> None:
    """Lets everybody in, and answers each query with one row of one text."""
    length, _ = struct.unpack("!II", _exactly(connection, 8))
    startup = _exactly(connection, length - 8)
    if not startup:  # TLS or GSSAPI is asked for
        connection.sendall(b"N")
        return postgres(connection)
    ready = _message(b"Z", b"I")
    parameters = [_message(b"S", f"{key}\0{value}\0".encode()) for key, value in PARAMETERS.items()]
    connection.sendall(_message(b"R", struct.pack("!I", 0)) + b"".join(parameters) + ready)
    row = _message(b"T", struct.pack("!H", 1) + b"a\0" + struct.pack("!IHIhih", 0, 0, 25, -1, -1, 0))
    row += _message(b"D", struct.pack("!HI", 1, 5) + b"value") + _message(b"C", b"SELECT 1\0")
    answers = {
        b"P": _message(b"1", b""),
        b"B": _message(b"2", b""),
        b"E": row,
        b"S": ready,
    }
    while True:
        kind, size = struct.unpack("!cI", _exactly(connection, 5))
        query = _exactly(connection, size - 4)
        if kind == b"X":
            return None
        if kind == b"Q":
            shown = (
                row if query.upper().startswith(b"SELECT") else _message(b"C", query.split()[0].strip(b"\0") + b"\0")
            )
            connection.sendall(shown + ready)
        else:
            connection.sendall(answers.get(kind, b""))


PARAMETERS = {"server_version": "16.0", "client_encoding": "UTF8", "standard_conforming_strings": "on"}


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data
