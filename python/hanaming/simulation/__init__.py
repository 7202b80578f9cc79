"""What becomes of the load while servers behind a name are restarted for weeks: seen in a moment.

    from hanaming.simulation import simulate

    simulate(servers=4, weeks=4, clients=72).plot()

The engines that choose targets, resolve names and even the load out are those of `HAContext` and `Balancer`; only the
time is virtual, and the servers are. A run follows from its arguments and its seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanaming._arguments import count, flag, pairs, text, time
from hanaming._native import simulate as _simulate
from hanaming.simulation._record import Record
from hanaming.simulation._result import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hanaming.types import DnsRefresh, Policy

__all__ = ["Record", "Simulation", "simulate"]

_DAY = 24 * 60 * 60.0
_WEEK = 7 * _DAY
_CALLS = 10_000
_SHORTEST = 0.1
"""No call follows sooner than that unless it's asked for, in seconds."""

# The core's own limits (`src/simulation/scenario.rs`), so that whatever is wrong with a number, the same ones are told.
_MOST_SERVERS = 1_000
_MOST_CONTEXTS = 100_000
_MOST_SAMPLES = 100_000


def simulate(
    servers: int = 4,
    weeks: float = 4.0,
    clients: int = 72,
    *,
    policy: Policy = "round_robin",
    dns_refresh: DnsRefresh = "ttl",
    ttl: float = 30.0,
    restarts_per_week: float = 1.0,
    restart_gap: float | None = None,
    downtime: float = 600.0,
    new_addresses: bool = True,
    scaling: Iterable[tuple[float, int]] = (),
    dns_failures: Iterable[tuple[float, float]] = (),
    contexts: int = 1,
    balancer: bool = False,
    follow_views: bool = False,
    call_every: float | None = None,
    samples: int = 200,
    seed: int = 0,
) -> Simulation:
    """Servers behind one name in DNS, restarted one after the other, and programs that call them.

    Args:
        servers: How many servers there are at the beginning.
        weeks: How long it goes on; a part of a week will do.
        clients: How many programs call them.
        policy: How they choose a server, as in `HAContext`.
        dns_refresh: When they resolve the name again, as in `HAContext`.
        ttl: How long the name server says that an answer is good, in seconds.
        restarts_per_week: How often each server is restarted; 0 for never.
        restart_gap: The seconds from one server's restart to the next one's; without it they are spread over the week.
        downtime: How long a restart takes, in seconds.
        new_addresses: Whether a server comes back at an address of its own, as pods do; else the name lists it always.
        scaling: `(day, servers)`: from this day on there are so many.
        dns_failures: `(day, seconds)`: from this day on the name server fails for so long.
        contexts: How many contexts each program has.
        balancer: Whether it's about `Balancer`, whose servers don't say how loaded they are.
        follow_views: Whether the servers tell each program who else there is, as hanaming's nodes do; here that is left to
            DNS unless it's asked for.
        call_every: The seconds from one call of a context to its next, in the mean; without it there are ten thousand.
        samples: Into how many slices the time is cut.
        seed: What all chance follows from.

    Raises:
        ConfigurationError: A value can't be meant; it says which, and what can be.
    """
    length = time("weeks", weeks) * _WEEK
    every_week = time("restarts_per_week", restarts_per_week, or_nothing=True)
    given = {
        "servers": count("servers", servers, most=_MOST_SERVERS),
        "clients": count("clients", clients, most=_MOST_CONTEXTS),
        "contexts": count("contexts", contexts, most=_MOST_CONTEXTS),
        "length": length,
        "policy": text("policy", policy),
        "dns_refresh": dns_refresh,
        "ttl": time("ttl", ttl, or_nothing=True),
        "restart_every": _WEEK / every_week if every_week else None,
        "restart_gap": None if restart_gap is None else time("restart_gap", restart_gap),
        "downtime": time("downtime", downtime),
        "new_addresses": flag("new_addresses", new_addresses),
        "scaling": [
            (
                time("scaling: a day", day, or_nothing=True) * _DAY,
                count("scaling: a number of servers", number, most=_MOST_SERVERS),
            )
            for day, number in pairs("scaling", scaling, "(day, servers)")
        ],
        "dns_failures": [
            (time("dns_failures: a day", day, or_nothing=True) * _DAY, time("dns_failures: a duration", seconds))
            for day, seconds in pairs("dns_failures", dns_failures, "(day, seconds)")
        ],
        "call_every": max(length / _CALLS, _SHORTEST) if call_every is None else time("call_every", call_every),
        "balancer": flag("balancer", balancer),
        "follow_views": flag("follow_views", follow_views),
        "samples": count("samples", samples, most=_MOST_SAMPLES),
        "seed": count("seed", seed, least=0, most=2**64 - 1),
    }
    return Simulation(given, *_simulate(given))
