"""Listings, in every place."""

from __future__ import annotations

from typing import Any

import pytest

from hanaming import ConfigurationError, LinkRef, Name, NameNotFoundError, OperationNotSupportedError, Reference
from places import Place


def test_an_empty_context(ctx: Any) -> None:
    assert ctx.list_names() == []
    assert ctx.list_bindings() == []


def test_names_come_in_order(ctx: Any) -> None:
    for name in ("b", "a", "ä", "C", "a b"):
        ctx.bind(name, name)
    assert [entry.name for entry in ctx.list_names()] == ["C", "a", "a b", "b", "ä"]


def test_entries_tell_their_kind(place: Place) -> None:
    ctx = place.ctx
    ctx.bind("value", 1)
    ctx.bind("reference", Reference("Orders"))
    ctx.bind("link", LinkRef("value"))
    ctx.create_subcontext("context")
    told = {entry.name: (entry.kind, entry.class_name) for entry in ctx.list_names()}
    assert told == {
        "value": ("value", "int"),
        "reference": ("reference", "Orders"),
        "link": ("link", "link"),
        "context": ("context", "context"),
    }
    source = "cluster" if place.is_ha else "local"
    for entry in ctx.list_names():
        assert (entry.source, entry.node) == (source, "n1")
        assert entry.sources == ["cluster" if place.is_ha else "local:n1"]


def test_bindings_have_values(ctx: Any) -> None:
    ctx.bind("value", {"a": [1]})
    ctx.bind("reference", Reference("Orders", [("url", "http://10.0.0.5")]))
    ctx.bind("link", LinkRef("value"))
    ctx.bind("context/inside", 1, create_parents=True)
    bound = {binding.name: binding.value for binding in ctx.list_bindings()}
    assert bound["value"] == {"a": [1]}
    assert bound["reference"] == Reference("Orders", [("url", "http://10.0.0.5")])
    assert bound["link"] == LinkRef("value")
    assert bound["context"].lookup("inside") == 1


def test_listed_names_can_be_looked_up_as_they_are(ctx: Any) -> None:
    odd = ["a/b", "back\\slash", "'quoted'", '"double"', " blank ", "новый", "."]
    sub = ctx.create_subcontext("odd ones/in here", create_parents=True)
    for component in odd:
        sub.bind(Name.from_components([component]), component)
    assert sorted(sub.lookup(entry.name) for entry in sub.list_names()) == sorted(odd)
    assert sorted(ctx.lookup(entry.name) for entry in ctx.list_names("odd ones/in here")) == sorted(odd)


def test_many_names(ctx: Any) -> None:
    names = [f"n{number:05}" for number in range(2500)]
    for name in names:
        ctx.bind(name, name)
    assert [entry.name for entry in ctx.list_names()] == names
    assert [binding.value for binding in ctx.list_bindings()] == names


@pytest.mark.parametrize("tree", ["all", "cluster", "local"])
def test_trees_can_be_chosen(place: Place, tree: str) -> None:
    place.ctx.bind("a", 1)
    if not place.is_ha and tree == "cluster":
        with pytest.raises(OperationNotSupportedError, match="own tree only"):
            place.ctx.list_names(tree=tree)
        return
    listed = [entry.name for entry in place.ctx.list_names(tree=tree)]
    assert listed == (["a"] if tree == "all" or (tree == "cluster") is place.is_ha else [])


def test_an_unknown_tree(ctx: Any) -> None:
    with pytest.raises(ConfigurationError, match="all, cluster or local"):
        ctx.list_names(tree="global")


def test_listing_what_is_not_there_in_a_subcontext(ctx: Any) -> None:
    sub = ctx.create_subcontext("a")
    with pytest.raises(NameNotFoundError) as caught:
        sub.list_names("b")
    assert caught.value.name == "b"
