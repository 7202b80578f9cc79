"""Links, in every place: relative, from the root, in mid-name, in circles."""

from __future__ import annotations

from typing import Any

import pytest

from hanaming import (
    InvalidNameError,
    LinkLoopError,
    LinkRef,
    Name,
    NameAlreadyBoundError,
    NameNotFoundError,
    NotContextError,
)


def test_a_lookup_follows_a_link(ctx: Any) -> None:
    ctx.bind("a/target", 1, create_parents=True)
    ctx.bind("link", LinkRef("a/target"))
    assert ctx.lookup("link") == 1
    assert ctx.lookup_link("link") == LinkRef("a/target")


def test_a_target_may_be_a_name(ctx: Any) -> None:
    ctx.bind(Name.from_components(["odd/one"]), 1)
    ctx.bind("link", LinkRef(Name.from_components(["odd/one"])))
    assert ctx.lookup("link") == 1


def test_a_relative_target_starts_where_the_link_is_bound(ctx: Any) -> None:
    ctx.bind("x", "the wrong one")
    ctx.bind("a/b/x", "the right one", create_parents=True)
    ctx.bind("a/b/link", LinkRef("./x"))
    assert ctx.lookup("a/b/link") == "the right one"
    assert ctx.lookup("a").lookup("b/link") == "the right one"


def test_any_other_target_starts_at_the_root(ctx: Any) -> None:
    ctx.bind("x", "the right one")
    ctx.bind("a/x", "the wrong one", create_parents=True)
    ctx.bind("a/link", LinkRef("x"))
    assert ctx.lookup("a").lookup("link") == "the right one"


def test_dots_mean_nothing_else(ctx: Any) -> None:
    ctx.bind("..", 1)
    ctx.bind("a/link", LinkRef(".."), create_parents=True)
    assert ctx.lookup("a/link") == 1
    ctx.bind("a/up", LinkRef("../link"))
    with pytest.raises(NotContextError):
        ctx.lookup("a/up")


def test_a_link_in_mid_name(ctx: Any) -> None:
    ctx.bind("real/deep/x", 1, create_parents=True)
    ctx.bind("short", LinkRef("real/deep"))
    assert ctx.lookup("short/x") == 1
    assert ctx.lookup_link("short/x") == 1
    assert ctx.resolve("short/x").value == 1


def test_writes_follow_links_on_the_way_and_not_at_the_end(ctx: Any) -> None:
    ctx.create_subcontext("real")
    ctx.bind("short", LinkRef("real"))
    ctx.bind("short/x", 1)
    assert ctx.lookup("real/x") == 1
    ctx.rename("short/x", "short/y")
    assert ctx.lookup("real/y") == 1
    assert ctx.unbind("short/y") is True
    assert ctx.list_names("real") == []
    with pytest.raises(NameAlreadyBoundError):
        ctx.bind("short", 1)
    assert ctx.unbind("short") is True
    assert ctx.lookup("real").list_names() == []


def test_a_listing_follows_the_listed_name_and_not_its_entries(ctx: Any) -> None:
    ctx.bind("real/x", 1, create_parents=True)
    ctx.bind("real/y", LinkRef("./x"))
    ctx.bind("short", LinkRef("real"))
    assert [(entry.name, entry.kind) for entry in ctx.list_names("short")] == [
        ("short/x", "value"),
        ("short/y", "link"),
    ]
    assert ctx.lookup("short/y") == 1


def test_a_link_to_a_context_gives_the_context(ctx: Any) -> None:
    ctx.bind("real/x", 1, create_parents=True)
    ctx.bind("short", LinkRef("real"))
    assert ctx.lookup("short").lookup("x") == 1


def test_lookup_many_follows_links(ctx: Any) -> None:
    ctx.bind("real/x", 1, create_parents=True)
    ctx.bind("short", LinkRef("real"))
    ctx.bind("dangling", LinkRef("nowhere"))
    assert ctx.lookup_many(["short/x", "dangling", "short/nothing"]) == {"short/x": 1}


def test_a_dangling_link(ctx: Any) -> None:
    ctx.bind("link", LinkRef("a/b"))
    with pytest.raises(NameNotFoundError) as caught:
        ctx.lookup("link")
    assert caught.value.name == "link"
    assert ctx.lookup_link("link") == LinkRef("a/b")


@pytest.mark.parametrize(
    "links", [{"a": "a"}, {"a": "b", "b": "a"}, {"a": "b", "b": "c/d", "c": "a"}], ids=["one", "two", "middle"]
)
def test_a_loop(ctx: Any, links: dict[str, str]) -> None:
    for name, target in links.items():
        ctx.bind(name, LinkRef(target))
    with pytest.raises(LinkLoopError) as caught:
        ctx.lookup("a")
    error = caught.value
    assert (error.name, error.resolved_name, error.remaining_name) == ("a", "", "a")
    assert set(links) <= {Name(met)[0] for met in error.chain}
    assert error.chain[0] in str(error)


def test_a_loop_met_by_a_write(ctx: Any) -> None:
    ctx.bind("a", LinkRef("b"))
    ctx.bind("b", LinkRef("a"))
    with pytest.raises(LinkLoopError):
        ctx.bind("a/x", 1)


def chain_of(ctx: Any, length: int) -> None:
    ctx.bind("l0", "the end")
    for number in range(1, length + 1):
        ctx.bind(f"l{number}", LinkRef(f"l{number - 1}"))


def test_a_long_chain(ctx: Any) -> None:
    chain_of(ctx, 33)
    assert ctx.lookup("l32") == "the end"
    with pytest.raises(LinkLoopError) as caught:
        ctx.lookup("l33")
    assert len(caught.value.chain) >= 32


@pytest.mark.parametrize("target", ["a//b", "./a/", "'open", "x" * 1025])
def test_a_target_that_no_operation_would_take(ctx: Any, target: str) -> None:
    with pytest.raises(InvalidNameError):
        ctx.bind("link", LinkRef(target))
    assert ctx.list_names() == []


def test_how_far_a_name_was_resolved_that_ends_at_a_link(ctx: Any) -> None:
    """What is told is relative to the context that was asked, also where that is called as what is in it."""
    sub = ctx.create_subcontext("a/a", create_parents=True)
    sub = ctx.lookup("a")
    sub.bind("a/loop", LinkRef("./loop"))
    sub.bind("a/long", LinkRef("/".join(["deep"] * 32)))
    for name, kind in (("a/loop/x", LinkLoopError), ("a/long/x", InvalidNameError), ("a/nothing/x", NameNotFoundError)):
        for call in (lambda name=name: sub.lookup(name), lambda name=name: sub.bind(name, 1)):
            with pytest.raises(kind) as caught:
                call()
            error = caught.value
            assert (error.name, error.resolved_name, error.remaining_name) == (name, "a", name[2:])
