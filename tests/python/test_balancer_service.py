"""`ctx.service()`: the instances of a registered service as a balancer's targets, while nodes come and go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from hanaming import Balancer, HAContext, InvalidNameError, Node, ServiceUnavailableError, _native, aio
from hanaming.testing import DnsZone
from line_servers import LineServer, ask
from twins import TWINS, Sync
from waiting import until


@pytest.fixture(params=TWINS)
def twin(request: pytest.FixtureRequest) -> Iterator[Sync]:
    with TWINS[request.param]() as opened:
        yield opened


@pytest.fixture
def servers() -> Iterator[list[LineServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(LineServer()) for _ in range(3)]


def context(twin: Sync, node: Node) -> Any:
    return (HAContext if type(twin) is Sync else aio.HAContext)(node.url)


def known(balancer: Any) -> set[str]:
    return {str(target) for target in balancer.targets if target.state != "draining"}


def test_the_instances_are_called(twin: Sync, cluster: Callable[[int], list[Node]], servers: list[LineServer]) -> None:
    nodes = cluster(2)
    nodes[0].register("eu/orders", f"http://{servers[0].address}/v1")
    nodes[1].register("eu/orders", {"host": "127.0.0.1", "port": servers[1].port}, weight=3)
    source = context(twin, nodes[0]).service("eu/orders")
    assert repr(source) == f"<Service 'eu/orders' over {nodes[0].address}>"
    balancer = twin.make(source)
    assert repr(balancer) == "<Balancer over service 'eu/orders', round_robin>", "nothing was asked yet"
    counts = Counter(twin.call(balancer, ask) for _ in range(40))
    assert {servers[0].address, servers[1].address} == set(counts)
    assert abs(counts[servers[1].address] - 30) <= 1, "three of four"
    assert {target.origin for target in balancer.targets} == {"service"}
    assert "service 'eu/orders' (" in repr(balancer)
    twin.close(balancer)


def test_instances_come_and_go(twin: Sync, cluster: Callable[[int], list[Node]], servers: list[LineServer]) -> None:
    nodes = cluster(3)
    addresses = [server.address for server in servers]
    registrations = [nodes[at].register("orders", addresses[at]) for at in range(2)]
    balancer = twin.make(context(twin, nodes[2]).service("orders"))
    answers = [twin.call(balancer, ask) for _ in range(4)]
    assert set(answers) == set(addresses[:2])

    nodes[2].register("orders", addresses[2])
    until(lambda: known(balancer) == set(addresses), "the third one joins")
    registrations[0].close()
    until(lambda: known(balancer) == set(addresses[1:]), "the first one goes")
    before = servers[0].ran
    assert {twin.call(balancer, ask) for _ in range(6)} == set(addresses[1:])
    assert servers[0].ran == before
    nodes[1].close()
    until(lambda: known(balancer) == {addresses[2]}, "who was registered with a node goes with it")
    assert twin.call(balancer, ask) == addresses[2]
    twin.close(balancer)


def test_the_last_list_is_kept(twin: Sync, servers: list[LineServer]) -> None:
    with Node("n1") as node:
        registration = node.register("orders", servers[0].address)
        balancer = twin.make(context(twin, node).service("orders"))
        assert twin.call(balancer, ask) == servers[0].address
        registration.close()
        until(lambda: "it has no instance" in balancer._repr_html_(), "the service is gone")
        assert twin.call(balancer, ask) == servers[0].address
    until(lambda: "the source&#x27;s last answer" in balancer._repr_html_(), "its node is gone")
    assert [twin.call(balancer, ask) for _ in range(3)] == [servers[0].address] * 3
    assert known(balancer) == {servers[0].address}
    twin.close(balancer)


def test_a_closed_context_leaves_the_last_list(servers: list[LineServer], node: Node) -> None:
    node.register("orders", servers[0].address)
    with HAContext(node.url) as ctx:
        balancer = Balancer(ctx.service("orders"))
        assert balancer.call(ask) == servers[0].address
    until(lambda: "the context is closed" in balancer._repr_html_(), "it was closed")
    assert balancer.call(ask) == servers[0].address


def test_a_service_that_nobody_offers(twin: Sync, node: Node) -> None:
    balancer = twin.make(context(twin, node).service("orders"), timeout=2)
    with pytest.raises(
        ServiceUnavailableError, match=r"no server is known.*service 'orders': .*no such name"
    ) as caught:
        twin.call(balancer, ask)
    assert caught.value.attempts[0].phase == "resolve"
    node.register("orders", {"uri": "http://a"})
    until(lambda: "has a &quot;url&quot;" in balancer._repr_html_(), "what is registered names no server")
    twin.close(balancer)


def test_a_context_in_process(twin: Sync, servers: list[LineServer], node: Node) -> None:
    node.register("orders", servers[0].address)
    ctx = node.context() if type(twin) is Sync else _native.aio_context_of(node, local=False)
    assert twin.call(twin.make(ctx.service("orders")), ask) == servers[0].address


def test_a_subcontext_s_service(servers: list[LineServer], node: Node) -> None:
    node.register("eu/orders", servers[0].address)
    with HAContext(node.url) as ctx:
        source = ctx.lookup("eu").service("orders")
        assert source.name == "eu/orders"
        assert Sync().call(Sync().make(source), ask) == servers[0].address
        for name in ("", "a//b"):
            with pytest.raises(InvalidNameError, match="is no service's name"):
                ctx.service(name)


def test_names_of_instances_are_asked_of_the_context_s_name_servers(
    twin: Sync, zone: DnsZone, servers: list[LineServer], node: Node
) -> None:
    zone.set("orders.test", ["127.0.0.1"])
    node.register("orders", f"orders.test:{servers[0].port}")
    opened = (HAContext if type(twin) is Sync else aio.HAContext)(node.url, dns_servers=[zone.address])
    balancer = twin.make(opened.service("orders"))
    assert twin.call(balancer, ask) == servers[0].address
    assert zone.asked()
    twin.close(balancer)
    with DnsZone({"orders.test": ["127.0.0.2"]}) as other:
        chosen = twin.make(opened.service("orders"), dns_servers=[other.address])
        assert twin.call(chosen, str) == f"127.0.0.2:{servers[0].port}", "what is said to the balancer counts more"
        twin.close(chosen)
