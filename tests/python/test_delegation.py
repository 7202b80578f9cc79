"""The lookup rule, with three nodes: own trees first, then all the others, and silence is never absence."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hanaming import (
    Context,
    HAContext,
    LinkRef,
    NameNotFoundError,
    Node,
    NotContextError,
    ServiceUnavailableError,
)
from waiting import until

Start = Callable[[int], list[Node]]


@pytest.fixture
def nodes(cluster: Start) -> list[Node]:
    return cluster(3)


@pytest.fixture(params=["in process", "by url"])
def ctx(request: pytest.FixtureRequest, nodes: list[Node]) -> Any:
    """An HA context at the first node."""
    if request.param == "in process":
        return nodes[0].context()
    return HAContext(nodes[0].url, follow_views=False)


def test_its_own_local_tree(nodes: list[Node], ctx: HAContext) -> None:
    nodes[0].local.bind("a", 1)
    nodes[1].local.bind("a", 2)
    found = ctx.resolve("a")
    assert (found.value, found.source, found.node, found.asked) == (1, "local", "n1", ["n1"])


def test_only_on_a_peer(nodes: list[Node], ctx: HAContext) -> None:
    nodes[2].local.bind("a", {"x": 1})
    for _ in range(2):
        found = ctx.resolve("a")
        assert (found.value, found.source, found.node) == ({"x": 1}, "peer", "n3")
        assert "n3" in found.asked
    assert ctx.lookup("a") == {"x": 1}
    assert ctx.lookup_many(["a", "b"]) == {"a": {"x": 1}}


def test_the_remembered_peer_is_asked_first(nodes: list[Node], ctx: HAContext) -> None:
    nodes[2].local.bind("a", 1)
    ctx.lookup("a")
    assert ctx.resolve("a").asked == ["n1", "n3"]


def test_in_none(ctx: HAContext) -> None:
    with pytest.raises(NameNotFoundError) as caught:
        ctx.lookup("a")
    assert caught.value.name == "a"
    assert ctx.get("a", 7) == 7
    assert "a" not in ctx


def test_not_a_context_falls_through(nodes: list[Node], ctx: HAContext) -> None:
    nodes[0].local.bind("a", "a value")
    nodes[1].local.bind("a/b", 1, create_parents=True)
    assert ctx.lookup("a/b") == 1
    with pytest.raises(NotContextError):
        ctx.lookup("a/c")


def test_two_values(nodes: list[Node], ctx: HAContext) -> None:
    nodes[0].local.bind("a", 1)
    nodes[1].local.bind("a", 2)
    nodes[2].local.bind("a", 1)
    answers = ctx.resolve("a", all=True)
    assert {answer.node: answer.value for answer in answers} == {"n1": 1, "n2": 2, "n3": 1}
    report = ctx.check()
    assert report
    (mismatch,) = report.mismatches
    assert mismatch.name == "a"
    assert {answer.node: answer.value for answer in mismatch.answers} == {"n1": 1, "n2": 2, "n3": 1}
    assert nodes[2].check() == report or nodes[2].check().mismatches[0].name == "a"


def test_the_cluster_tree_and_every_local_tree_are_asked(nodes: list[Node], ctx: HAContext) -> None:
    ctx.bind("a", "all's")
    nodes[0].local.bind("a", 1)
    nodes[2].local.bind("a", 2)
    answers = ctx.resolve("a", all=True)
    told = [(answer.value, answer.source, answer.node) for answer in answers]
    assert told == [("all's", "cluster", "n1"), (1, "local", "n1"), (2, "peer", "n3")]
    ctx.unbind("a")
    assert [answer.value for answer in ctx.resolve("a", all=True)] == [1, 2]


def test_equal_values_are_no_mismatch(nodes: list[Node], ctx: HAContext) -> None:
    for node in nodes:
        node.local.bind("a/b", [1], create_parents=True)
    assert not ctx.check()


def test_check_beneath_a_name(nodes: list[Node], ctx: HAContext) -> None:
    for value, node in enumerate(nodes):
        node.local.bind("a/b", value, create_parents=True)
    assert [mismatch.name for mismatch in ctx.check("a").mismatches] == ["a/b"]
    assert [mismatch.name for mismatch in ctx.lookup("a").check().mismatches] == ["a/b"]
    nodes[0].local.create_subcontext("c")
    assert not ctx.check("c")


# Invariant 10.
def test_how_a_name_was_looked_up_does_not_change_what_is_bound(nodes: list[Node], ctx: HAContext) -> None:
    nodes[2].local.bind("a", [1, {"b": b"c"}])
    with Context(nodes[2].url) as outside:
        assert ctx.lookup("a") == nodes[2].local.lookup("a") == outside.lookup("a")


def test_a_link_is_followed_across_trees(nodes: list[Node], ctx: HAContext) -> None:
    nodes[1].local.bind("there/x", 1, create_parents=True)
    nodes[2].local.bind("short", LinkRef("there"))
    assert ctx.lookup("short/x") == 1
    assert ctx.lookup("short").lookup("x") == 1
    with pytest.raises(NameNotFoundError):
        nodes[2].local.lookup("short/x")


def test_a_context_on_a_peer(nodes: list[Node], ctx: HAContext) -> None:
    nodes[2].local.bind("a/b", 1, create_parents=True)
    sub = ctx.lookup("a")
    assert sub.lookup("b") == 1
    assert [entry.name for entry in sub.list_names()] == ["b"]


def test_a_listing_merges_all_trees(nodes: list[Node], ctx: HAContext) -> None:
    nodes[0].local.bind("a", 1)
    nodes[1].local.bind("a", 2)
    nodes[1].local.bind("b", 3)
    nodes[2].local.bind("c/d", 4, create_parents=True)
    rows = {entry.name: entry for entry in ctx.list_names()}
    assert list(rows) == ["a", "b", "c"]
    assert (rows["a"].source, rows["a"].node) == ("local", "n1")
    assert rows["a"].sources == ["local:n1", "peer:n2"]
    assert (rows["b"].source, rows["b"].node, rows["b"].sources) == ("peer", "n2", ["peer:n2"])
    assert [binding.value for binding in ctx.list_bindings()][:2] == [1, 3]
    assert [entry.name for entry in ctx.list_names(tree="local")] == ["a", "b", "c"]
    assert ctx.list_names(tree="cluster") == []
    assert list(ctx) == ["a", "b", "c"]
    assert [entry.name for entry in nodes[0].local.list_names()] == ["a"]


def test_a_node_that_closed_takes_its_bindings_with_it(nodes: list[Node], ctx: HAContext) -> None:
    nodes[2].local.bind("a", 1)
    assert ctx.lookup("a") == 1
    nodes[2].close()

    def is_gone() -> bool:
        # Until it has left the view its silence is no absence.
        with contextlib.suppress(ServiceUnavailableError):
            return ctx.get("a", "gone") == "gone"
        return False

    until(is_gone, "the closed node has left the view, and its names with it")


def test_wait_for_a_name_that_comes_later(nodes: list[Node], ctx: HAContext) -> None:
    timer = threading.Timer(0.2, lambda: nodes[2].local.bind("a", 1))
    timer.start()
    assert ctx.wait_for("a", timeout=5) == 1
    timer.join()


def test_a_write_through_an_ha_context_is_on_all_nodes(nodes: list[Node], ctx: HAContext) -> None:
    receipt = ctx.bind("a", 1)
    assert (sorted(receipt.acked_by), receipt.live, receipt.members) == (["n1", "n2", "n3"], 3, 3)
    for node in nodes:
        found = node.context().resolve("a")
        assert (found.value, found.source, found.node, found.version) == (1, "cluster", node.name, receipt.version)
        assert node.local.get("a") is None
