"""The node in use is killed, frozen or quiesced under running lookups: none of them fails.

Real processes, and 1, 8 or 64 threads that share one context. How long the gaps are is measured by `make bench`; here
a lookup fails if it can't be answered within its timeout.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hanaming import HAContext, Policy, ServiceUnavailableError
from hanaming.testing import Cluster, ClusterNode
from waiting import until

CALLERS = (1, 8, 64)


@pytest.fixture
def served() -> Iterator[Cluster]:
    """Three node processes, with a name in every local tree and one in each alone."""
    with Cluster(["n1", "n2", "n3"], processes=True) as nodes:
        for number, node in enumerate(nodes, 1):
            node.local.bind("everywhere", "v" * 100)
            node.local.bind(f"only/n{number}", number, create_parents=True)
        yield nodes


class Callers:
    """Threads that look a name up until they are stopped."""

    def __init__(self, ctx: HAContext, count: int, timeout: float) -> None:
        self._ctx = ctx
        self._timeout = timeout
        self._over = threading.Event()
        self.done = [0] * count
        self.errors: list[Exception] = []
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(count)]

    def _run(self, number: int) -> None:
        while not self._over.is_set():
            try:
                self._ctx.lookup("everywhere", timeout=self._timeout)
            except Exception as error:  # noqa: BLE001 - every failure is told
                self.errors.append(error)
            self.done[number] += 1

    def went_on(self, more: int) -> None:
        """Waits until every caller has made as many more lookups."""
        goals = [done + more for done in self.done]
        until(
            lambda: all(done >= goal for done, goal in zip(self.done, goals, strict=True)),
            "the callers go on",
            within=60,
        )

    def __enter__(self) -> Callers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()


def in_use(ctx: HAContext, nodes: Cluster) -> ClusterNode:
    ctx.lookup("everywhere")
    address = ctx.explain()[-1].target
    return next(node for node in nodes if node.address == address)


def strike(
    nodes: Cluster, callers: int, fault: Callable[[ClusterNode], None], *, policy: Policy, timeout: float
) -> tuple[HAContext, ClusterNode]:
    """Runs lookups, strikes the node in use, and sees that they go on without a failure. Gives the context and the node."""
    ctx = HAContext([node.url for node in nodes], policy=policy)
    victim = in_use(ctx, nodes)
    with Callers(ctx, callers, timeout) as calling:
        calling.went_on(20)
        fault(victim)
        calling.went_on(50)
    assert calling.errors == []
    return ctx, victim


def is_gone(ctx: HAContext, name: str) -> bool:
    with contextlib.suppress(ServiceUnavailableError):
        return ctx.get(name, "gone") == "gone"
    return False


@pytest.mark.parametrize("callers", CALLERS)
@pytest.mark.parametrize("policy", ["round_robin", "first_available"])
def test_kill(served: Cluster, callers: int, policy: Policy) -> None:
    ctx, victim = strike(served, callers, ClusterNode.kill, policy=policy, timeout=5)
    with ctx:
        for _ in range(30):
            ctx.lookup("everywhere")
            assert ctx.explain()[-1].target != victim.address
        # What only the others have is found through each of them; what only the dead node had goes with it.
        for number, node in enumerate(served, 1):
            if node is not victim:
                assert ctx.wait_for(f"only/n{number}", timeout=10) == number
        until(lambda: is_gone(ctx, f"only/{victim.name}"), "the dead node left the view")


@pytest.mark.parametrize("callers", CALLERS)
@pytest.mark.parametrize("policy", ["round_robin", "first_available"])
def test_freeze(served: Cluster, callers: int, policy: Policy) -> None:
    # Sixty-four threads and three nodes on few cores: there it is the machine that takes its time.
    timeout = 1 if callers < 64 else 5
    ctx, victim = strike(served, callers, ClusterNode.pause, policy=policy, timeout=timeout)
    with ctx:
        states = {str(target): target.state for target in ctx.targets}
        assert states.get(victim.address, "gone") not in ("good", "untried")


@pytest.mark.parametrize("callers", CALLERS)
def test_quiesce(served: Cluster, callers: int) -> None:
    # It raises where the process ended with another status than 0.
    ctx, victim = strike(served, callers, ClusterNode.quiesce, policy="round_robin", timeout=5)
    ctx.close()
    assert victim.state == "quiesced"


def test_a_node_that_comes_back_gets_its_share_again(served: Cluster) -> None:
    victim = served[0]
    with HAContext([node.url for node in served]) as ctx:

        def shares() -> Counter[str]:
            seen: Counter[str] = Counter()
            for _ in range(300):
                ctx.lookup("everywhere")
                seen[ctx.explain()[-1].target] += 1
            return seen

        assert sorted(shares().values()) == [100, 100, 100]
        victim.pause()
        until(lambda: victim.address not in shares(), "the frozen node is left out")
        victim.resume()
        until(lambda: sorted(shares().values()) == [100, 100, 100], "the node has its share again", within=30)


def test_a_frozen_peer_is_never_taken_for_an_absent_name(served: Cluster) -> None:
    frozen = served[2]
    frozen.pause()
    with HAContext(served[0].url, follow_views=False, timeout=0.6) as ctx:

        def answer(ask: Callable[[], Any]) -> Any:
            try:
                return ask()
            except ServiceUnavailableError as error:
                return error.silent

        asks = (
            lambda: ctx.lookup("only/n3"),
            lambda: ctx.get("only/n3", "absent"),
            lambda: ctx.lookup_many(["only/n3"]),
            ctx.list_names,
        )
        assert [answer(ask) for ask in asks] == [["n3"]] * 4
        with pytest.raises(ServiceUnavailableError) as caught:
            ctx.list_names()
        # What the others have is told all the same.
        assert [entry.name for entry in caught.value.partial] == ["everywhere", "only"]
        with pytest.raises(ServiceUnavailableError) as caught:
            ctx.resolve("only/n1", all=True)
        assert [found.value for found in caught.value.partial] == [1]
        # An error can be pickled: where a context stands it says so, and holds none.
        with pytest.raises(ServiceUnavailableError) as caught:
            ctx.resolve("only", all=True)
        assert [found.value for found in pickle.loads(pickle.dumps(caught.value)).partial] == [None] * 2
