"""Real failures of gRPC. Its details, not its status alone, say whether a call had left."""

from __future__ import annotations

import asyncio
import time

import pytest

import broken_servers as broken
from broken_servers import failure
from hanaming import Action, Category, CompletionStatus, classify

grpc = pytest.importorskip("grpc")

NO, MAYBE, YES = CompletionStatus.NO, CompletionStatus.MAYBE, CompletionStatus.YES

SERVER = """
    import grpc, time
    from concurrent import futures

    class Handler(grpc.GenericRpcHandler):
        def service(self, details):
            def answer(request, context):
                word, _, name = request.decode().partition(" ")
                if word == "sleep":
                    print("sleeping", flush=True)
                    time.sleep(60)
                if word == "abort":
                    context.abort(getattr(grpc.StatusCode, name), "as asked")
                return b"answer"
            return grpc.unary_unary_rpc_method_handler(answer) if details.method == "/s/m" else None

    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((Handler(),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()
"""


def call(channel, request=b"x", timeout=broken.LONG, method="/s/m"):
    return channel.unary_unary(method)(request, timeout=timeout)


def outcome(function, *args, **kwargs):
    found = classify(failure(function, *args, **kwargs))
    return found.category, found.completion, found.action


NOT_CONNECTED = (Category.NOT_CONNECTED, NO, Action.FAILOVER)


def test_no_channel_stood():
    with grpc.insecure_channel(f"127.0.0.1:{broken.closed_port()}") as channel:
        assert outcome(call, channel) == NOT_CONNECTED
    with grpc.insecure_channel("no-such-host.invalid:1") as channel:
        assert outcome(call, channel) == NOT_CONNECTED
        assert classify(failure(call, channel)).detail == "name_resolution"

    async def twin():
        async with grpc.aio.insecure_channel(f"127.0.0.1:{broken.closed_port()}") as channel:
            await channel.unary_unary("/s/m")(b"x", timeout=broken.LONG)

    assert outcome(lambda: asyncio.run(twin())) == NOT_CONNECTED


def test_a_peer_that_speaks_something_else():
    with broken.serving(broken.half_answering) as port:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            assert outcome(call, channel) == (Category.CONFIGURATION, NO, Action.SURFACE)
        with grpc.secure_channel(f"127.0.0.1:{port}", grpc.ssl_channel_credentials()) as channel:
            assert outcome(call, channel) == (Category.SECURITY, NO, Action.SURFACE)


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    from concurrent import futures  # noqa: PLC0415

    key, _, certificate = broken.CERTIFICATE.partition("-----BEGIN CERTIFICATE-----")
    certificate = ("-----BEGIN CERTIFICATE-----" + certificate).encode()
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key.encode(), certificate)]))
    server.start()
    yield port, certificate
    server.stop(0)


def test_wrong_tls(certified):
    port, certificate = certified
    for roots in (None, certificate):  # not trusted; trusted, and made out to another name
        with grpc.secure_channel(f"127.0.0.1:{port}", grpc.ssl_channel_credentials(roots)) as channel:
            assert outcome(call, channel) == (Category.SECURITY, NO, Action.SURFACE)
            assert classify(failure(call, channel)).detail == "tls_trust"
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        # The server hangs up on what is no TLS: no channel ever stood, so nothing was sent.
        assert outcome(call, channel)[1] is NO


def test_a_deadline():
    with broken.serving(broken.frozen) as port, grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        assert outcome(call, channel, timeout=broken.SHORT) == (Category.NO_RESPONSE, MAYBE, Action.SURFACE)


STATUSES = {
    "CANCELLED": (Category.NO_RESPONSE, MAYBE, Action.SURFACE),
    "DEADLINE_EXCEEDED": (Category.NO_RESPONSE, MAYBE, Action.SURFACE),
    "UNAVAILABLE": (Category.CONNECTION_LOST, MAYBE, Action.SURFACE),
    "RESOURCE_EXHAUSTED": (Category.RESOURCE_EXHAUSTED, NO, Action.RETRY_LATER),
    "UNAUTHENTICATED": (Category.SECURITY, NO, Action.SURFACE),
    "PERMISSION_DENIED": (Category.SECURITY, NO, Action.SURFACE),
    "NOT_FOUND": (Category.NAMING_ANSWER, YES, Action.SURFACE),
    "ALREADY_EXISTS": (Category.NAMING_ANSWER, YES, Action.SURFACE),
    "INVALID_ARGUMENT": (Category.APPLICATION, NO, Action.SURFACE),
    "FAILED_PRECONDITION": (Category.APPLICATION, NO, Action.SURFACE),
    "UNIMPLEMENTED": (Category.CONFIGURATION, NO, Action.SURFACE),
    "ABORTED": (Category.TRANSACTION_ROLLED_BACK, MAYBE, Action.SURFACE),
    "UNKNOWN": (Category.UNKNOWN, MAYBE, Action.SURFACE),
    "INTERNAL": (Category.UNKNOWN, MAYBE, Action.SURFACE),
}


def test_statuses_and_a_killed_server():
    with broken.Program(SERVER) as server, grpc.insecure_channel(f"127.0.0.1:{server.line()}") as channel:
        assert call(channel, timeout=30) == b"answer"
        for status, expected in STATUSES.items():
            assert outcome(call, channel, f"abort {status}".encode()) == expected, status
        assert outcome(call, channel, method="/s/other") == STATUSES["UNIMPLEMENTED"]
        cancelled = channel.unary_unary("/s/m").future(b"sleep")
        server.line()
        cancelled.cancel()
        assert outcome(cancelled.result)[:2] == (Category.NO_RESPONSE, MAYBE)
        under_way = channel.unary_unary("/s/m").future(b"sleep", timeout=30)
        assert server.line() == "sleeping"
        server.process.kill()
        assert outcome(under_way.result) == (Category.CONNECTION_LOST, MAYBE, Action.SURFACE)
        server.process.wait(30)
        end = time.monotonic() + 30
        while (found := outcome(call, channel)) != NOT_CONNECTED:  # it notices a moment later that nobody is there
            assert found == (Category.CONNECTION_LOST, MAYBE, Action.SURFACE)
            assert time.monotonic() < end


def test_a_channel_that_is_closed():
    channel = grpc.insecure_channel("127.0.0.1:1")
    channel.close()
    assert outcome(call, channel)[:2] == (Category.CLIENT_SHUTDOWN, NO)
