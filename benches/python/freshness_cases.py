"""What it costs that targets stay fresh: on a call's way, until a change is heeded, and while nobody calls."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from contextlib import ExitStack

from harness import Case, one_by_one, show
from harness import measure as run_rounds

import hanaming
from hanaming.testing import DnsZone

_NAME = "nodes.bench"
_TTL = 1
_CONTEXTS = 100
_IDLE = 10.0

_IDLE_PROGRAM = """
    import sys, time
    from hanaming import HAContext

    provider, server, count, idle = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    contexts = [HAContext(provider, dns_servers=[server] if server else None) for _ in range(count)]
    for context in contexts:
        context.lookup("bench")
    began, used = time.perf_counter(), time.process_time()
    while (left := began + idle - time.perf_counter()) > 0:
        time.sleep(left)
    print((time.process_time() - used) / (time.perf_counter() - began))
"""


def measure(rounds: int) -> None:
    with hanaming.Node("fresh") as node, DnsZone({_NAME: ["127.0.0.1"]}, ttl=_TTL) as zone:
        node.local.bind("bench", "v" * 100)
        _on_the_way(node, zone, rounds)
        _while_idle(node, zone, min(rounds, 3))
    _until_heeded(rounds)


def _on_the_way(node: hanaming.Node, zone: DnsZone, rounds: int) -> None:
    """The same node, under its address and under a name that is resolved each second."""
    provider = f"hn://{_NAME}:{node.address.rpartition(':')[2]}"
    with ExitStack() as stack:
        fixed = stack.enter_context(hanaming.HAContext(node.url))
        modes = {
            f"name, {mode!r}": stack.enter_context(
                hanaming.HAContext(provider, dns_servers=[zone.address], dns_refresh=mode),
            )
            for mode in ("on_empty", "ttl", "always")
        }
        cases = [Case("address", one_by_one(lambda: fixed.lookup("bench")), 2000)]
        for name, context in modes.items():
            cases.append(
                Case(name, one_by_one(lambda context=context: context.lookup("bench")), 2000, "address", "1.00")
            )
        run_rounds(cases, rounds)
        show(f"freshness on a call's way, a time to live of {_TTL} s", cases)


def _while_idle(node: hanaming.Node, zone: DnsZone, rounds: int) -> None:
    port = node.address.rpartition(":")[2]
    ways = {"a name": (f"hn://{_NAME}:{port}", zone.address), "an address": (node.url, "")}
    shares = {
        way: statistics.median(_idle(provider, server) for _ in range(rounds))
        for way, (provider, server) in ways.items()
    }
    told = ", ".join(f"{share:.2%} of a core under {way}" for way, share in shares.items())
    print(f"\n{_CONTEXTS} contexts that nobody uses, a time to live of {_TTL} s: {told}")


def _idle(provider: str, server: str) -> float:
    import textwrap

    command = [sys.executable, "-c", textwrap.dedent(_IDLE_PROGRAM), provider, server, str(_CONTEXTS), str(_IDLE)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _until_heeded(rounds: int) -> None:
    """From the change of the zone to the first call that the new node answers, in times to live."""
    took = []
    with hanaming.Node("a") as first:
        port = first.address.rpartition(":")[2]
        with (
            hanaming.Node("b", listen=f"127.0.0.2:{port}") as second,
            DnsZone({_NAME: ["127.0.0.1"]}, ttl=_TTL) as zone,
        ):
            first.local.bind("who", "a")
            second.local.bind("who", "b")
            provider = f"hn://{_NAME}:{port}"
            options = {"dns_servers": [zone.address], "follow_views": False}
            with hanaming.HAContext(provider, **options) as context:
                for _ in range(max(rounds, 5)):
                    _first(context, "a")
                    zone.set(_NAME, ["127.0.0.2"])
                    took.append(_first(context, "b") / _TTL)
                    zone.set(_NAME, ["127.0.0.1"])
    print(
        f"\nfrom a change in DNS to the first call at the new node: {statistics.median(took):.2f} times to live, "
        f"{max(took):.2f} at most (to reach: <= 1 and a second)"
    )


def _first(context: hanaming.HAContext, who: str) -> float:
    began = time.perf_counter()
    while context.lookup("who") != who:
        if time.perf_counter() - began > 60:
            msg = "the change was not heeded"
            raise RuntimeError(msg)
    return time.perf_counter() - began
