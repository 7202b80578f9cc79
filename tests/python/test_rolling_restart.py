"""Four servers behind one name, restarted one by one with new addresses: the flaw that this project began with.

Nodes called by an HA context, and HTTP servers called by httpx through a `Balancer`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import httpx
import pytest

from hanaming import Balancer, HAContext
from hanaming.testing import DnsZone
from moving_servers import Load, Servers, WebServers, load
from waiting import until

NAME = "orders.test"
TTL = 1
"""Seconds; the zone's."""


@contextmanager
def lookups(zone: DnsZone, port: int, mode: Any) -> Iterator[Load]:
    provider = f"hn://{NAME}:{port}"
    with (
        HAContext(provider, dns_servers=[zone.address], follow_views=False, dns_refresh=mode) as ctx,
        load(ctx) as calls,
    ):
        yield calls


@contextmanager
def requests(zone: DnsZone, port: int, mode: Any) -> Iterator[Load]:
    with (
        Balancer(f"dns://{NAME}:{port}", dns_servers=[zone.address], dns_refresh=mode) as balancer,
        httpx.Client(timeout=5.0, trust_env=False) as client,
    ):

        def get() -> str:
            for attempt in balancer.attempts(idempotent=True):
                with attempt as target:
                    answered = client.get(f"http://{target}/").text
            return answered

        with load(get) as calls:
            yield calls


Calls = Callable[[DnsZone, int, Any], AbstractContextManager[Load]]
NODES = pytest.param(Servers, lookups, id="nodes-HAContext")
WEB = pytest.param(WebServers, requests, id="http-Balancer")


class Restarts:
    """Four servers under load, to be restarted."""

    def __init__(
        self, stack: ExitStack, zone: DnsZone, kind: Callable[[ExitStack], Any], calls: Calls, mode: Any
    ) -> None:
        self.zone = zone
        self.servers = kind(stack)
        self.hosts: list[str] = self.servers.start(2, 3, 4, 5)
        zone.set(NAME, self.hosts)
        self.calls = stack.enter_context(calls(zone, self.servers.port, mode))
        until(lambda: len(self.calls.since(0)) == 4, "all are asked")

    def restart(self, nth: int) -> float:
        """The server stops, and comes back at an address of its own. Gives when."""
        self.servers.stop(self.hosts[nth])
        self.hosts[nth] = self.servers.start(12 + nth)[0]
        self.zone.set(NAME, self.hosts)
        return time.monotonic()

    def next_calls(self, count: int) -> dict[str, int]:
        """Who answers so many calls from now on."""
        began = time.monotonic()
        until(lambda: sum(self.calls.since(began).values()) >= count, f"{count} calls")
        return dict(self.calls.since(began))


@pytest.mark.parametrize(
    ("kind", "calls", "mode"),
    [
        pytest.param(*kind.values, mode, id=f"{kind.id}-{mode}")
        for kind, modes in ((NODES, ("ttl", "always", 1.0)), (WEB, ("ttl", "always")))
        for mode in modes
    ],
)
def test_the_load_is_even_again(zone: DnsZone, kind: Any, calls: Calls, mode: Any) -> None:
    with ExitStack() as stack:
        four = Restarts(stack, zone, kind, calls, mode)
        for nth in range(4):
            back = four.restart(nth)
            until(lambda: four.hosts[nth] in four.calls.since(back), "the new one is asked")  # noqa: B023
        shares = four.next_calls(400)
        assert set(shares) == set(four.hosts)
        assert max(shares.values()) <= 1.5 * min(shares.values()), shares
        assert not four.calls.failures, four.calls.failures[:1]


@pytest.mark.parametrize(("kind", "calls"), [NODES, WEB])
def test_the_old_way_ends_with_all_load_on_one_server(zone: DnsZone, kind: Any, calls: Calls) -> None:
    with ExitStack() as stack:
        four = Restarts(stack, zone, kind, calls, "on_empty")
        for nth in range(3):
            back = four.restart(nth)
            until(lambda: time.monotonic() - back > TTL + 0.5 and len(four.calls.since(back)), "the load goes on")  # noqa: B023
        assert set(four.next_calls(100)) == {four.hosts[3]}, "three servers run, and nobody calls them"
        assert len(zone.asked()) == 1
        # Only when that one is gone, too, is the name resolved again.
        four.servers.stop(four.hosts[3])
        gone = time.monotonic()
        until(lambda: set(four.calls.since(gone)) == set(four.hosts[:3]), "the others are found")
        assert not four.calls.failures, four.calls.failures[:1]
