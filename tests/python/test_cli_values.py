"""The JSON form of values: what is written reads back, and what is no value is refused with the reason."""

from __future__ import annotations

import json
import math

import pytest

from hanaming import LinkRef, Reference
from hanaming.cli.values import ValueSyntaxError, compact, dumps, encode, parse


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**63),
        2**63 - 1,
        1.5,
        -0.0,
        math.inf,
        "",
        "Grüße 東京",
        "\x1b[31m",
        b"",
        b"\x00\xff",
        [],
        [1, [2, [b"x"]]],
        {},
        {"a": {"b": None}},
        {"$link": "not a link"},
        {"$dict": {"$dict": 1}},
        {"$anything": 1, "else": 2},
        LinkRef("services/orders"),
        LinkRef("./beside"),
        Reference("DataSource", [("url", "db:5432"), ("key", b"\x01")], "pool"),
        Reference("Plain"),
    ],
)
def test_a_value_reads_back(value):
    text = dumps(encode(value))
    back = parse(text)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(("text", "form"), [("1e999", "inf"), ("[-1e999]", "-inf"), ("NaN", "nan")])
def test_a_float_is_finite_or_has_its_form(text, form):
    with pytest.raises(ValueSyntaxError, match=f'{{"\\$float": "{form}"}}'):
        parse(text)


def test_nan_reads_back():
    assert math.isnan(parse(compact("name", math.nan)))


def test_bool_int_and_float_stay_apart():
    assert [type(v) for v in parse("[true, 1, 1.0]")] == [bool, int, float]


def test_what_is_printed_cannot_steer_a_terminal():
    text = compact("name", {"\x1b]0;title\x07": "\x9b31m\u202e"})
    assert text.isprintable()
    assert json.loads(text) == {"\x1b]0;title\x07": "\x9b31m\u202e"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("http://10.0.0.5", """a string needs quotes: '"http://10.0.0.5"'"""),
        ("{'a': 1}", "not JSON"),
        ("", "not JSON"),
        ('{"a": 1, "a": 2}', '"a" stands twice'),
        ("NaN", '{"$float": "nan"}'),
        ("-Infinity", '{"$float": "-inf"}'),
        ('{"$bytes": "x"}', "not base64"),
        ('{"$bytes": 1}', "$bytes is not followed"),
        ('{"$lnk": "a"}', "$lnk is not one of"),
        ('{"$link": 1}', "$link is not followed"),
        ('{"$float": "one"}', "$float is not followed"),
        ('{"$reference": {}}', "needs class_name"),
        ('{"$reference": {"class_name": "C", "adresses": []}}', "needs class_name and may have"),
        ('{"$reference": {"class_name": "C", "addresses": [["url"]]}}', "addresses are pairs"),
        ('{"$reference": {"class_name": "C", "addresses": [["url", 1]]}}', "addresses are pairs"),
        ('{"$reference": {"class_name": "C", "addresses": {"url": "x"}}}', "addresses are pairs"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_value_is_refused_with_the_reason(text, says):
    with pytest.raises(ValueSyntaxError) as caught:
        parse(text)
    assert says in str(caught.value)
