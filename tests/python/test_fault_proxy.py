"""Each fault of a proxy as a plain client of any protocol sees it."""

from __future__ import annotations

import os
import socket
import threading
import time

import pytest

from hanaming.testing import FaultProxy
from left_behind import nothing_left_behind
from line_servers import LineServer
from waiting import until

# What a client waits for an answer that comes, however busy the machine; and for one that never will.
LONG, SHORT = 20.0, 0.3


@pytest.fixture
def server():
    with LineServer() as server:
        yield server


@pytest.fixture
def proxy(server):
    with FaultProxy(server.address) as proxy:
        yield proxy


class Client:
    """One connection, one line after the other."""

    def __init__(self, proxy, timeout=LONG):
        self.socket = socket.create_connection((proxy.host, proxy.port), timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self):
        self.socket.sendall(b"call\n")

    def answer(self):
        self.socket.settimeout(LONG)
        return self.socket.recv(1000).decode()

    def hears_nothing(self):
        self.socket.settimeout(SHORT)
        with pytest.raises(TimeoutError):
            self.socket.recv(1000)
        return True


def at(listener):
    return f"127.0.0.1:{listener.getsockname()[1]}"


def call(proxy):
    with Client(proxy) as client:
        client.send()
        return client.answer()


def test_without_a_fault_all_passes(server, proxy):
    assert call(proxy) == f"ok {server.address}\n"
    until(lambda: proxy.connections == 0, "both sides have closed")
    assert proxy.taken == 1
    assert repr(proxy) == f"<FaultProxy {proxy.address} to {server.address}, no fault>"


def test_large_data_passes_whole_and_its_end_too():
    data = os.urandom(3_000_000)
    got = []
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        FaultProxy(at(listener)) as proxy,
    ):

        def take():
            with listener.accept()[0] as taken, taken.makefile("rb") as stream:
                got.append(stream.read())
                taken.sendall(data[::-1])

        thread = threading.Thread(target=take)
        thread.start()
        with Client(proxy) as client, client.socket.makefile("rb") as stream:
            client.socket.sendall(data)
            client.socket.shutdown(socket.SHUT_WR)
            assert stream.read() == data[::-1]
        thread.join(LONG)
    assert got == [data]


def test_refuse_resets_what_is_open_and_refuses_what_is_new(server, proxy):
    address = proxy.address
    server.behaviour = "silent"
    with Client(proxy) as client:
        client.send()
        until(lambda: server.ran == 1, "the request arrived")
        proxy.refuse()
        with pytest.raises(ConnectionResetError):
            client.answer()
        with pytest.raises(ConnectionRefusedError):
            Client(proxy)
    proxy.refuse()
    proxy.heal()
    server.behaviour = "answer"
    assert proxy.address == address
    assert call(proxy).startswith("ok")


def test_a_black_hole_takes_connections_and_nothing_else_and_lets_go_later(server, proxy):
    proxy.black_hole()
    with Client(proxy) as client:
        client.send()
        assert client.hears_nothing()
        assert server.ran == 0
        proxy.heal()
        assert client.answer().startswith("ok")
    assert server.ran == 1


def test_a_delay_is_the_response_s_alone(server, proxy):
    proxy.delay(0.5)
    with Client(proxy) as client:
        began = time.monotonic()
        client.send()
        until(lambda: server.ran == 1, "the request arrived")
        assert client.hears_nothing()
        assert client.answer().startswith("ok")
        assert time.monotonic() - began >= 0.5
    assert "0.5 s late" in repr(proxy)


def test_a_dropped_response_ran(server, proxy):
    proxy.drop_response(times=1)
    with Client(proxy) as client:
        client.send()
        until(lambda: server.ran == 1, "the request ran")
        assert client.hears_nothing()
        assert call(proxy).startswith("ok"), "one response was to be lost"
        proxy.heal()
        with pytest.raises(ConnectionResetError):
            client.answer()
    assert server.ran == 2


def test_a_reset_in_place_of_the_response_ran_too(server, proxy):
    proxy.reset_after_send()
    for number in (1, 2):
        with Client(proxy) as client:
            client.send()
            with pytest.raises(ConnectionResetError):
                client.answer()
        assert server.ran == number
    proxy.heal()
    assert call(proxy).startswith("ok")


def test_a_fault_also_strikes_connections_that_are_open(server, proxy):
    with Client(proxy) as client:
        until(lambda: proxy.connections == 1, "it is open")
        proxy.drop_response()
        client.send()
        until(lambda: server.ran == 1, "the request ran")
        assert client.hears_nothing()


def test_the_first_exchanges_can_be_left_alone():
    """A server that answers each line: the login passes, what comes after it is lost."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        FaultProxy(at(listener)) as proxy,
    ):

        def serve():
            with listener.accept()[0] as taken:
                while data := taken.recv(100):
                    taken.sendall(data.upper())

        thread = threading.Thread(target=serve)
        thread.start()
        proxy.drop_response(after=2)
        with Client(proxy) as client:
            for word in ("user", "password"):
                client.socket.sendall(word.encode())
                assert client.answer() == word.upper()
            client.socket.sendall(b"question")
            assert client.hears_nothing()
        thread.join(LONG)


def test_a_throttle_limits_each_direction(proxy):
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        FaultProxy(at(listener)) as narrow,
    ):
        narrow.throttle(50_000)
        with Client(narrow) as client, listener.accept()[0] as taken, taken.makefile("rb") as stream:
            began = time.monotonic()
            client.socket.sendall(b"x" * 25_000)
            assert len(stream.read(25_000)) == 25_000
            assert time.monotonic() - began > 0.3
            # Faster from now on, for what is under way as well.
            client.socket.sendall(b"x" * 500_000)
            narrow.heal()
            assert len(stream.read(500_000)) == 500_000


def test_an_upstream_that_is_not_there_resets():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with FaultProxy(f"127.0.0.1:{port}") as proxy:
        with pytest.raises(ConnectionResetError):
            call(proxy)
        # It needn't be there from the beginning.
        with socket.create_server(("127.0.0.1", port)) as listener, Client(proxy):
            listener.accept()[0].close()


def test_ipv6_on_both_sides():
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        port = listener.getsockname()[1]
        with FaultProxy(f"[::1]:{port}", host="::1") as proxy, Client(proxy):
            assert proxy.address == f"[::1]:{proxy.port}"
            listener.accept()[0].close()


@pytest.mark.parametrize(
    "upstream", ["", "8080", "host", "host:", "host:http", "host:0", "host:99999", ":80", "host:\u0662\u0663"]
)
def test_what_is_no_address_is_refused(upstream):
    with pytest.raises(ValueError, match='give "host:port"'):
        FaultProxy(upstream)


def test_what_is_no_value_is_refused(proxy):
    for wrong in (-1, float("nan"), 1e9):
        with pytest.raises(ValueError, match="seconds"):
            proxy.delay(wrong)
    for wrong in (0, -5, float("nan")):
        with pytest.raises(ValueError, match="bytes_per_second"):
            proxy.throttle(wrong)
    with pytest.raises(ValueError, match="times"):
        proxy.drop_response(times=0)
    with pytest.raises(ValueError, match="after"):
        proxy.reset_after_send(after=-1)
    assert "no fault" in repr(proxy)


def test_a_closed_proxy_says_so_and_leaves_nothing(server):
    with nothing_left_behind():
        for _ in range(20):
            with FaultProxy(server) as proxy, Client(proxy):
                proxy.black_hole()
        proxy.close()
        with pytest.raises(ValueError, match="closed"):
            proxy.heal()
        with pytest.raises(ConnectionRefusedError):
            Client(proxy)


def test_many_clients_at_once_while_faults_come_and_go(proxy):
    """Nothing is mixed up and nothing hangs: each client hears its whole answer, a reset, or a refusal."""
    heard: list[str] = []

    def client():
        for _ in range(30):
            try:
                heard.append(call(proxy))
            except OSError as error:
                heard.append(type(error).__name__)

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(40):
        for fault in (proxy.refuse, proxy.heal, proxy.black_hole, proxy.heal, proxy.reset_after_send, proxy.heal):
            fault()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert len(heard) == 240
    assert {line.split()[0] if line else "" for line in heard} <= {
        "ok",
        "",
        "ConnectionResetError",
        "ConnectionRefusedError",
        "BrokenPipeError",
    }
    assert call(proxy).startswith("ok"), "and in the end it is as if nothing had been"
