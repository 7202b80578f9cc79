"""`Reference` and `LinkRef` as values of their own: equal, hashable, immutable, picklable."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from hanaming import InvalidValueError, LinkRef, Name, Reference

REFERENCE = Reference("Orders", [("url", "http://x"), ("stub", b"\0")], "orders")


@pytest.mark.parametrize("value", [REFERENCE, Reference(""), LinkRef("a/b"), LinkRef("./x")], ids=repr)
def test_they_pickle_and_copy(value: Any) -> None:
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again == value
        assert hash(again) == hash(value)
        assert type(again) is type(value)


def test_they_are_equal_where_all_is() -> None:
    assert Reference("Orders", [("url", "http://x"), ("stub", b"\0")], "orders") == REFERENCE
    assert Reference("Orders", [("url", "http://x")], "orders") != REFERENCE
    assert Reference("Orders", [("url", "x")]) != Reference("Orders", [("url", b"x")])
    assert LinkRef("a") != LinkRef("b")
    assert LinkRef("a") != "a"
    assert LinkRef(Name("a")) == LinkRef("a")


def test_they_are_immutable() -> None:
    with pytest.raises(AttributeError):
        REFERENCE.class_name = "x"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        LinkRef("a").target = "x"  # type: ignore[misc]
    REFERENCE.addresses.clear()
    assert len(REFERENCE.addresses) == 2


def test_their_fields() -> None:
    assert REFERENCE.class_name == "Orders"
    assert REFERENCE.addresses == [("url", "http://x"), ("stub", b"\0")]
    assert REFERENCE.factory == "orders"
    assert Reference("A").addresses == []
    assert Reference("A").factory is None
    assert LinkRef("./x").target == "./x"


@pytest.mark.parametrize(
    "arguments",
    [
        (1,),
        ("A", [("url",)]),
        ("A", [("url", 1)]),
        ("A", [(1, "x")]),
        ("A", ["url"]),
        ("A", 1),
        ("A", [], 1),
    ],
    ids=repr,
)
def test_what_is_no_reference(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        Reference(*arguments)


def test_what_is_no_text() -> None:
    for make in (
        lambda: Reference("\ud800"),
        lambda: Reference("A", [("u", "\ud800")]),
        lambda: Reference("A", [], "\ud800"),
        lambda: LinkRef("\ud800"),
    ):
        with pytest.raises(InvalidValueError, match="surrogate"):
            make()
    with pytest.raises(TypeError):
        LinkRef(1)  # type: ignore[arg-type]
