"""Real failures of Python's own sockets, made here, against what the tables say."""

from __future__ import annotations

import asyncio
import errno
import http.client
import resource
import socket
import ssl
import urllib.error
import urllib.request

import pytest

import broken_servers as broken
from broken_servers import failure
from hanaming import Action, Category, CompletionStatus, classify

NO, MAYBE, YES = CompletionStatus.NO, CompletionStatus.MAYBE, CompletionStatus.YES
NAME = "no-such-host.invalid"


def verdict(call):
    found = classify(failure(call))
    return found.category, found.completion, found.action


NOT_CONNECTED = (Category.NOT_CONNECTED, NO, Action.FAILOVER)
NO_RESPONSE = (Category.NO_RESPONSE, MAYBE, Action.SURFACE)
LOST = (Category.CONNECTION_LOST, MAYBE, Action.SURFACE)
SECURITY = (Category.SECURITY, NO, Action.SURFACE)


def exchange(port, timeout=broken.LONG):
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(b"question")
        answer = connection.recv(100)
        if not answer:
            raise EOFError("hung up")


def bare_connect(port, timeout):
    with socket.socket() as connection:
        connection.settimeout(timeout)
        connection.connect(("127.0.0.1", port))


def get(url, timeout=broken.LONG):
    with urllib.request.urlopen(url, timeout=timeout) as reply:
        return reply.read()


def http_get(port, timeout):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("GET", "/")
        return connection.getresponse().read()
    finally:
        connection.close()


def test_nobody_listens():
    port = broken.closed_port()
    assert verdict(lambda: exchange(port)) == NOT_CONNECTED
    assert verdict(lambda: get(f"http://127.0.0.1:{port}/")) == NOT_CONNECTED
    assert classify(failure(lambda: exchange(port))).detail == "connect_refused"


def test_nobody_has_that_name():
    for call in (
        lambda: socket.create_connection((NAME, 1)),
        lambda: socket.getaddrinfo(NAME, 1),
        lambda: get(f"http://{NAME}/"),
    ):
        assert verdict(call) == NOT_CONNECTED
        assert classify(failure(call)).detail == "name_resolution"


def test_connecting_takes_too_long():
    with broken.full() as port:
        for call in (
            lambda: exchange(port, broken.SHORT),
            lambda: bare_connect(port, broken.SHORT),
            lambda: get(f"http://127.0.0.1:{port}/", broken.SHORT),
        ):
            assert verdict(call) == NOT_CONNECTED
            assert classify(failure(call)).detail == "connect_timeout"


@pytest.mark.parametrize(
    ("server", "expected"),
    [(broken.frozen, NO_RESPONSE), (broken.resetting, LOST), (broken.hanging_up, LOST), (broken.half_answering, LOST)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_request_left(server, expected):
    with broken.serving(server) as port:
        limit = broken.limit(server)
        assert verdict(lambda: http_get(port, limit)) == expected
        assert verdict(lambda: get(f"http://127.0.0.1:{port}/", limit)) == expected
        if server is not broken.half_answering:
            assert verdict(lambda: exchange(port, limit)) == expected


def test_what_may_run_twice_may_go_elsewhere():
    with broken.serving(broken.resetting) as port:
        assert classify(failure(lambda: exchange(port))).action_if_idempotent is Action.FAILOVER


def test_an_answer_is_an_answer():
    with broken.serving(broken.refusing) as port:
        error = failure(lambda: get(f"http://127.0.0.1:{port}/"))
    found = classify(error)
    error.close()
    assert (found.category, found.completion, found.action) == (Category.APPLICATION, YES, Action.SURFACE)


def tls_exchange(port, timeout=broken.LONG):
    context = ssl.create_default_context()
    with (
        socket.create_connection(("127.0.0.1", port), timeout=timeout) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        connection.sendall(b"question")


def test_a_certificate_that_is_not_trusted(tmp_path):
    with broken.tls(tmp_path) as port:
        for call in (lambda: tls_exchange(port), lambda: get(f"https://localhost:{port}/")):
            assert verdict(call) == SECURITY
            found = classify(failure(call))
            assert found.detail == "tls_trust"
            assert "EPERM" not in found.evidence  # TLS's own number 1 is no errno


def test_a_peer_that_speaks_no_tls():
    with broken.serving(broken.half_answering) as port:
        assert verdict(lambda: tls_exchange(port)) == SECURITY


@pytest.mark.parametrize("server", [broken.frozen, broken.resetting, broken.hanging_up], ids=lambda s: s.__name__)
def test_a_handshake_that_breaks_has_sent_nothing(server):
    with broken.serving(server) as port:
        assert verdict(lambda: tls_exchange(port, broken.limit(server))) == NOT_CONNECTED


def test_no_file_is_left():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    kept = []

    def open_many():
        while True:
            kept.append(socket.socket())

    resource.setrlimit(resource.RLIMIT_NOFILE, (len(range(64)) + 64, hard))
    try:
        found = verdict(open_many)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for one in kept:
            one.close()
    assert found == (Category.RESOURCE_EXHAUSTED, NO, Action.RETRY_LATER)


def run(coroutine_function):
    return lambda: asyncio.run(coroutine_function())


def test_asyncio_before_the_request():
    port = broken.closed_port()

    async def closed():
        await asyncio.open_connection("127.0.0.1", port)

    async def both_families():
        await asyncio.open_connection("localhost", port)

    async def name():
        await asyncio.open_connection(NAME, 1)

    for call in (closed, both_families, name):
        assert verdict(run(call)) == NOT_CONNECTED

    with broken.full() as busy:

        async def slow():
            await asyncio.wait_for(asyncio.open_connection("127.0.0.1", busy), broken.SHORT)

        # A timeout that cut a connect off says so only by where it cut.
        assert verdict(run(slow)) == NOT_CONNECTED


@pytest.mark.parametrize(
    ("server", "expected"),
    [(broken.frozen, NO_RESPONSE), (broken.resetting, LOST), (broken.hanging_up, LOST)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_asyncio_after_the_request(server, expected):
    with broken.serving(server) as port:

        async def ask():
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"question")
            try:
                await asyncio.wait_for(reader.readexactly(10), broken.limit(server))
            finally:
                writer.close()

        assert verdict(run(ask)) == expected


def test_symbols_decide_whatever_the_words():
    table = [
        (OSError(errno.EHOSTUNREACH, "Kein Weg zum Zielrechner"), NOT_CONNECTED),
        (OSError(errno.ENETUNREACH, "Das Netzwerk ist nicht erreichbar"), NOT_CONNECTED),
        (OSError(errno.ECONNREFUSED, "Verbindungsaufbau abgelehnt"), NOT_CONNECTED),
        (OSError(errno.ECONNRESET, "接続が相手からリセットされました"), LOST),
        (OSError(errno.EPIPE, "Relais brisé"), LOST),
        (OSError(errno.ENOBUFS, "voll"), (Category.RESOURCE_EXHAUSTED, NO, Action.RETRY_LATER)),
    ]
    for error, expected in table:
        found = classify(error)
        assert (found.category, found.completion, found.action) == expected, error
