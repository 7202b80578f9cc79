"""Binds of one name at the same moment, through all nodes: one wins, also while a process is stopped for a while."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from fleet import Fleet, FleetNode
from hanaming import CompletionStatus, NameAlreadyBoundError, NamingError
from length import FIRST_SEED, rounds


def test_of_binds_through_all_nodes_one_wins_while_a_process_is_stopped(fleet: Callable[..., Fleet]) -> None:
    nodes = fleet(5, data=False)
    nodes.start()
    nodes.settled()
    choice = random.Random(FIRST_SEED)
    contexts = [node.context(20.0) for node in nodes.nodes]
    with ThreadPoolExecutor(len(contexts) + 1) as threads:

        def stop_a_while(node: FleetNode, seconds: float) -> None:
            node.freeze()
            time.sleep(seconds)
            node.wake()

        for number in range(rounds(8, 1000)):
            name = f"name{number}"

            def bind(index: int, name: str = name) -> str:
                try:
                    contexts[index].bind(name, index)
                except NameAlreadyBoundError:
                    return "lost"
                except NamingError as error:
                    return error.completion.value
                return "won"

            stopped = threads.submit(stop_a_while, choice.choice(nodes.nodes), choice.uniform(0.2, 1.0))
            told = list(threads.map(bind, range(len(contexts))))
            stopped.result()
            nodes.settled()
            shown = {ctx.get(name) for ctx in contexts}
            assert len(shown) == 1
            assert told.count("won") == 1 or (told.count("won") == 0 and CompletionStatus.MAYBE.value in told), told
            if "won" in told:
                assert shown == {told.index("won")}, told
            assert contexts[0].check().conflicts == []
    for ctx in contexts:
        ctx.close()
