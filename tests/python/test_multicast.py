"""Nodes that announce themselves, and clients that find them, against an independent implementation (python-zeroconf)."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import pytest

from announcing import Neighbour
from hanaming import HAContext, Node, ServiceUnavailableError, aio
from own_network import add_interface, alone, needed
from waiting import until

pytestmark = needed()


def ports(ctx: HAContext | aio.HAContext) -> set[int]:
    """Where the context's targets are."""
    return {target.port for target in ctx.targets}


def states(ctx: HAContext) -> set[str]:
    return {target.state for target in ctx.targets}


def port(node: Node) -> int:
    return int(node.address.rpartition(":")[2])


@alone
def test_another_implementation_finds_nodes_and_hears_them_leave() -> None:
    with Neighbour() as neighbour, ExitStack() as stack:
        n1 = stack.enter_context(Node("n1", cluster="prod eu", mdns=True))
        n2 = stack.enter_context(Node("n2.example", cluster="prod eu", seeds=[n1.address], mdns=True))
        until(lambda: neighbour.found.keys() == {"n1", "n2.example"}, "both are found")
        for node in (n1, n2):
            info = neighbour.found[node.name]
            assert info.properties == {b"cluster": b"prod eu", b"node": node.name.encode()}
            assert (info.port, info.parsed_addresses()) == (port(node), ["127.0.0.1"])
        n2.quiesce()
        until(lambda: neighbour.found.keys() == {"n1"}, "it left", within=2)
        n1.close()
        until(lambda: not neighbour.found, "it was closed", within=2)


@alone
def test_a_client_finds_a_node_that_another_implementation_announces() -> None:
    with Node("n1", cluster="prod") as node, Neighbour() as neighbour:
        node.local.bind("x", 1)
        neighbour.announce("some node", "127.0.0.1", port(node), cluster="prod", host="some-host")
        with HAContext("hn+mdns://prod") as ctx:
            assert ctx.lookup("x") == 1
            (target,) = ctx.targets
            assert (str(target), target.origin, target.state) == (node.address, "mdns", "good")
            counted = ctx.metrics
            assert (counted.refreshes, counted.failed_refreshes, counted.joined) == (1, 0, 1)
        asyncio.run(_looks_up_x("hn+mdns://prod?interface=lo"))


async def _looks_up_x(provider: str) -> None:
    async with aio.HAContext(provider) as ctx:
        assert await ctx.lookup("x") == 1
        assert {target.origin for target in ctx.targets} == {"mdns"}


@alone
def test_nodes_come_and_go_in_a_running_client() -> None:
    with ExitStack() as stack:
        n1 = stack.enter_context(Node("n1", mdns=True))
        ctx = stack.enter_context(HAContext("hn+mdns://default", follow_views=False))
        assert not ctx.list_names()
        assert ports(ctx) == {port(n1)}
        n2 = stack.enter_context(Node("n2", seeds=[n1.address], mdns=True))
        until(lambda: ports(ctx) == {port(n1), port(n2)}, "the new node is a target")
        n1.quiesce()
        until(lambda: ports(ctx) == {port(n2)}, "who left is no target", within=2)
        n3 = stack.enter_context(Node("n3", seeds=[n2.address], mdns=True))
        until(lambda: ports(ctx) == {port(n2), port(n3)}, "the new node is a target")
        n2.close()
        until(lambda: ports(ctx) == {port(n3)}, "who was closed is no target", within=2)
        assert not ctx.list_names()
        # The last one that is known stays, and is found again where it comes back.
        n3.close()
        until(lambda: ctx.metrics.failed_refreshes > 0, "nobody is left")
        assert ports(ctx) == {port(n3)}
        n4 = stack.enter_context(Node("n4", mdns=True))
        until(lambda: ports(ctx) == {port(n4)}, "the next one takes its place")
        assert not ctx.list_names()


@alone
def test_two_clusters_on_one_network_stay_apart() -> None:
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(Node("n1", cluster=cluster, mdns=True)) for cluster in ("blue", "green", "Blue", "blu")
        ]
        for node in nodes:
            node.local.bind("whose", node.view.members[0].address)
        with HAContext("hn+mdns://blue") as blue, HAContext("hn+mdns://green") as green:
            for _ in range(20):
                assert (blue.lookup("whose"), green.lookup("whose")) == (nodes[0].address, nodes[1].address)
            assert (ports(blue), ports(green)) == ({port(nodes[0])}, {port(nodes[1])})


class _Talker:
    """A server that is no node: it says this to everybody, or nothing at all."""

    def __init__(self, says: bytes) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.greeted = 0
        self._says = says
        self._open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            self.greeted += 1
            self._open.append(connection)
            if self._says:
                connection.sendall(self._says)


@alone
def test_a_forged_announcement_costs_a_refused_greeting() -> None:
    with ExitStack() as stack:
        node = stack.enter_context(Node("n1", cluster="prod", mdns=True))
        stranger = stack.enter_context(Node("n1", cluster="test"))
        neighbour = stack.enter_context(Neighbour())
        node.local.bind("whose", "ours")
        stranger.local.bind("whose", "a stranger's")
        with socket.create_server(("127.0.0.1", 0)) as closed:
            nobody = closed.getsockname()[1]
        talkers = [_Talker(b"HTTP/1.1 400 Bad Request\r\n\r\n"), _Talker(b"")]
        forged = [port(stranger), nobody, *(talker.port for talker in talkers)]
        for number, at in enumerate(forged):
            neighbour.announce(f"forged{number}", "127.0.0.1", at, cluster="prod")
        with HAContext("hn+mdns://prod") as ctx:
            assert ctx.lookup("whose") == "ours"
            until(lambda: ports(ctx) == {port(node), *forged}, "all are heard of")
            for _ in range(300):
                assert ctx.lookup("whose") == "ours"
            assert ctx.bind("written", 1).acked_by == ["n1"]
            until(lambda: states(ctx) == {"good", "failed"}, "all are greeted")
            assert [target.port for target in ctx.targets if target.state == "good"] == [port(node)]
            # What is no node is tried again now and then, and never by a call.
            assert all(talker.greeted < 20 for talker in talkers)
            began = time.monotonic()
            for _ in range(50):
                ctx.lookup("whose")
                assert [attempt.target for attempt in ctx.explain()] == [node.address]
            assert time.monotonic() - began < 5


@alone
def test_a_flood_of_announcements_is_bounded() -> None:
    from zeroconf import DNSAddress, DNSOutgoing, DNSPointer, DNSService, DNSText  # noqa: PLC0415
    from zeroconf.const import (  # noqa: PLC0415
        _CLASS_IN,
        _FLAGS_AA,
        _FLAGS_QR_RESPONSE,
        _TYPE_A,
        _TYPE_PTR,
        _TYPE_SRV,
        _TYPE_TXT,
    )

    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))

    def forge(number: int) -> None:
        name, host = f"f{number}._hanaming._tcp.local.", f"f{number}.local."
        out = DNSOutgoing(_FLAGS_QR_RESPONSE | _FLAGS_AA)
        out.add_answer_at_time(DNSPointer("_hanaming._tcp.local.", _TYPE_PTR, _CLASS_IN, 4500, name), 0)
        out.add_answer_at_time(DNSService(name, _TYPE_SRV, _CLASS_IN, 120, 0, 0, 1 + number % 60000, host), 0)
        out.add_answer_at_time(DNSText(name, _TYPE_TXT, _CLASS_IN, 4500, b"\x0ccluster=prod"), 0)
        address = ipaddress.ip_address("127.1.0.0") + number
        out.add_answer_at_time(DNSAddress(host, _TYPE_A, _CLASS_IN, 120, address.packed), 0)
        for packet in out.packets():
            sender.sendto(packet, ("224.0.0.251", 5353))

    with Node("n1", cluster="prod", mdns=True) as node, HAContext("hn+mdns://prod") as ctx:
        node.local.bind("x", 1)
        assert ctx.lookup("x") == 1
        for number in range(6000):
            forge(number)
            if number % 100 == 0:
                assert ctx.lookup("x") == 1
        until(lambda: len(ctx.targets) >= 256, "as many as are taken are known")
        assert len(ctx.targets) <= 260
        assert port(node) in ports(ctx)
        assert ctx.lookup("x") == 1


@alone
def test_a_network_without_ipv4() -> None:
    add_interface("net0", "fd00:77::1/64")
    with Neighbour("fd00:77::1") as neighbour, ExitStack() as stack:
        n1 = stack.enter_context(Node("n1", listen="[fd00:77::1]:0", mdns=True, insecure=True))
        n1.local.bind("x", 1)
        ctx = stack.enter_context(HAContext("hn+mdns://default", follow_views=False))
        assert ctx.lookup("x") == 1
        assert [(str(target), target.origin) for target in ctx.targets] == [(n1.address, "mdns")]
        until(lambda: "n1" in neighbour.found, "another implementation finds it")
        assert neighbour.found["n1"].parsed_addresses() == ["fd00:77::1"]
        n2 = stack.enter_context(Node("n2", listen="[fd00:77::1]:0", insecure=True))
        n2.local.bind("x", 1)
        announced = neighbour.announce("n2", "fd00:77::1", port(n2))
        until(lambda: ports(ctx) == {port(n1), port(n2)}, "a client finds what another implementation announces")
        neighbour.withdraw(announced)
        until(lambda: ports(ctx) == {port(n1)}, "it left", within=3)


@alone
def test_the_interface_can_be_chosen() -> None:
    for number in (0, 1):
        add_interface(f"net{number}", f"10.77.{number}.1/24")
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(
                Node("n1", listen=f"10.77.{number}.1:0", mdns=True, mdns_interface=chosen, insecure=True)
            )
            for number, chosen in enumerate(("net0", "10.77.1.1"))
        ]
        for interface, node in (("net0", nodes[0]), ("net1", nodes[1]), ("10.77.1.1", nodes[1])):
            with HAContext(f"hn+mdns://default?interface={interface}", timeout=10) as ctx:
                ctx.list_names()
                assert {str(target) for target in ctx.targets} == {node.address}
        says = "for cluster default on interface lo within 3 s"
        with HAContext("hn+mdns://default?interface=lo") as ctx, pytest.raises(ServiceUnavailableError, match=says):
            ctx.list_names()
        with HAContext("hn+mdns://default?interface=net9") as ctx:
            began = time.monotonic()
            with pytest.raises(ServiceUnavailableError, match="there is no such interface, or it's down; there are"):
                ctx.list_names()
            assert time.monotonic() - began < 3, "nothing is waited for that can't come"


@alone
def test_where_nobody_answers_the_error_says_so_in_time() -> None:
    says = "no server answered multicast for cluster nobody on every interface within 3 s"
    with HAContext("hn+mdns://nobody") as ctx:
        began = time.monotonic()
        with pytest.raises(ServiceUnavailableError, match=says) as caught:
            ctx.lookup("x")
        assert time.monotonic() - began < 5
        assert caught.value.completion.value == "NO"
        assert {(attempt.target, attempt.phase) for attempt in ctx.explain()} == {("hn+mdns://nobody", "resolve")}
        with pytest.raises(ServiceUnavailableError, match=r"hn\+mdns://nobody"):
            ctx.lookup("x", timeout=0.2)
        assert ctx.metrics.failed_refreshes >= 1
    hasty = "no answer yet by multicast on every interface"
    with HAContext("hn+mdns://nobody", timeout=0.3) as ctx, pytest.raises(ServiceUnavailableError, match=hasty):
        ctx.lookup("x")
    asyncio.run(_finds_nobody(says))


async def _finds_nobody(says: str) -> None:
    async with aio.HAContext("hn+mdns://nobody") as ctx:
        with pytest.raises(ServiceUnavailableError, match=says):
            await ctx.lookup("x")


@alone
def test_the_command_line() -> None:
    def hanaming(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-m", "hanaming", *words], stdout=subprocess.PIPE, text=True)

    serving = hanaming("serve", "--listen", "127.0.0.1:0", "--name", "n1", "--mdns", "--mdns-interface", "lo", "-q")
    assert serving.stdout is not None
    address = serving.stdout.readline().split()[-1]
    shown, _ = hanaming("status", "--provider", "hn+mdns://default", "--json").communicate(timeout=20)
    assert address in shown
    assert '"mdns_interface"' in shown
    with Neighbour() as neighbour:
        until(lambda: "n1" in neighbour.found, "it is announced")
        serving.send_signal(signal.SIGTERM)
        until(lambda: not neighbour.found, "it said goodbye", within=5)
        assert serving.wait(timeout=10) == 0


@alone
def test_a_forked_child_says_nothing_in_its_parent_s_name() -> None:
    with Neighbour() as neighbour, Node("n1", mdns=True) as node, HAContext("hn+mdns://default") as ctx:
        assert not ctx.list_names()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                node.close()
                # The child listens for itself.
                status = 0 if not ctx.list_names() and ports(ctx) == {port(node)} else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        until(lambda: "n1" in neighbour.found, "it is announced")
        assert ports(ctx) == {port(node)}
