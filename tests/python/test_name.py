"""`Name`: a sequence of components whose text always reads back."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hanaming import InvalidNameError, Name

ORACLE = Path(__file__).parent.parent / "naming" / "data" / "composite_names.jsonl"
CASES = [json.loads(line) for line in ORACLE.read_text(encoding="utf-8").splitlines()]


def test_the_oracle_is_whole() -> None:
    assert len(CASES) == 356


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["input"]))
def test_names_read_as_in_the_reference(case: dict[str, Any]) -> None:
    if "components" in case:
        name = Name(case["input"])
        assert list(name) == case["components"]
        assert Name(str(name)) == name
    else:
        with pytest.raises(InvalidNameError) as caught:
            Name(case["input"])
        assert caught.value.name == case["input"]


def test_the_empty_name() -> None:
    assert Name() == Name("")
    assert len(Name()) == 0
    assert not Name()
    assert Name("/")
    assert list(Name("/")) == [""]


def test_it_is_a_sequence() -> None:
    name = Name("a/b/c/b")
    assert isinstance(name, Sequence)
    assert len(name) == 4
    assert name[0] == "a"
    assert name[-1] == "b"
    assert "b" in name
    assert 1 not in name  # type: ignore[comparison-overlap]
    assert name.index("b") == 1
    assert name.index("b", 2) == 3
    assert name.index("b", -1) == 3
    assert name.count("b") == 2
    assert name.count(1) == 0
    assert list(reversed(name)) == ["b", "c", "b", "a"]
    with pytest.raises(IndexError):
        name[4]
    with pytest.raises(IndexError):
        name[-5]
    with pytest.raises(ValueError, match="no component"):
        name.index("b", 0, 1)
    with pytest.raises(TypeError):
        name["a"]  # type: ignore[call-overload]


def test_slices_are_names() -> None:
    name = Name("a/b/c")
    assert name[:2] == Name("a/b")
    assert name[-1:] == Name("c")
    assert name[::-1] == Name("c/b/a")
    assert name[5:] == Name("")
    assert name[:] == name


def test_it_joins() -> None:
    assert Name("a") / "b/c" / Name("d") == Name("a/b/c/d")
    assert "a" / Name("b") == Name("a/b")
    assert Name("") / "a" == Name("a") / "" == Name("a")
    with pytest.raises(TypeError):
        Name("a") / 1  # type: ignore[operator]


def test_components_are_taken_as_they_are() -> None:
    name = Name.from_components(["a/b", "'", ""])
    assert list(name) == ["a/b", "'", ""]
    assert Name(str(name)) == name
    with pytest.raises(TypeError):
        Name.from_components([1])  # type: ignore[list-item]


def test_it_is_hashable_and_ordered() -> None:
    assert {Name("a"): 1}[Name("'a'")] == 1
    assert sorted([Name("b"), Name("a/z"), Name("a"), Name("a b")]) == [Name("a"), Name("a/z"), Name("a b"), Name("b")]
    assert Name("a") != "a"
    with pytest.raises(TypeError):
        Name("a") < "b"  # type: ignore[operator]  # noqa: B015


def test_it_is_immutable() -> None:
    name = Name("a")
    with pytest.raises(AttributeError):
        name.text = "b"  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        name[0] = "b"  # type: ignore[index]


@pytest.mark.parametrize("text", ["", "a", "a/b", "'it''s'", "a\\/b", "/"])
def test_it_pickles_and_copies(text: str) -> None:
    name = Name.from_components([text, "x"])
    assert pickle.loads(pickle.dumps(name)) == name
    assert copy.deepcopy(name) == name


def test_repr_reads_back() -> None:
    for name in (Name(""), Name("a/b"), Name.from_components(["'", '"', "\\", "\n"])):
        assert eval(repr(name), {"Name": Name}) == name  # noqa: S307


def test_it_matches_as_a_sequence() -> None:
    match Name("a/b/c"):
        case [first, *rest]:
            assert (first, rest) == ("a", ["b", "c"])
        case _:
            pytest.fail("a name is a sequence")


@pytest.mark.parametrize("text", [1, None, b"a", ["a"]])
def test_what_is_no_name(text: Any) -> None:
    with pytest.raises(TypeError, match="must be a str or a Name"):
        Name(text)


def test_the_error_says_which_character() -> None:
    with pytest.raises(InvalidNameError, match=r"\d"):
        Name("abc/'def")


def test_a_name_over_the_limits_is_still_a_name() -> None:
    assert len(Name("/".join("x" * 100))) == 100
    assert len(str(Name("x" * 5000))) == 5000
