"""Clients that each stay with one server: after a rolling restart they are spread evenly again, and few moved for that."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

from hanaming import HAContext, Node
from waiting import until

CLIENTS = 72


def test_clients_move_until_they_are_even() -> None:
    with ExitStack() as stack:
        nodes = [stack.enter_context(Node("n1"))]
        nodes += [stack.enter_context(Node(f"n{nth}", seeds=[nodes[0].address])) for nth in (2, 3)]
        for node in nodes:
            node.local.bind("where", node.name)
        until(lambda: all(len(node.view.members) == 3 for node in nodes), "the nodes see each other")
        provider = ",".join(node.address for node in nodes)
        clients = [stack.enter_context(HAContext(provider, policy="first_available")) for _ in range(CLIENTS)]

        def spread() -> Counter[str]:
            return Counter(client.lookup("where") for client in clients)

        def even() -> bool:
            counts = spread()
            return len(counts) == 3 and max(counts.values()) <= 1.5 * min(counts.values())

        spread()
        for nth in range(3):
            address = nodes[nth].address
            others = [node.address for node in nodes if node.address != address]
            nodes[nth].close()
            assert len(spread()) == 2
            nodes[nth] = stack.enter_context(Node(f"n{nth + 1}", listen=address, seeds=others))
            nodes[nth].local.bind("where", f"n{nth + 1}")
        assert "n3" not in spread(), "who comes back has nobody at first"
        until(even, "the load is even", within=20)
        moves = sum(client.metrics.moves for client in clients)
        # A third of them had to, after the last restart alone; at most as many after each of the others.
        assert CLIENTS / 6 <= moves <= CLIENTS, moves
