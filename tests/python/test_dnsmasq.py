"""The same against an independent name server: dnsmasq, from Debian, on loopback."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from hanaming import HAContext, ServiceUnavailableError
from moving_servers import Servers, free_port, load
from waiting import until

DNSMASQ = shutil.which("dnsmasq") or shutil.which("dnsmasq", path="/usr/sbin")
NAME = "orders.test"

# Debian: `scripts/test` installs it. What is missing there is an error in CI, and a visible skip elsewhere.
if os.environ.get("CI") != "true":
    pytestmark = pytest.mark.skipif(DNSMASQ is None, reason="dnsmasq is not installed (Debian's package dnsmasq-base)")


class Dnsmasq:
    """One that serves a hosts file and some records."""

    def __init__(self, folder: Path, addresses: Iterable[str] = (), records: Iterable[str] = ()) -> None:
        assert DNSMASQ is not None, "dnsmasq is not installed (Debian's package dnsmasq-base)"
        self._hosts = folder / "hosts"
        self._write(addresses)
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [
                *(
                    DNSMASQ,
                    "--keep-in-foreground",
                    "--conf-file=/dev/null",
                    "--no-resolv",
                    "--no-hosts",
                    "--local-ttl=1",
                ),
                *("--bind-interfaces", "--listen-address=127.0.0.1", f"--port={port}", "--local=/test/", "--user="),
                *(f"--addn-hosts={self._hosts}", "--pid-file=", "--log-facility=-"),
                *records,
            ],
            stderr=subprocess.DEVNULL,
        )

    def put(self, *addresses: str) -> None:
        """The name has these addresses from now on."""
        self._write(addresses)
        self._process.send_signal(signal.SIGHUP)

    def _write(self, addresses: Iterable[str]) -> None:
        rows = "".join(f"{address} {NAME}\n" for address in addresses)
        self._hosts.write_text(rows, encoding="ascii")

    def stop(self) -> None:
        """It answers nobody any longer."""
        self._process.kill()
        self._process.wait()


def serves(ctx: HAContext) -> bool:
    """Whether it is up by now: once it is, it may be told to read its file again."""
    try:
        return bool(ctx.lookup("where"))
    except ServiceUnavailableError:
        return False


def test_addresses_that_come_and_go(tmp_path: Path, moving: Servers) -> None:
    a, b, c = moving.start(2, 3, 4)
    dnsmasq = Dnsmasq(tmp_path, [a, b])
    provider = f"hn://{NAME}:{moving.port}"
    try:
        with HAContext(provider, dns_servers=[dnsmasq.address], follow_views=False) as ctx:
            until(lambda: serves(ctx), "dnsmasq serves the name")
            with load(ctx) as calls:
                until(lambda: set(calls.since(0)) == {a, b}, "both are asked")
                dnsmasq.put(a, b, c)
                until(lambda: c in calls.since(0), "the new one is asked", within=3)
                dnsmasq.put(a, c)
                until(lambda: {target.host for target in ctx.targets} == {a, c}, "the old one is drained", within=3)
                drained = time.monotonic() + 0.05
                until(lambda: sum(calls.since(drained).values()) > 100, "calls go on")
                assert set(calls.since(drained)) == {a, c}
                dnsmasq.stop()
                stopped = time.monotonic()
                until(lambda: time.monotonic() - stopped > 4 and calls.since(stopped + 3), "it is missed", within=20)
                assert len(ctx.targets) == 2
            assert not calls.failures, calls.failures[:1]
    finally:
        dnsmasq.stop()


def test_srv_records(tmp_path: Path, moving: Servers) -> None:
    a, b = moving.start(2, 3)
    records = [f"--host-record=a.test,{a}", f"--host-record=b.test,{b}"]
    records += [f"--srv-host=_hn._tcp.test,{host}.test,{moving.port},{rank},1" for host, rank in (("a", 10), ("b", 20))]
    dnsmasq = Dnsmasq(tmp_path, records=records)
    try:
        with HAContext("hn+srv://_hn._tcp.test", dns_servers=[dnsmasq.address], follow_views=False) as ctx:
            until(lambda: serves(ctx), "dnsmasq serves the records")
            until(lambda: [ctx.lookup("where"), len(ctx.targets)][1] == 2, "both are known")
            assert {ctx.lookup("where") for _ in range(20)} == {a}, "b is for when a fails"
            assert {(target.hostname, target.origin) for target in ctx.targets} == {
                ("a.test", "srv"),
                ("b.test", "srv"),
            }
            moving.stop(a)
            assert {ctx.lookup("where") for _ in range(20)} == {b}
    finally:
        dnsmasq.stop()
