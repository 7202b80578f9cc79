"""HA contexts over names in DNS, of both faces: one family alone, two of which one is dead, and a list that changes."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from faces import FACES, Sync, face
from hanaming import Node
from hanaming.testing import DnsZone
from moving_servers import free_port
from waiting import until

NAME = "orders.test"


@pytest.fixture(params=FACES)
def twin(request: pytest.FixtureRequest) -> Iterator[Sync]:
    with face(request.param) as twin:
        yield twin


@pytest.fixture
def zone() -> Iterator[DnsZone]:
    with DnsZone() as server:
        yield server


def node_at(stack: ExitStack, host: str, port: int) -> Node:
    node: Node = stack.enter_context(Node(f"n{port}", listen=f"[{host}]:{port}" if ":" in host else f"{host}:{port}"))
    node.local.bind("where", host)
    return node


def opened(twin: Any, stack: ExitStack, zone: DnsZone, port: int, **options: Any) -> Any:
    ctx = twin.module.HAContext(f"hn://{NAME}:{port}", dns_servers=[zone.address], follow_views=False, **options)
    stack.callback(twin.close, ctx)
    return ctx


def hosts(ctx: Any) -> list[str]:
    return sorted(target.host for target in ctx.targets)


def test_ipv6_alone(twin: Any, zone: DnsZone) -> None:
    zone.set(NAME, ["::1"])
    with ExitStack() as stack:
        port = free_port()
        node_at(stack, "::1", port)
        ctx = opened(twin, stack, zone, port)
        assert twin.do(ctx.lookup, "where") == "::1"
        assert [(str(target), target.origin) for target in ctx.targets] == [(f"[::1]:{port}", "dns")]


@pytest.mark.parametrize("dead", ["::1", "127.0.0.2"])
@pytest.mark.parametrize("how", ["refuses", "is silent"])
def test_a_dead_family_is_not_waited_for(twin: Any, zone: DnsZone, dead: str, how: str) -> None:
    zone.set(NAME, ["::1", "127.0.0.2"])
    alive = "127.0.0.2" if dead == "::1" else "::1"
    with ExitStack() as stack:
        port = free_port()
        node_at(stack, alive, port)
        if how == "is silent":
            # It takes connections, and nobody ever reads from them.
            family = socket.AF_INET6 if ":" in dead else socket.AF_INET
            stack.enter_context(socket.create_server((dead, port), family=family))
        ctx = opened(twin, stack, zone, port, timeout=2.0)
        began = time.monotonic()
        for _ in range(50):
            assert twin.do(ctx.lookup, "where") == alive
        assert time.monotonic() - began < 2.0, "one attempt of a call or two, and no more"
        assert {target.host: target.state for target in ctx.targets} == {alive: "good", dead: "failed"}


def test_addresses_that_come_and_go(twin: Any, zone: DnsZone) -> None:
    with ExitStack() as stack:
        port = free_port()
        for host in ("127.0.0.2", "127.0.0.3", "::1"):
            node_at(stack, host, port)
        zone.set(NAME, ["127.0.0.2"])
        ctx = opened(twin, stack, zone, port)
        assert twin.do(ctx.lookup, "where") == "127.0.0.2"
        zone.set(NAME, ["127.0.0.3", "::1"])

        def are_asked() -> bool:
            return {twin.do(ctx.lookup, "where") for _ in range(4)} == {"127.0.0.3", "::1"}

        until(are_asked, "the new ones are asked, and the old one is not")
        assert hosts(ctx) == ["127.0.0.3", "::1"]
