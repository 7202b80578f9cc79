"""A node that quiesces refuses with `NO`, and its in-process contexts say so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hanaming import CompletionStatus, ContextClosedError, HAContext, Node, ServiceUnavailableError
from waiting import until


def test_an_in_process_context_is_refused(node: Node) -> None:
    node.local.bind("a", 1)
    ha = node.context()
    assert [ha.lookup("a") for _ in range(3)] == [1, 1, 1]
    node.quiesce(timeout=5)
    for use in (lambda: ha.lookup("a"), lambda: ha.bind("b", 1), ha.list_names):
        with pytest.raises(ServiceUnavailableError) as caught:
            use()
        assert caught.value.completion is CompletionStatus.NO
        assert caught.value.safe_to_retry
        assert "quiescing" in str(caught.value)
    node.close()
    with pytest.raises(ContextClosedError):
        ha.lookup("a")


def test_clients_go_elsewhere(cluster: Callable[[int], list[Node]]) -> None:
    nodes = cluster(2)
    nodes[1].local.bind("a", 1)
    with HAContext([node.url for node in nodes]) as ctx:
        assert ctx.lookup("a") == 1
        nodes[0].quiesce(timeout=5)
        for _ in range(20):
            assert ctx.lookup("a") == 1


def test_after_close(node: Node) -> None:
    with node:
        pass
    node.close()
    for use in (
        lambda: node.local,
        node.context,
        lambda: node.view,
        node.check,
        node.quiesce,
        lambda: node.register("a", 1),
    ):
        with pytest.raises(ContextClosedError, match="n1"):
            use()
    assert node.name == "n1"


def test_quiesce_through_a_context(node: Node) -> None:
    with HAContext(node.url) as ctx:
        status = ctx.status()
        assert status.node == "n1"
        ctx.quiesce()
        until(lambda: node.view.members[0].state != "live", "the node leaves")
