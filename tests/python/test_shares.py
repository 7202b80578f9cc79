"""Ten thousand calls over three nodes: each policy's shares."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable

import pytest

from hanaming import HAContext, Node, Policy, aio

CALLS = 10_000


def by_threads(providers: list[str], policy: Policy) -> Counter[str]:
    """How many calls of one context each node answered: it has the name itself, and so it's asked no other."""
    with HAContext(providers, policy=policy) as ctx:
        return Counter(ctx.resolve("a").node for _ in range(CALLS))


def on_a_loop(providers: list[str], policy: Policy) -> Counter[str]:
    async def main() -> Counter[str]:
        answered: Counter[str] = Counter()
        async with aio.HAContext(providers, policy=policy) as ctx:
            for _ in range(CALLS // 100):
                answered.update(one.node for one in await asyncio.gather(*(ctx.resolve("a") for _ in range(100))))
        return answered

    return asyncio.run(main())


Run = Callable[[list[str], Policy], Counter[str]]


@pytest.fixture
def providers(cluster: Callable[[int], list[Node]]) -> list[str]:
    nodes = cluster(3)
    for node in nodes:
        node.local.bind("a", 1)
    return [node.url for node in nodes]


@pytest.mark.parametrize("run", [by_threads, on_a_loop])
def test_round_robin_is_even_to_the_call(providers: list[str], run: Run) -> None:
    assert sorted(run(providers, "round_robin").values()) == [3333, 3333, 3334]


@pytest.mark.parametrize("run", [by_threads, on_a_loop])
def test_random_robin_is_even_by_chance(providers: list[str], run: Run) -> None:
    # More than six standard deviations.
    shares = run(providers, "random_robin")
    assert len(shares) == 3
    assert all(abs(share - CALLS / 3) < 300 for share in shares.values()), shares


@pytest.mark.parametrize("run", [by_threads, on_a_loop])
def test_first_available_stays_with_one(providers: list[str], run: Run) -> None:
    assert list(run(providers, "first_available").values()) == [CALLS]


def test_first_available_elects_for_each_context_anew(providers: list[str]) -> None:
    elected: Counter[str] = Counter()
    for _ in range(60):
        with HAContext(providers, policy="first_available") as ctx:
            elected[ctx.resolve("a").node] += 1
    assert len(elected) == 3, "one of three would be left out by one run in 10^10"


def test_all_proxies_of_a_process_share_one(providers: list[str]) -> None:
    total: Counter[str] = Counter()
    for _ in range(10):
        with HAContext(providers, policy="first_available_identical_all_proxies") as ctx:
            total.update(ctx.resolve("a").node for _ in range(CALLS // 10))
    assert list(total.values()) == [CALLS]


@pytest.mark.parametrize("run", [by_threads, on_a_loop])
def test_least_loaded_leaves_nobody_out(providers: list[str], run: Run) -> None:
    # Three nodes of one process are about as fast as each other; which is the fastest now is the machine's affair, so
    # how even it is for equal ones is shown by tests of the engine. Nobody is given nothing.
    shares = run(providers, "least_loaded")
    assert sum(shares.values()) == CALLS
    assert len(shares) == 3
    assert min(shares.values()) > CALLS / 30, shares
