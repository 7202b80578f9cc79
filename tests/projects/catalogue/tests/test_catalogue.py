"""Each fault before the service, and what its client makes of it: reads go on, and nothing is ordered twice."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from catalogue import Catalogue, UnknownOutcomeError

from hanaming.testing import assert_applied_once

LONG = 30.0


class Quiet(ThreadingHTTPServer):
    """Says nothing of connections that broke: they are what is tested."""

    def handle_error(self, *args):
        pass


class Service:
    """An HTTP server that keeps books of what it did."""

    def __init__(self, stack):
        books = self.books = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self._answer(b"a fine " + self.path[1:].encode())

            def do_POST(self):
                books.append(self.path[1:])
                self._answer(b"")

            def _answer(self, body):
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        server = stack.enter_context(Quiet(("127.0.0.1", 0), Handler))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        self.address = f"127.0.0.1:{server.server_port}"


@pytest.fixture
def services():
    with ExitStack() as stack:
        yield [Service(stack), Service(stack)]


@pytest.fixture
def proxy(services, fault_proxy):
    """Before the first service."""
    return fault_proxy(services[0])


@pytest.fixture
def second(services, fault_proxy):
    return fault_proxy(services[1])


def test_without_faults(services, proxy, second):
    catalogue = Catalogue([proxy.address, second.address], timeout=LONG)
    assert catalogue.read("tea") == "a fine tea"
    catalogue.order("tea")
    assert (services[0].books, services[1].books) == (["tea"], [])
    assert proxy.taken == 2


def test_a_dead_server(services, proxy, second):
    proxy.refuse()
    catalogue = Catalogue([proxy.address, second.address], timeout=LONG)
    assert catalogue.read("tea") == "a fine tea"
    catalogue.order("tea")
    assert (services[0].books, services[1].books) == ([], ["tea"])
    second.refuse()
    with pytest.raises(ConnectionRefusedError):
        catalogue.order("tea")
    proxy.heal()
    catalogue.order("tea")
    assert services[0].books == ["tea"]


def test_a_frozen_server(services, proxy, second):
    proxy.black_hole()
    catalogue = Catalogue([proxy.address, second.address], timeout=0.3)
    assert catalogue.read("tea") == "a fine tea"
    with pytest.raises(UnknownOutcomeError):
        catalogue.order("tea")
    assert services[1].books == []


@pytest.mark.parametrize("fault", ["drop_response", "reset_after_send"])
def test_a_lost_answer_is_never_ordered_again(services, proxy, second, fault):
    getattr(proxy, fault)()
    catalogue = Catalogue([proxy.address, second.address], timeout=0.3 if fault == "drop_response" else LONG)
    with pytest.raises(UnknownOutcomeError):
        catalogue.order("tea")
    assert_applied_once(services[0].books + services[1].books, accepted=["tea"])
    assert catalogue.read("tea") == "a fine tea"


def test_a_slow_server_is_waited_for(proxy, second):
    proxy.delay(0.2)
    began = time.monotonic()
    assert Catalogue([proxy.address, second.address], timeout=LONG).read("tea") == "a fine tea"
    assert time.monotonic() - began >= 0.2
    assert second.taken == 0


def test_a_narrow_line_is_waited_for(proxy):
    proxy.throttle(20_000)
    assert Catalogue([proxy.address], timeout=LONG).read("x" * 2_000) == "a fine " + "x" * 2_000
