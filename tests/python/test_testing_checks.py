"""The helpers' verdicts, and what they say."""

from __future__ import annotations

import pytest

from hanaming.testing import assert_applied_once, assert_balanced


@pytest.mark.parametrize(
    ("calls", "options"),
    [
        (["a", "b", "a", "b"], {}),
        ({"a": 30, "b": 20}, {}),
        (["a"] * 30 + ["b"] * 20, {"among": ["a", "b"]}),
        ({"a": 3, "b": 1}, {"ratio": 3}),
        ([1, 2, "1"], {"ratio": 2}),
    ],
)
def test_even(calls, options):
    assert_balanced(calls, **options)


@pytest.mark.parametrize(
    ("calls", "options", "says"),
    [
        (["a"] * 31 + ["b"] * 20, {}, "not even, by more than 1.5 to 1: a: 31, b: 20"),
        ({"a": 10, "b": 0}, {}, "not even, by more than 1.5 to 1: a: 10, b: 0"),
        (["a"], {"among": ["a", "b", "c"]}, r"never called: b, c \(a: 1\)"),
        ({"a": 1, "b": 0}, {"among": ["a", "b"]}, r"never called: b \(a: 1, b: 0\)"),
        (["a", "b"], {"among": ["a"]}, r"called, and should not be: b \(a: 1, b: 1\)"),
        ([], {}, "there were no calls at all"),
        ([], {"among": ["a"]}, r"never called: a \(no calls at all\)"),
    ],
)
def test_not_even(calls, options, says):
    with pytest.raises(AssertionError, match=f"^{says}$"):
        assert_balanced(calls, **options)


def test_a_ratio_that_is_none():
    with pytest.raises(ValueError, match=r"ratio: 0\.5 is less than 1"):
        assert_balanced(["a"], ratio=0.5)


def test_once():
    assert_applied_once([])
    assert_applied_once(["a", "b", "c"], accepted=["a", "c"])


@pytest.mark.parametrize(
    ("applied", "accepted", "says"),
    [
        (["a", "b", "a"], [], r"done more than once: a \(2 times\)"),
        (["a"], ["a", "b"], "accepted and never done: b"),
        (["a", "a"], ["b"], r"done more than once: a \(2 times\); accepted and never done: b"),
        ([], range(12), "accepted and never done: 0, 1, 10, 11, 2, 3, 4, 5, 6, 7 and 2 more"),
    ],
)
def test_not_once(applied, accepted, says):
    with pytest.raises(AssertionError, match=f"^{says}$"):
        assert_applied_once(applied, accepted=accepted)


@pytest.mark.parametrize("where", ["applied", "accepted"])
def test_what_is_no_id(where):
    given = {"applied": ["a"], "accepted": ["a"], where: ["a", {"a": 1}]}
    with pytest.raises(TypeError, match=rf"^{where}\[1\] must be an id that can be hashed, .*, not dict$"):
        assert_applied_once(given["applied"], accepted=given["accepted"])
