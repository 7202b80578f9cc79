"""Servers that fail in one way each, and a certificate that nobody trusts."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import subprocess
import sys
import textwrap
import threading

LIMIT = 60
# What a client waits for a server that answers, however busy the machine; and for one that never will.
LONG, SHORT = 30.0, 0.3
HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"

# Made with `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj /CN=elsewhere.example`.
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJGKhRql1Je0cjbQR
2x9FFQfzUs5N8ovb6u4PuPxyT9+hRANCAATbx6jWV2IqVD53beYeayz2c1S6QknC
u8S0ZbgVbEo1HkNDvQZCzjc3v1ZmWhgr9E+7DOa7rxX55+wJZPpYvQ0y
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBjzCCATWgAwIBAgIUeq3+sU7xIuEnn/2Cs7X1WpJ7PNwwCgYIKoZIzj0EAwIw
HDEaMBgGA1UEAwwRZWxzZXdoZXJlLmV4YW1wbGUwIBcNMjYxMTMwMTA1OTU4WhgP
MjEyNjExMDYxMDU5NThaMBwxGjAYBgNVBAMMEWVsc2V3aGVyZS5leGFtcGxlMFkw
EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE28eo1ldiKlQ+d23mHmss9nNUukJJwrvE
tGW4FWxKNR5DQ70GQs43N79WZloYK/RPuwzmu68V+efsCWT6WL0NMqNTMFEwHQYD
VR0OBBYEFAnIhP0kzVj/03KG1rpjt0xoNoQtMB8GA1UdIwQYMBaAFAnIhP0kzVj/
03KG1rpjt0xoNoQtMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIh
AN8VNDp7ffSpOM73lt3039oc4NadidqWWaX7zI4DO7NNAiA9Ocdm/sMUD7z6N+SE
CpPz5eUvOHYgu+W8bulNrB8vjQ==
-----END CERTIFICATE-----
"""


def failure(call, *args, **kwargs):
    """What a call raises."""
    try:
        call(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked at
        return error
    raise AssertionError("it did not fail")


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def serving(answer):
    """Gives each connection to `answer` in turn; what that leaves open is closed at the end."""
    stop = threading.Event()
    kept = []

    def run():
        while not stop.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connection.settimeout(LIMIT)
            kept.append(connection)
            with contextlib.suppress(OSError):
                answer(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stop.set()
            for connection in kept:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            thread.join(LIMIT)
            for connection in kept:
                connection.close()


def frozen(connection):
    """Never answers."""


def limit(server):
    """How long a client waits for this server."""
    return SHORT if server is frozen else LONG


def resetting(connection):
    """Reads the request and resets the connection."""
    connection.recv(65536)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def hanging_up(connection):
    """Reads the request and closes."""
    connection.recv(65536)
    connection.close()


def half_answering(connection):
    """Sends half of an HTTP answer and closes."""
    connection.recv(65536)
    connection.sendall(HALF)
    connection.close()


def refusing(connection):
    """Answers over HTTP that there is no such thing."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    connection.close()


@contextlib.contextmanager
def full():
    """A port whose queue is full, so that connecting to it takes for ever."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                waiting.connect(listener.getsockname())
        yield listener.getsockname()[1]


@contextlib.contextmanager
def tls(tmp_path):
    """Speaks TLS, with a certificate that nobody trusts."""
    file = tmp_path / "certificate.pem"
    file.write_text(CERTIFICATE, encoding="ascii")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)

    def answer(connection):
        with context.wrap_socket(connection, server_side=True) as wrapped:
            wrapped.recv(1024)

    with serving(answer) as port:
        yield port


class Program:
    """A server in a process of its own that prints its port, to be killed or frozen."""

    def __init__(self, code, *args, env=None):
        command = [sys.executable, "-c", textwrap.dedent(code), *args]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)

    def line(self):
        line = self.process.stdout.readline().strip()
        assert line, "the server did not start"
        return line

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.wait(LIMIT)
        self.process.stdout.close()
