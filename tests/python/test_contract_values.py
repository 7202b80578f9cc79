"""Values, in every place: what can be bound comes back as it was; what can't is refused with its place."""

from __future__ import annotations

import math
from collections import OrderedDict
from enum import IntEnum
from typing import Any

import pytest

from hanaming import LimitExceededError, LinkRef, Name, Reference, register_state_factory

VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**63 - 1,
    -(2**63),
    0.0,
    -0.0,
    1.5,
    math.inf,
    5e-324,
    "",
    "text",
    "\0 and \U0001f600",
    b"",
    b"\x00\xff",
    [],
    {},
    [1, "two", 3.0, None, [True], {"k": b"v"}],
    {"b": 1, "a": {"": [], "nested": {"deep": None}}},
    Reference("Orders"),
    Reference("Orders", [("url", "http://10.0.0.5"), ("stub", b"\x00")], "orders"),
]


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_as_it_was(ctx: Any, value: Any) -> None:
    ctx.bind("v", value)
    found = ctx.lookup("v")
    assert found == value
    assert type(found) is type(value)
    assert repr(found) == repr(value) or isinstance(value, dict)
    assert ctx.get("v") == value
    assert ctx.lookup_many(["v"]) == {"v": value}
    assert ctx.resolve("v").value == value


def test_a_link_in_a_list_is_only_data(ctx: Any) -> None:
    ctx.bind("v", [LinkRef("elsewhere")])
    assert ctx.lookup("v") == [LinkRef("elsewhere")]


def test_what_is_mutable_is_fresh_for_each_caller(ctx: Any) -> None:
    ctx.bind("v", {"list": [1]})
    first = ctx.lookup("v")
    first["list"].append(2)
    first["more"] = 3
    assert ctx.lookup("v") == {"list": [1]}


def test_what_was_bound_is_not_what_the_binder_goes_on_to_change(ctx: Any) -> None:
    value = {"list": [1]}
    ctx.bind("v", value)
    value["list"].append(2)
    assert ctx.lookup("v") == {"list": [1]}


class Thing:
    pass


@pytest.mark.parametrize(
    ("value", "where", "culprit"),
    [
        (object(), "value:", "object"),
        ({"a": [0, 1, 2, {1}]}, "value['a'][3]:", "set"),
        ([(1, 2)], "value[0]:", "tuple"),
        ({"a": {"b": 1j}}, "value['a']['b']:", "complex"),
        (bytearray(b"x"), "value:", "bytearray"),
        ([Thing()], "value[0]:", "Thing"),
        (Name("a"), "value:", "hanaming.Name"),
        ({1: "x"}, "value[1]:", "int"),
        ({"a": [{None: 1}]}, "value['a'][0][None]:", "NoneType"),
        ({b"k": 1}, "value[b'k']:", "bytes"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_no_value(ctx: Any, value: Any, where: str, culprit: str) -> None:
    with pytest.raises(TypeError) as caught:
        ctx.bind("v", value)
    assert str(caught.value).startswith(where)
    assert culprit in str(caught.value)
    assert ctx.list_names() == []


@pytest.mark.parametrize(
    ("value", "where"),
    [(2**63, "value:"), ({"a": [-(2**63) - 1]}, "value['a'][0]:"), ([10**400], "value[0]:")],
    ids=["just", "nested", "huge"],
)
def test_an_int_beyond_64_bits(ctx: Any, value: Any, where: str) -> None:
    with pytest.raises(LimitExceededError, match="64 bits") as caught:
        ctx.bind("v", value)
    assert str(caught.value).startswith(f"'v': {where}")


@pytest.mark.parametrize(
    ("value", "where"),
    [("\ud800", "value:"), (["a", "\udfff"], "value[1]:"), ({"\ud800": 1}, r"value['\ud800']:")],
    ids=["str", "nested", "key"],
)
def test_a_lone_surrogate(ctx: Any, value: Any, where: str) -> None:
    with pytest.raises(ValueError, match="surrogate") as caught:
        ctx.bind("v", value)
    assert str(caught.value).startswith(f"'v': {where}")


def test_the_limit_on_depth(ctx: Any) -> None:
    ctx.bind("v", nested(32))
    assert ctx.lookup("v") == nested(32)
    with pytest.raises(LimitExceededError, match="32 deep"):
        ctx.bind("w", nested(33))


def test_a_cyclic_value(ctx: Any) -> None:
    cyclic: dict[str, Any] = {}
    cyclic["again"] = [cyclic]
    with pytest.raises(LimitExceededError, match="deep"):
        ctx.bind("v", cyclic)


def test_the_limit_on_size(ctx: Any) -> None:
    ctx.bind("v", "x" * 65_000)
    assert ctx.lookup("v") == "x" * 65_000
    for value in ("x" * 65_537, b"x" * 65_537, [None] * 65_537, {str(number): number for number in range(30_000)}):
        with pytest.raises(LimitExceededError, match="65536"):
            ctx.bind("w", value)


def test_a_small_value_that_unfolds_to_a_huge_one(ctx: Any) -> None:
    value: list[Any] = ["x"]
    for _ in range(30):
        value = [value] * 10
    with pytest.raises(LimitExceededError):
        ctx.bind("v", value)


class Level(IntEnum):
    HIGH = 1


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (Level.HIGH, "value: .*Level is no type of value, though a kind of int: .*bind int"),
        ([Text("a")], r"value\[0\]: .*Text is no type of value, though a kind of str"),
        ({"a": OrderedDict(b=1)}, r"value\['a'\]: .*OrderedDict is no type of value, though a kind of dict"),
        ({"a": {Text("b"): 1}}, r"value\['a'\]\['b'\]: the key is of type .*Text; the keys of a dict are str"),
    ],
    ids=["enum", "str", "dict", "key"],
)
def test_an_instance_of_a_subclass_is_no_value(ctx: Any, value: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        ctx.bind("v", value)


def test_but_a_state_factory_can_make_one_of_it(ctx: Any) -> None:
    class Made(int):
        pass

    register_state_factory(Made, int)
    ctx.bind("v", [Made(1)])
    assert type(ctx.lookup("v")[0]) is int
