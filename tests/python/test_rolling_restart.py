"""Four servers behind one name, restarted one by one with new addresses: the flaw that this project began with."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from hanaming import HAContext
from hanaming.testing import DnsZone
from moving_servers import Load, Servers, load
from waiting import until

NAME = "orders.test"


@pytest.fixture
def zone() -> Iterator[DnsZone]:
    with DnsZone() as server:
        yield server


@pytest.fixture
def servers() -> Iterator[Servers]:
    with ExitStack() as stack:
        yield Servers(stack)


def restart(zone: DnsZone, servers: Servers, calls: Load, hosts: list[str], nth: int) -> None:
    """The server stops, and comes back at an address of its own; the load goes on for longer than a time to live."""
    servers.stop(hosts[nth])
    hosts[nth] = servers.start(12 + nth)[0]
    zone.set(NAME, hosts)
    back = time.monotonic()
    until(lambda: time.monotonic() - back > 2.3 and sum(calls.since(back).values()) > 50, "the load goes on")


@pytest.mark.parametrize("mode", ["ttl", "always", 1.0])
def test_the_load_is_even_again(zone: DnsZone, servers: Servers, mode: Any) -> None:
    hosts = servers.start(2, 3, 4, 5)
    zone.set(NAME, hosts)
    provider = f"hn://{NAME}:{servers.port}"
    with (
        HAContext(provider, dns_servers=[zone.address], follow_views=False, dns_refresh=mode) as ctx,
        load(ctx) as calls,
    ):
        until(lambda: len(calls.since(0)) == 4, "all are asked")
        for nth in range(4):
            restart(zone, servers, calls, hosts, nth)
        after = time.monotonic()
        until(lambda: sum(calls.since(after).values()) >= 400, "many calls")
        shares = calls.since(after)
        assert set(shares) == set(hosts)
        assert max(shares.values()) <= 1.5 * min(shares.values()), shares
        assert not calls.failures, calls.failures[:1]


def test_the_old_way_ends_with_all_load_on_one_server(zone: DnsZone, servers: Servers) -> None:
    hosts = servers.start(2, 3, 4, 5)
    zone.set(NAME, hosts)
    provider = f"hn://{NAME}:{servers.port}"
    with (
        HAContext(provider, dns_servers=[zone.address], follow_views=False, dns_refresh="on_empty") as ctx,
        load(ctx) as calls,
    ):
        until(lambda: len(calls.since(0)) == 4, "all are asked")
        for nth in range(3):
            restart(zone, servers, calls, hosts, nth)
        after = time.monotonic()
        until(lambda: sum(calls.since(after).values()) >= 400, "many calls")
        assert set(calls.since(after)) == {hosts[3]}, "three servers run, and nobody calls them"
        assert len(zone.asked()) == 1
        # Only when that one is gone, too, is the name resolved again.
        servers.stop(hosts[3])
        gone = time.monotonic()
        until(lambda: set(calls.since(gone)) == set(hosts[:3]), "the others are found")
        assert not calls.failures, calls.failures[:1]
