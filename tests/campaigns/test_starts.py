"""All nodes are started at the same moment, with each other as seeds: it is one cluster each time."""

from __future__ import annotations

from collections.abc import Callable

from fleet import Fleet, until
from length import rounds


def test_started_at_once_they_are_one_cluster(fleet: Callable[..., Fleet]) -> None:
    nodes = fleet(5, data=False)
    for _ in range(rounds(3, 50)):
        nodes.start()
        nodes.settled()
        views = set()
        for node in nodes.nodes:
            with node.context() as ctx:
                until(lambda ctx=ctx: ctx.get("nothing") is None, "an answer")  # type: ignore[misc]
                assert ctx.view is not None
                assert len(ctx.view.members) == 5
                views.add(ctx.view.id)
        # A view's id depends on the cluster's.
        assert len(views) == 1
        for node in nodes.nodes:
            node.kill()
