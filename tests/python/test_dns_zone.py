"""A zone's name server, as a client of no library sees it: each record and each failure, over UDP and TCP."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator

import pytest

from hanaming.testing import DnsZone
from left_behind import nothing_left_behind

A, CNAME, AAAA, SRV, TXT = 1, 5, 28, 33, 16


@pytest.fixture
def zone() -> Iterator[DnsZone]:
    with DnsZone() as zone:
        yield zone


def question(name, kind):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return b"\x12\x34" + struct.pack("!HHHHH", 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)


def over_udp(zone, message, wait=20.0):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(wait)
        client.sendto(message, (zone.host, zone.port))
        return client.recv(65535)


def over_tcp(zone, message):
    with socket.create_connection((zone.host, zone.port), timeout=20) as client, client.makefile("rb") as stream:
        # In two pieces, as a stream may bring it.
        client.sendall(struct.pack("!H", len(message)) + message[:5])
        client.sendall(message[5:])
        (length,) = struct.unpack("!H", stream.read(2))
        return stream.read(length)


def read(answer):
    """Its code, whether it was cut, and its records: kind, time to live, data."""
    assert answer[:2] == b"\x12\x34"
    flags, questions, count = struct.unpack_from("!HHH", answer, 2)
    assert questions == 1
    at, records = answer.index(0, 12) + 5, []
    for _ in range(count):
        at = answer.index(0, at) + 1
        kind, _, ttl, length = struct.unpack_from("!HHIH", answer, at)
        at += 10 + length
        records.append((kind, ttl, answer[at - length : at]))
    assert at == len(answer)
    return flags & 0xF, bool(flags & 0x0200), records


def ask(zone, name, kind=A, over=over_udp):
    return read(over(zone, question(name, kind)))


@pytest.mark.parametrize("over", [over_udp, over_tcp])
def test_addresses_of_both_families(over):
    with DnsZone({"orders.test": ["127.0.0.2", "::1", "127.0.0.3"]}, ttl=7) as zone:
        four = [(A, 7, bytes([127, 0, 0, number])) for number in (2, 3)]
        assert ask(zone, "orders.test", A, over) == (0, False, four)
        assert ask(zone, "Orders.TEST", AAAA, over) == (0, False, [(AAAA, 7, bytes(15) + b"\1")])
        assert ask(zone, "orders.test", TXT, over) == (0, False, [])
        assert ask(zone, "other.test", A, over) == (3, False, [])
        asked = [(query.name, query.kind) for query in zone.queries]
        assert asked == [("orders.test", "A"), ("orders.test", "AAAA"), ("orders.test", "16"), ("other.test", "A")]
        assert {query.transport for query in zone.queries} == {over.__name__.removeprefix("over_")}
        assert len(zone.asked("AAAA")) == 1
        assert zone.asked("AAAA", since=zone.queries[-1].at + 1) == []


def test_records_change_and_have_times_of_their_own(zone):
    zone.set("orders.test", ["127.0.0.2"], ttl=30)
    zone.set_alias("short.test", "orders.test", ttl=60)
    zone.set_services("_http._tcp.test", [(1, 2, 80, "orders.test")])
    target = b"\6orders\4test\0"
    assert ask(zone, "orders.test") == (0, False, [(A, 30, bytes([127, 0, 0, 2]))])
    assert ask(zone, "short.test") == (0, False, [(CNAME, 60, target), (A, 30, bytes([127, 0, 0, 2]))])
    assert ask(zone, "short.test", CNAME) == (0, False, [(CNAME, 60, target)])
    assert ask(zone, "_http._tcp.test", SRV) == (0, False, [(SRV, 1, struct.pack("!HHH", 1, 2, 80) + target)])
    zone.set("orders.test", [])
    assert ask(zone, "orders.test") == (0, False, [])
    zone.remove("orders.test")
    assert ask(zone, "orders.test")[0] == 3


def test_aliases_that_lead_round_are_left(zone):
    zone.set_alias("a.test", "b.test")
    zone.set_alias("b.test", "a.test")
    code, _, records = ask(zone, "a.test")
    assert code == 0
    assert {kind for kind, _, _ in records} == {CNAME}


@pytest.mark.parametrize(("how", "code"), [("servfail", 2), ("nxdomain", 3), ("refused", 5), ("empty", 0)])
def test_failures(zone, how, code):
    zone.set("orders.test", ["127.0.0.2", "::1"])
    zone.fail(how, kind="A")
    assert ask(zone, "orders.test") == (code, False, [])
    assert len(ask(zone, "orders.test", AAAA)[2]) == 1
    zone.fail(how)
    assert ask(zone, "orders.test", AAAA) == (code, False, [])
    assert how in repr(zone)
    zone.heal()
    assert len(ask(zone, "orders.test")[2]) == 1


def test_what_does_not_fit_is_asked_for_over_tcp(zone):
    zone.set("few.test", ["127.0.0.2"])
    zone.set("many.test", [f"127.0.1.{number}" for number in range(1, 201)])
    assert ask(zone, "many.test") == (0, True, [])
    assert len(ask(zone, "many.test", over=over_tcp)[2]) == 200
    zone.fail("truncated")
    assert ask(zone, "few.test") == (0, True, [])
    assert len(ask(zone, "few.test", over=over_tcp)[2]) == 1
    zone.set("all.test", [f"127.{third}.{fourth}.1" for third in range(20) for fourth in range(200)])
    assert ask(zone, "all.test", over=over_tcp) == (2, False, [])


def test_silence_is_broken_by_the_next_question_only(zone):
    zone.set("orders.test", ["127.0.0.2"])
    zone.fail("silent")
    with pytest.raises(TimeoutError):
        over_udp(zone, question("orders.test", A), wait=0.2)
    assert len(zone.queries) == 1
    zone.heal()
    assert ask(zone, "orders.test")[0] == 0


def test_a_late_answer_comes_and_holds_up_nobody_else(zone):
    zone.set("orders.test", ["127.0.0.2"])
    zone.delay(3600)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as late:
        late.sendto(question("orders.test", A), (zone.host, zone.port))
        late.settimeout(0.0)
        while not zone.queries:
            time.sleep(0.005)
        zone.delay(0.1)
        began = time.monotonic()
        for over in (over_udp, over_tcp):
            assert ask(zone, "orders.test", over=over)[0] == 0
        assert time.monotonic() - began >= 0.2
        with pytest.raises(BlockingIOError):
            late.recv(65535)


def test_what_is_no_question_is_not_answered_and_harms_nothing(zone):
    zone.set("orders.test", ["127.0.0.2"])
    for junk in (b"", b"x", os.urandom(40), question("orders.test", A)[:-3], b"\xff" * 500):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.sendto(junk, (zone.host, zone.port))
        with socket.create_connection((zone.host, zone.port)) as client:
            client.sendall(struct.pack("!H", len(junk)) + junk)
    assert ask(zone, "orders.test")[0] == 0


def test_a_service_that_is_said_not_to_be_there(zone):
    zone.set_services("_x.test", [(0, 0, 0, ".")])
    assert ask(zone, "_x.test", SRV) == (0, False, [(SRV, 1, bytes(7))])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda zone: zone.set("orders.test", "127.0.0.2"),
        lambda zone: zone.set("orders.test", ["orders"]),
        lambda zone: zone.set("or..test", []),
        lambda zone: zone.set("x" * 64, []),
        lambda zone: zone.set("a b", []),
        lambda zone: zone.set("orders.test\n", []),
        lambda zone: zone.set("orders.test", [], ttl=-1),
        lambda zone: zone.set_alias("a.test", ""),
        lambda zone: zone.set_services("a.test", [(0, 0, 65536, "b.test")]),
        lambda zone: zone.fail("angry"),
        lambda zone: zone.fail("empty", kind="TXT"),
        lambda zone: zone.delay(-1),
        lambda zone: DnsZone(ttl=-1),
    ],
)
def test_what_is_wrong_is_refused_and_changes_nothing(zone, wrong):
    with pytest.raises(ValueError):
        wrong(zone)
    assert ask(zone, "orders.test")[0] == 3


def test_nothing_is_left_behind():
    with nothing_left_behind():
        for _ in range(20):
            with DnsZone({"orders.test": ["127.0.0.2"]}) as zone, socket.create_connection((zone.host, zone.port)):
                assert ask(zone, "orders.test")[0] == 0
        zone.close()
        assert "closed" in repr(zone)
        with pytest.raises(ValueError, match="closed"):
            zone.heal()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((zone.host, zone.port))
