"""Tables fit the terminal, and show nothing that would steer it."""

from __future__ import annotations

import pytest

from hanaming.cli import tables
from hanaming.cli.errors import printable

ROWS = [["orders", "http://10.0.0.5:8080/a/rather/long/path", "n1"], ["zahlungen-東京", "1", "n2"]]


@pytest.mark.parametrize("width", [30, 40, 60, 200])
def test_no_line_is_wider_than_the_terminal(width):
    lines = tables.lines(["name", "value", "node"], ROWS, width=width)
    assert len(lines) == 3
    assert all(tables.cells(line) <= width for line in lines)


def test_nothing_is_cut_where_the_output_is_no_terminal():
    text = "\n".join(tables.lines(["name", "value", "node"], ROWS, width=None))
    assert "…" not in text
    assert ROWS[0][1] in text


def test_columns_stand_under_each_other_with_wide_characters():
    lines = tables.lines(["name", "value", "node"], ROWS, width=None)
    ends = {tables.cells(line[: line.rindex("n")]) for line in lines}
    assert len(ends) == 1


def test_numbers_are_set_flush_right():
    assert tables.lines(["n", "count"], [["a", "7"], ["b", "1234"]], width=None, right=[1]) == [
        "n  count",
        "a      7",
        "b   1234",
    ]


def test_a_cell_is_one_line(capsys):
    tables.show(["a"], [["x\ny"]])
    assert capsys.readouterr().out == "a\nx\\ny\n"


def test_control_characters_are_shown_not_sent():
    assert printable("a\x1b[2Jb\x9b\u202e\n") == "a\\x1b[2Jb\\x9b\\u202e\\n"
