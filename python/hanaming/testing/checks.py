"""What a test of failover wants to know in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from hanaming._arguments import items, number, wrong_type

if TYPE_CHECKING:
    from hanaming.testing.cluster import Cluster

# How many are named in a message.
SHOWN = 10


def wait_converged(cluster: Cluster, nodes: Iterable[int] | None = None, *, within: float = 30.0) -> None:
    """As `Cluster.wait_converged`: these nodes, or all that are live, see each other and have equal cluster trees.

    Raises:
        TimeoutError: They don't in time; it says how they stand.
        IndexError: There is no such node.
    """
    cluster.wait_converged(nodes, within=within)


def assert_balanced(
    calls: Iterable[object] | Mapping[object, int], *, among: Iterable[object] | None = None, ratio: float = 1.5
) -> None:
    """No server was called much more often than another.

    Args:
        calls: Which server took each call, or how many each took. A server is whatever prints as its name.
        among: The servers that should have been called, all of them and no others; none: those that were.
        ratio: How many times the least called one's calls the most called one may have had.

    Raises:
        AssertionError: The load was not even; it says who had how much.
        ValueError: `ratio` is less than 1.
    """
    if not number("ratio", ratio) >= 1:
        raise ValueError(f"ratio: {ratio!r} is less than 1")
    shares: Counter[str] = Counter()
    if isinstance(calls, Mapping):
        for server, count in calls.items():
            shares[str(server)] += count
    else:
        shares.update(map(str, items("calls", calls, "servers")))
    told = ", ".join(f"{server}: {count}" for server, count in sorted(shares.items())) or "no calls at all"
    if among is not None:
        wanted = {str(server) for server in items("among", among, "servers")}
        called = {server for server, count in shares.items() if count}
        if wanted - called:
            raise AssertionError(f"never called: {_listed(wanted - called)} ({told})")
        if called - wanted:
            raise AssertionError(f"called, and should not be: {_listed(called - wanted)} ({told})")
    if not shares:
        raise AssertionError("there were no calls at all")
    if max(shares.values()) > ratio * min(shares.values()):
        raise AssertionError(f"not even, by more than {ratio:g} to 1: {told}")


def assert_applied_once(applied: Iterable[object], *, accepted: Iterable[object] = ()) -> None:
    """A service did nothing twice, and all that its clients were told was done.

    Args:
        applied: What the service did, in its own books: an id for each request that it ran, or the names of a watch's
            events. An id is whatever can be hashed.
        accepted: What clients were told was done. What is beyond that may have been done, as after a `MAYBE`.

    Raises:
        AssertionError: Something was done twice, or not at all.
        TypeError: What should be an id can't be hashed.
    """
    counts = Counter(_ids("applied", applied))
    twice = {f"{one} ({count} times)" for one, count in counts.items() if count > 1}
    lost = {str(one) for one in _ids("accepted", accepted) if one not in counts}
    told = [f"done more than once: {_listed(twice)}"] if twice else []
    told += [f"accepted and never done: {_listed(lost)}"] if lost else []
    if told:
        raise AssertionError("; ".join(told))


def _ids(what: str, listed: Iterable[object]) -> list[object]:
    ids: list[object] = items(what, listed, "ids")
    for place, one in enumerate(ids):
        if not _can_be_hashed(one):
            raise wrong_type(f"{what}[{place}]", "an id that can be hashed, such as a str or an int", one)
    return ids


def _can_be_hashed(one: object) -> bool:
    try:
        hash(one)
    except TypeError:
        return False
    return True


def _listed(what: set[str]) -> str:
    first = sorted(what)[:SHOWN]
    return ", ".join(first) + (f" and {len(what) - SHOWN} more" if len(what) > SHOWN else "")
