"""What a person at a terminal sees: tables that fit it, with rich and without, and no colour where none is wanted."""

from __future__ import annotations

import os
import pty
import re
import subprocess

import pytest

from cli_support import HANAMING, LIMIT, environment, run, serving
from hanaming.cli import tables

SEQUENCE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


@pytest.fixture(scope="module")
def node():
    with serving("--name", "solo") as served:
        value = '"http://10.0.0.5:8080/a/path/that/is/longer/than/any/terminal/is/wide/a/path/that/is/longer"'
        assert run("bind", "-p", "wide/orders", value, provider=served.url).status == 0
        assert run("bind", "wide/x", "1", provider=served.url).status == 0
        yield served


def on_terminal(*args, width, **env):
    """Runs a command with a terminal for its standard output, and gives what the terminal was sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*HANAMING, *args], stdout=theirs, env=environment(**{"COLUMNS": str(width), "TERM": "xterm-256color", **env})
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side has closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert process.wait(LIMIT) == 0
    return shown.decode()


@pytest.mark.parametrize("width", [50, 80])
def test_tables_fit_the_terminal(node, width):
    shown = on_terminal("ls", "-l", "wide", "--provider", node.url, width=width)
    lines = SEQUENCE.sub("", shown).splitlines()
    assert any("wide/orders" in line for line in lines)
    assert any("…" in line for line in lines)
    assert all(tables.cells(line.rstrip()) <= width for line in lines)


def test_no_color_is_honoured(node):
    shown = on_terminal("ls", "-l", "wide", "--provider", node.url, width=80, NO_COLOR="1")
    colours = [code for code in SEQUENCE.findall(shown) if re.search(r"[\[;](3[0-7]|38|4[0-7]|48|9[0-7])[;m]", code)]
    assert colours == []


def test_a_value_is_laid_out_for_reading(node):
    assert run("bind", "wide/dict", '{"a": 1, "b": [2]}', provider=node.url).status == 0
    assert '"a": 1,\r\n' in on_terminal("lookup", "wide/dict", "--provider", node.url, width=80)
