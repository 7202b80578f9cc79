"""The reference names all that there is: each public name has its place, and the wire's tables are the source's."""

from __future__ import annotations

import re

import pytest

import hanaming
import hanaming.aio
import hanaming.jndi
import hanaming.simulation
import hanaming.testing
from hanaming.exceptions import _BY_CODE
from test_docs import ROOT

REFERENCE = ROOT / "docs" / "reference"
WIRE = (REFERENCE / "wire.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "module", [hanaming, hanaming.aio, hanaming.jndi, hanaming.simulation, hanaming.testing], ids=lambda m: m.__name__
)
def test_every_public_name_has_its_place(module):
    pages = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))
    placed = set(re.findall(r"^::: ([\w.]+)$", pages, re.MULTILINE))
    assert {f"{module.__name__}.{name}" for name in module.__all__ if name != "__version__"} <= placed


def table(heading):
    """The first two columns of the table below a heading."""
    section = WIRE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return {int(number): name for number, name in re.findall(r"^\| (\d+) \| `?(\w+)`? \|", section, re.MULTILINE)}


def source(file, pattern):
    text = (ROOT / "src" / "protocol" / file).read_text(encoding="utf-8")
    return {int(number): name for name, number in re.findall(pattern, text)}


def test_the_error_codes_are_those_of_the_source():
    assert table("The outcome is in the header") == {code: kind.__name__ for code, kind in _BY_CODE.items()}


def test_the_operations_are_those_of_the_source():
    assert table("Operations") == source("operation.rs", r"Self::(\w+)(?: \{ \.\. \}|\(_\))? => (\d+),")


def test_the_frames_are_those_of_the_source():
    kinds = source("frame.rs", r"\b(\w+) = (\d),")
    assert table("Frames") == {number: name.lower() for number, name in kinds.items()}
