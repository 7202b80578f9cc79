"""Clients that each stay with one server: after a rolling restart they are spread evenly again, and few moved for that.

So it is in a real run, and the simulation of the same says the same.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

from hanaming import HAContext, Node
from hanaming.simulation import simulate
from hanaming.testing import Cluster
from waiting import until

CLIENTS = 72
WEEK = 7 * 24 * 3600


def moments(seconds: float) -> Iterator[None]:
    """So long, again and again: for what is to stay as it is."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.05)


def is_even(counts: dict[str, int]) -> bool:
    return len(counts) == 3 and max(counts.values()) <= 1.5 * min(counts.values())


def knows_all(client: HAContext) -> bool:
    return len(client.targets) == 3 and all(target.state != "failed" for target in client.targets)


def test_clients_move_until_they_are_even() -> None:
    with Cluster(["n1", "n2", "n3"]) as nodes:
        for node in nodes:
            node.local.bind("where", node.name)
        clients = [nodes.client(policy="first_available") for _ in range(CLIENTS)]
        rounds = []

        def spread() -> Counter[str]:
            began = time.monotonic()
            counts = Counter(client.lookup("where") for client in clients)
            rounds.append(time.monotonic() - began)
            return counts

        spread()
        began = time.monotonic()
        for nth in range(3):
            until(lambda: all(map(knows_all, clients)), "the node before is known to be back")
            nodes[nth].kill()
            assert len(spread()) == 2
            nodes[nth].restart()
            nodes[nth].local.bind("where", nodes[nth].name)
        gap = (time.monotonic() - began) / 3
        assert "n3" not in spread(), "who comes back has nobody at first"
        until(lambda: is_even(spread()), "the load is even", within=20)
        moves = [client.metrics.moves for client in clients]
        # A third of them had to, after the last restart alone; at most as many after each of the others.
        assert CLIENTS / 6 <= sum(moves) <= CLIENTS, moves
        assert max(moves) <= 3, "once after each restart"

    simulated = simulate(
        servers=3,
        clients=CLIENTS,
        weeks=(3 * gap + 20) / WEEK,
        policy="first_available",
        new_addresses=False,
        follow_views=True,
        restart_gap=gap,
        downtime=gap / 2,
        call_every=max(sum(rounds) / len(rounds), 0.05),
    )
    assert is_even(simulated.contexts), simulated
    # How many find their way by a failed call and how many move later depends on how fast this machine restarts a node.
    assert simulated.metrics.moves <= CLIENTS, simulated.metrics
    assert simulated.most_moves <= 3
    assert abs(simulated.metrics.moves - sum(moves)) <= CLIENTS / 3


def test_clients_that_do_not_call_are_as_even() -> None:
    """They hear of a restart, elect, and go over with no call of theirs; so does the simulation of it."""
    with ExitStack() as stack:
        nodes = [stack.enter_context(Node("n1"))]
        nodes += [stack.enter_context(Node(f"n{nth}", seeds=[nodes[0].address])) for nth in (2, 3)]
        until(lambda: all(len(node.view.members) == 3 for node in nodes), "the nodes see each other")
        provider = ",".join(node.address for node in nodes)
        clients = [stack.enter_context(HAContext(provider, policy="first_available")) for _ in range(CLIENTS)]
        observers = [stack.enter_context(HAContext(node.address, follow_views=False)) for node in nodes]

        # Nodes have links to each other, too.
        links = max(observer.status().connections for observer in observers)
        for client in clients:
            client.list_names()

        def are_even(count: int) -> bool:
            ours = [observer.status().connections - links for observer in observers[:count]]
            # Who just looks has connections for a moment.
            return sum(ours) <= CLIENTS + CLIENTS / 6 and min(ours) > 0 and max(ours) <= 1.5 * min(ours)

        until(lambda: are_even(3), "what chance has made uneven is even", within=20)
        address = nodes[2].address
        nodes[2].close()
        until(lambda: are_even(2), "they are with the others", within=20)
        nodes[2] = stack.enter_context(Node("n3", listen=address, seeds=[nodes[0].address]))
        # Just after its return those who look for it are counted there, and clients have still to choose.
        until(lambda: all(are_even(3) for _ in moments(2.0)), "the load is even with who is back", within=30)
        for node in nodes:
            node.local.bind("where", node.name)
        counts = Counter(client.lookup("where") for client in clients)
        assert is_even(counts), counts
        assert sum(client.metrics.moves for client in clients) <= CLIENTS

    simulated = simulate(
        servers=3,
        clients=CLIENTS,
        weeks=60 / WEEK,
        policy="first_available",
        new_addresses=False,
        follow_views=True,
        restart_gap=15,
        downtime=2,
        call_every=20,
    )
    assert is_even(simulated.contexts), simulated
