"""Clients that each stay with one server: after a rolling restart they are spread evenly again, and few moved for that.

So it is in a real run, and the simulation of the same says the same.
"""

from __future__ import annotations

import time
from collections import Counter

from hanaming.simulation import simulate
from hanaming.testing import Cluster
from waiting import until

CLIENTS = 72
WEEK = 7 * 24 * 3600


def is_even(counts: dict[str, int]) -> bool:
    return len(counts) == 3 and max(counts.values()) <= 1.5 * min(counts.values())


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
