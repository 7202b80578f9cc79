"""What operators do: reading sugar, deleting, closing. There is no `ctx[name] = value`: a write deserves a verb."""

from __future__ import annotations

import pytest

from hanaming import Context, ContextClosedError, HAContext, InvalidNameError, Name, NameNotFoundError, Node


@pytest.fixture(params=["local", "ha"])
def sugared(request: pytest.FixtureRequest, node: Node) -> Context:
    ctx = node.local if request.param == "local" else node.context()
    ctx.bind("a", 1)
    ctx.bind("b/c", 2, create_parents=True)
    return ctx


def test_reading(sugared: Context) -> None:
    assert sugared["a"] == 1
    assert sugared[Name("b") / "c"] == 2
    with pytest.raises(NameNotFoundError):
        sugared["x"]
    with pytest.raises(KeyError):
        sugared["x"]


def test_membership_is_a_lookup(sugared: Context) -> None:
    assert "a" in sugared
    assert "b/c" in sugared
    assert "x" not in sugared
    assert "a/under a value" not in sugared
    with pytest.raises(InvalidNameError):
        "a//b" in sugared  # noqa: B015
    with pytest.raises(TypeError):
        1 in sugared  # noqa: B015


def test_iteration_gives_names(sugared: Context) -> None:
    assert list(sugared) == ["a", "b"]
    assert list(sugared["b"]) == ["c"]


def test_deleting_raises_where_the_name_is_missing(sugared: Context) -> None:
    del sugared["a"]
    assert "a" not in sugared
    with pytest.raises(NameNotFoundError) as caught:
        del sugared["a"]
    assert caught.value.name == "a"


@pytest.mark.parametrize(("name", "resolved", "remaining"), [("a/b", "a", "b"), ("x", "", "x")])
def test_deleting_says_what_was_missing(sugared: Context, name: str, resolved: str, remaining: str) -> None:
    below = sugared.create_subcontext("c")
    below.create_subcontext("a")
    with pytest.raises(NameNotFoundError) as caught:
        del below[name]
    error = caught.value
    assert (error.name, error.resolved_name, error.remaining_name) == (name, resolved, remaining)


def test_writing_deserves_a_verb(sugared: Context) -> None:
    with pytest.raises(TypeError):
        sugared["x"] = 1  # type: ignore[index]


def test_a_context_is_always_truthy(sugared: Context) -> None:
    assert sugared
    assert sugared.create_subcontext("empty")


def test_use_after_close(sugared: Context) -> None:
    sub = sugared["b"]
    with sugared:
        pass
    sugared.close()
    for use in (
        lambda: sugared.lookup("a"),
        lambda: sugared.bind("x", 1),
        sugared.list_names,
        sugared.check,
        lambda: "a" in sugared,
        lambda: sub.lookup("c"),
    ):
        with pytest.raises(ContextClosedError):
            use()


def test_closing_a_subcontext_closes_only_it(sugared: Context) -> None:
    with sugared["b"] as sub:
        assert sub["c"] == 2
    with pytest.raises(ContextClosedError):
        sub.lookup("c")
    assert sugared["b"]["c"] == 2


def test_closing_a_context_leaves_the_node_alone(node: Node) -> None:
    with HAContext(node.url) as ctx:
        ctx.bind("a", 1)
    with HAContext(node.url) as ctx:
        assert ctx["a"] == 1
    with node.context() as ctx:
        assert ctx["a"] == 1


def test_the_local_context_of_a_node_can_be_had_again(node: Node) -> None:
    node.local.bind("a", 1)
    with node.local as local:
        assert local["a"] == 1
    assert node.local["a"] == 1
