"""Servers behind a name that come, go and move while calls go on: nothing is lost, and nothing is asked too often."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from itertools import pairwise

import pytest

from hanaming import Balancer, HAContext
from hanaming.testing import DnsFailure, DnsZone
from moving_servers import Servers, load
from sockets_open import connections_to
from waiting import until

NAME = "orders.test"


def test_addresses_that_come_and_go(zone: DnsZone, moving: Servers) -> None:
    a, b, c = moving.start(2, 3, 4)
    zone.set(NAME, [a, b])
    with (
        HAContext(f"hn://{NAME}:{moving.port}", dns_servers=[zone.address], follow_views=False) as ctx,
        load(ctx) as calls,
    ):
        until(lambda: {a, b} <= set(calls.since(0)), "both are asked")
        stood = connections_to(a, moving.port)
        assert stood
        came = time.monotonic()
        zone.set(NAME, [a, b, c])
        until(lambda: c in calls.since(came), "the new one is asked")
        assert next(at for at, host in calls.answers if host == c) - came < 2.2
        gone = time.monotonic()
        zone.set(NAME, [a, c])
        until(lambda: [target.host for target in ctx.targets] == [a, c], "the old one is drained", within=2.2)
        drained = time.monotonic()
        assert drained - gone < 2.2
        until(lambda: sum(calls.since(drained).values()) > 100, "calls go on")
        assert set(calls.since(drained + 0.05)) == {a, c}
        assert connections_to(a, moving.port) == stood, "what is unchanged is untouched"
        assert not connections_to(b, moving.port)
        assert not calls.failures
        counted = ctx.metrics
        assert (counted.joined, counted.drained, counted.failed_refreshes, counted.moves) == (3, 1, 0, 0)
        assert counted.refreshes >= 3
        assert [(target.hostname, target.origin, target.state) for target in ctx.targets] == [(NAME, "dns", "good")] * 2


@pytest.mark.parametrize("mood", ["servfail", "nxdomain", "empty", "silent", "refused"])
def test_nothing_is_lost_without_a_name_server(zone: DnsZone, moving: Servers, mood: DnsFailure) -> None:
    """No server, and no call though one is restarted; the name server is left in peace, and believed again. For as short as a
    test may take; the campaigns have the same for the minute that is promised."""
    seconds = 60 if os.environ.get("HANAMING_CAMPAIGNS") == "long" else 2
    hosts = moving.start(2, 3)
    zone.set(NAME, hosts)
    with (
        HAContext(f"hn://{NAME}:{moving.port}", dns_servers=[zone.address], follow_views=False) as ctx,
        load(ctx) as calls,
    ):
        until(lambda: len(calls.since(0)) == 2, "both are asked")
        zone.fail(mood)
        began = time.monotonic()
        moving.stop(hosts[0])
        until(lambda: set(calls.since(time.monotonic() - 0.2)) == {hosts[1]}, "the other one has all")
        moving.start(2)
        until(lambda: hosts[0] in calls.since(time.monotonic() - 0.2), "it is taken back", within=20)
        until(lambda: time.monotonic() - began > seconds, "the outage is over", within=seconds + 10)
        until(lambda: ctx.metrics.failed_refreshes >= 2, "it was asked again and again", within=20)
        assert not calls.failures
        assert sorted(target.host for target in ctx.targets) == hosts
        assert ctx.metrics.drained == 0
        lasted = time.monotonic() - began
        for kind in ("A", "AAAA"):
            asked = zone.asked(kind, since=began)  # type: ignore[arg-type]
            # A datagram that is not answered is sent again, by the same resolution.
            if mood != "silent":
                assert all(later - earlier > 0.75 for earlier, later in pairwise(asked)), asked
            assert len(asked) <= 3 * (lasted + 1), asked
        zone.heal()
        (fresh,) = moving.start(4)
        zone.set(NAME, [fresh])
        until(lambda: [target.host for target in ctx.targets] == [fresh], "it is believed again", within=20)
        assert not calls.failures


def test_a_flapping_name_server(zone: DnsZone, moving: Servers) -> None:
    a, b = moving.start(2, 3)
    zone.set(NAME, [a])
    with (
        HAContext(f"hn://{NAME}:{moving.port}", dns_servers=[zone.address], follow_views=False) as ctx,
        load(ctx) as calls,
    ):
        until(lambda: calls.answers, "it is asked")
        for turn in range(6):
            before = len(zone.asked())
            zone.heal()
            if turn % 3:
                zone.fail("servfail" if turn % 3 == 1 else "empty")
            zone.set(NAME, [a, b] if turn % 2 else [a])
            until(lambda before=before: len(zone.asked()) > before, "it is asked again", within=15)  # type: ignore[misc]
            assert a in [target.host for target in ctx.targets]
        assert not calls.failures


def test_all_addresses_replaced_at_once_while_the_old_ones_die(zone: DnsZone, moving: Servers) -> None:
    old = moving.start(2, 3)
    new = moving.start(4, 5)
    zone.set(NAME, old, ttl=30)
    with (
        HAContext(f"hn://{NAME}:{moving.port}", dns_servers=[zone.address], follow_views=False) as ctx,
        load(ctx) as calls,
    ):
        until(lambda: set(calls.since(0)) == set(old), "the old ones are asked")
        for _ in range(2):
            zone.set(NAME, new, ttl=30)
            for host in old:
                moving.stop(host)
            replaced = time.monotonic()
            until(lambda: set(calls.since(replaced)) >= set(new), "the new ones are asked", within=5)  # noqa: B023
            old, new = new, moving.start(*(int(host.rpartition(".")[2]) for host in old))
        assert not calls.failures, calls.failures[:1]


def test_a_call_that_knows_a_server_never_waits_for_dns(zone: DnsZone, moving: Servers) -> None:
    zone.set(NAME, moving.start(2))
    with HAContext(f"hn://{NAME}:{moving.port}", dns_servers=[zone.address], follow_views=False, timeout=1.0) as ctx:
        ctx.lookup("where")
        zone.delay(5.0)
        until(lambda: len(zone.asked()) > 1, "a refresh is under way")
        for _ in range(50):
            began = time.monotonic()
            ctx.lookup("where")
            assert time.monotonic() - began < 0.5


def test_contexts_of_a_process_share_what_was_asked(zone: DnsZone, moving: Servers) -> None:
    zone.set(NAME, moving.start(2))
    with ExitStack() as stack:
        began = time.monotonic()
        options = {"dns_servers": [zone.address], "follow_views": False}
        several = [stack.enter_context(HAContext(f"hn://{NAME}:{moving.port}", **options)) for _ in range(20)]  # type: ignore[arg-type]
        assert {ctx.lookup("where") for ctx in several} == {"127.0.0.2"}
        until(lambda: len(zone.asked()) >= 3, "it is asked again")
        asked = zone.asked()
        assert all(later - earlier > 0.8 for earlier, later in pairwise(asked)), (began, asked)


def test_a_name_is_asked_for_once_a_second_however_it_is_spelt_and_whatever_port_is_meant(zone: DnsZone) -> None:
    zone.set(NAME, ["127.0.0.2"])
    with ExitStack() as stack:
        sources = [f"dns://{NAME}:{port}" for port in range(1, 6)]
        sources += [f"dns://{NAME}.:6", f"dns://{NAME.upper()}:7", f"dns://{NAME.title()}.:8"]
        several = [stack.enter_context(Balancer(source, dns_servers=[zone.address])) for source in sources]
        assert [balancer.call(str) for balancer in several] == [f"127.0.0.2:{port}" for port in range(1, 9)]
        zone.set(NAME, ["127.0.0.3"])
        for port, balancer in enumerate(several, 1):
            until(lambda b=balancer, p=port: b.call(str) == f"127.0.0.3:{p}", "each hears of the change")  # type: ignore[misc]
        zone.fail("servfail")
        failing = time.monotonic()
        until(lambda: all(balancer.metrics.failed_refreshes for balancer in several), "each has asked")
        for kind in ("A", "AAAA"):
            asked = zone.asked(kind)
            assert all(later - earlier > 0.8 for earlier, later in pairwise(asked)), (failing, kind, asked)


def test_half_an_answer_is_counted_and_asked_for_again_with_backoff(zone: DnsZone) -> None:
    zone.set(NAME, ["127.0.0.2"], ttl=30)
    zone.fail("servfail", kind="AAAA")
    with Balancer(f"dns://{NAME}:80", dns_servers=[zone.address]) as balancer:
        assert balancer.call(str) == "127.0.0.2:80"
        until(lambda: balancer.metrics.failed_refreshes >= 3, "it is asked again", within=20)
        first, second, third = zone.asked("AAAA")[:3]
        assert second - first > 0.75
        assert third - second > 1.5, "the second time later than the first"
        assert balancer.metrics.drained == 0


def test_the_old_mode_keeps_one_list_for_a_whole_process(zone: DnsZone, moving: Servers) -> None:
    first, second = moving.start(2, 3)
    provider, options = f"hn://{NAME}:{moving.port}", {"dns_servers": [zone.address], "follow_views": False}
    zone.set(NAME, [first])
    with HAContext(provider, dns_refresh="on_empty", **options) as old:  # type: ignore[arg-type]
        assert old.lookup("where") == first
        zone.set(NAME, [second])
        until(lambda: time.monotonic() - zone.asked()[-1] > 1, "it may be asked again")
        with HAContext(provider, dns_refresh="on_empty", **options) as another:  # type: ignore[arg-type]
            assert another.lookup("where") == first
        assert len(zone.asked()) == 1
        with HAContext(provider, **options) as ours:  # type: ignore[arg-type]
            assert ours.lookup("where") == second
        moving.stop(first)
        assert old.lookup("where") == second, "nobody is left, so it is asked again"
