"""What name servers say, and what becomes of it: records of all kinds, and answers that are none."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from hanaming import ServiceUnavailableError
from hanaming.testing import DnsZone
from twins import TWINS, Sync
from waiting import until


@pytest.fixture(params=TWINS)
def twin(request: pytest.FixtureRequest) -> Iterator[Sync]:
    with TWINS[request.param]() as twin:
        yield twin


def known(twin: Sync, source: str, zone: DnsZone, **options: Any) -> list[tuple[str, str, str]]:
    """All targets once one could be called: hostname, address, origin."""
    balancer = twin.make(source, **({"dns_servers": [zone.address]} | options))
    twin.call(balancer, str)
    found = [(target.hostname, str(target), target.origin) for target in balancer.targets]
    twin.close(balancer)
    return sorted(found)


def test_all_addresses_of_both_families(twin: Sync, zone: DnsZone) -> None:
    zone.set("orders.test", ["127.0.0.2", "127.0.0.3", "::1"])
    assert known(twin, "dns://orders.test:8080", zone) == [
        ("orders.test", "127.0.0.2:8080", "dns"),
        ("orders.test", "127.0.0.3:8080", "dns"),
        ("orders.test", "[::1]:8080", "dns"),
    ]
    zone.set("six.test", ["::1"])
    assert known(twin, "dns://six.test:8080", zone) == [("six.test", "[::1]:8080", "dns")]


def test_a_chain_of_aliases(twin: Sync, zone: DnsZone) -> None:
    zone.set("h3.test", ["127.0.0.2"])
    zone.set_alias("h2.test", "h3.test")
    zone.set_alias("h1.test", "h2.test")
    assert known(twin, "dns://h1.test:80", zone) == [("h1.test", "127.0.0.2:80", "dns")]


def test_a_truncated_answer_is_asked_for_over_tcp(twin: Sync, zone: DnsZone) -> None:
    zone.set("many.test", [f"127.0.1.{number}" for number in range(1, 201)])
    zone.fail("truncated")
    assert len(known(twin, "dns://many.test:80", zone)) == 200
    assert {query.transport for query in zone.queries} == {"udp", "tcp"}


def test_srv_records_by_priority_and_weight(twin: Sync, zone: DnsZone) -> None:
    zone.set("a.test", ["127.0.0.2"])
    zone.set("b.test", ["127.0.0.3", "127.0.0.4"])
    zone.set("spare.test", ["127.0.0.5"])
    servers = [(10, 3, 8001, "a.test"), (10, 1, 8002, "b.test"), (20, 0, 8003, "spare.test")]
    zone.set_services("_http._tcp.orders.test", servers)
    balancer = twin.make("srv://_http._tcp.orders.test", dns_servers=[zone.address])
    until(lambda: [twin.call(balancer, str), len(balancer.targets)][1] == 4, "all are known")
    shares = Counter(twin.call(balancer, str) for _ in range(800))
    # b.test's part is that of both its addresses.
    assert shares == {"127.0.0.2:8001": 600, "127.0.0.3:8002": 100, "127.0.0.4:8002": 100}
    assert [target.origin for target in balancer.targets] == ["srv"] * 4
    assert {target.hostname for target in balancer.targets} == {"a.test", "b.test", "spare.test"}

    # Those of the first priority refuse: the spare one is called.
    def called(target: Any) -> str:
        if target.port != 8003:
            raise ConnectionRefusedError(111, "Connection refused")
        return str(target)

    assert twin.call(balancer, called) == "127.0.0.5:8003"
    twin.close(balancer)


@pytest.mark.parametrize(
    ("mood", "says"),
    [
        ("nxdomain", "no such name (NXDOMAIN)"),
        ("empty", "it has no such record"),
        ("servfail", "the name server failed (Server Failure)"),
        ("refused", "the name server failed (Query Refused)"),
    ],
)
@pytest.mark.parametrize(
    "asked",
    [
        ("dns://orders.test:80", "the addresses (A, AAAA) of orders.test"),
        ("srv://_x.orders.test", "the servers (SRV) of _x.orders.test"),
    ],
)
def test_an_answer_that_is_none_is_told_with_the_resolver_and_the_question(
    twin: Sync, zone: DnsZone, mood: str, says: str, asked: tuple[str, str]
) -> None:
    zone.fail(mood)
    source, question = asked
    balancer = twin.make(source, dns_servers=[zone.address])
    began = time.monotonic()
    with pytest.raises(ServiceUnavailableError) as caught:
        twin.call(balancer, str)
    assert f"{says}; asked {zone.address} for {question}" in str(caught.value)
    assert str(caught.value).startswith("no server is known. ")
    assert caught.value.safe_to_retry
    assert {attempt.phase for attempt in caught.value.attempts} == {"resolve"}
    assert time.monotonic() - began < 2
    twin.close(balancer)


def test_an_alias_that_leads_round_and_a_service_that_is_not_there(twin: Sync, zone: DnsZone) -> None:
    zone.set_alias("a.test", "b.test")
    zone.set_alias("b.test", "c.test")
    zone.set_alias("c.test", "b.test")
    zone.set_alias("empty.test", "nothing.test")
    zone.set("nothing.test", [])
    zone.set_services("_none.test", [(0, 0, 0, ".")])
    zone.set_services("_empty.test", [])
    for source, says in {
        "dns://a.test:1": "it is an alias that leads round in a circle: a.test → b.test → c.test → b.test; asked",
        "dns://empty.test:1": "it has no such record; asked",
        "srv://_none.test": 'it says that there is no such service here (the target of its SRV record is "."); asked',
        "srv://_empty.test": "it has no such record; asked",
    }.items():
        balancer = twin.make(source, dns_servers=[zone.address])
        with pytest.raises(ServiceUnavailableError, match=re.escape(says)):
            twin.call(balancer, str)
        twin.close(balancer)


def test_a_silent_name_server_takes_no_longer_than_the_call_has(twin: Sync, zone: DnsZone) -> None:
    zone.fail("silent")
    balancer = twin.make("dns://orders.test:80", dns_servers=[zone.address], timeout=0.5)
    began = time.monotonic()
    with pytest.raises(ServiceUnavailableError) as caught:
        twin.call(balancer, str)
    assert 0.45 < time.monotonic() - began < 1.5
    assert f"the addresses (A, AAAA) of orders.test: no answer yet from {zone.address}" in str(caught.value)
    twin.close(balancer)


def test_of_several_name_servers_one_that_answers_is_enough(twin: Sync, zone: DnsZone) -> None:
    zone.set("orders.test", ["127.0.0.2"])
    with ExitStack() as stack:
        for mood in ("silent", "servfail"):
            other = stack.enter_context(DnsZone())
            other.fail(mood)
            servers = [other.address, zone.address]
            assert known(twin, "dns://orders.test:80", zone, dns_servers=servers) == [
                ("orders.test", "127.0.0.2:80", "dns")
            ]


@pytest.mark.parametrize("mood", ["silent", "servfail"])
@pytest.mark.parametrize("kind", ["A", "AAAA"])
def test_one_family_that_is_not_answered_is_not_waited_for(twin: Sync, zone: DnsZone, kind: str, mood: str) -> None:
    zone.set("orders.test", ["127.0.0.2", "::1"])
    zone.fail(mood, kind=kind)
    began = time.monotonic()
    answered = "[::1]:80" if kind == "A" else "127.0.0.2:80"
    balancer = twin.make("dns://orders.test:80", dns_servers=[zone.address])
    assert twin.call(balancer, str) == answered
    assert time.monotonic() - began < 1
    # It is asked for again, and found.
    zone.heal()
    until(lambda: [twin.call(balancer, str), len(balancer.targets)][1] == 2, "both families are known")
    twin.close(balancer)


def test_what_srv_records_list_twice_or_at_no_port(twin: Sync, zone: DnsZone) -> None:
    zone.set("a.test", ["127.0.0.2"])
    servers = [(20, 1, 8001, "a.test"), (10, 1, 8001, "A.test"), (10, 1, 0, "a.test"), (10, 1, 8002, "a.test")]
    zone.set_services("_http._tcp.orders.test", servers)
    balancer = twin.make("srv://_http._tcp.orders.test", dns_servers=[zone.address])
    until(lambda: [twin.call(balancer, str), len(balancer.targets)][1] == 2, "both ports are known")
    assert Counter(twin.call(balancer, str) for _ in range(40)) == {"127.0.0.2:8001": 20, "127.0.0.2:8002": 20}
    twin.close(balancer)
