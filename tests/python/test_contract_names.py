"""What is given for a name, in every place: refused before anything is sent, and the error says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hanaming import CompletionStatus, InvalidNameError, Name

READS: dict[str, Callable[[Any, Any], Any]] = {
    "lookup": lambda ctx, name: ctx.lookup(name),
    "get": lambda ctx, name: ctx.get(name),
    "lookup_link": lambda ctx, name: ctx.lookup_link(name),
    "lookup_many": lambda ctx, name: ctx.lookup_many([name]),
    "resolve": lambda ctx, name: ctx.resolve(name),
    "resolve all": lambda ctx, name: ctx.resolve(name, all=True),
    "list_names": lambda ctx, name: ctx.list_names(name),
    "list_bindings": lambda ctx, name: ctx.list_bindings(name),
    "wait_for": lambda ctx, name: ctx.wait_for(name, timeout=5),
    "check": lambda ctx, name: ctx.check(name),
}

BAD = {
    "an empty component": "a//b",
    "a first empty component": "/a",
    "over 1 KiB": "ä" * 513,
    "over 32 components": "/".join("x" * 33),
    "an open quote": "a/'b",
    "a trailing escape": "a\\",
    "a lone surrogate": "a\ud800",
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("name", BAD.values(), ids=BAD)
def test_a_bad_name(ctx: Any, read: Callable[[Any, Any], Any], name: str) -> None:
    with pytest.raises(InvalidNameError) as caught:
        read(ctx, name)
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.completion is CompletionStatus.NO
    if "\ud800" not in name:
        assert error.name == name


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("name", [None, 1, b"a", ["a"]], ids=repr)
def test_what_is_no_name(ctx: Any, read: Callable[[Any, Any], Any], name: Any) -> None:
    with pytest.raises(TypeError, match="must be a str or a Name"):
        read(ctx, name)


def test_the_longest_names(ctx: Any) -> None:
    ctx.bind("x" * 1024, 1)
    assert ctx.lookup("x" * 1024) == 1
    deep = "/".join("x" * 32)
    ctx.bind(deep, 2, create_parents=True)
    assert ctx.lookup(deep) == 2


def test_a_name_object_is_taken_everywhere(ctx: Any) -> None:
    name = Name("a") / "b"
    ctx.bind(name, 1, create_parents=True)
    assert ctx.lookup(name) == 1
    assert ctx.lookup_many([name]) == {"a/b": 1}
    assert [entry.name for entry in ctx.list_names(name[:1])] == ["a/b"]
    ctx.rename(name, Name("c"))
    assert ctx.unbind(Name("c")) is True


@pytest.mark.parametrize(("spelt", "canonical"), [("'a'", "a"), ('"a/b"', "a\\/b"), ("a\\b", "a\\b")])
def test_one_name_spelt_in_two_ways(ctx: Any, spelt: str, canonical: str) -> None:
    ctx.bind(spelt, 1)
    assert ctx.lookup(str(Name(spelt))) == 1
    assert Name.from_components(Name(canonical)) == Name(spelt) or spelt == canonical
