"""Tables that fit: as wide as the terminal, never cut where the output goes to a file or a pipe.

Where rich is installed and the output is a terminal, rich draws them; otherwise plain columns do. `NO_COLOR` is
honoured by both (plain columns have no colour at all).
"""

from __future__ import annotations

import shutil
import sys
import unicodedata
from typing import TYPE_CHECKING

import click

from .errors import printable

if TYPE_CHECKING:
    from collections.abc import Sequence


_NARROWEST = 8
_GAP = 2
# What rich puts between two columns.
_RICH_GAP = 3


def show(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None, right: Sequence[int] = ()
) -> None:
    """Prints a table. `right` are the columns set flush right (numbers)."""
    rows = [[printable(cell) for cell in row] for row in rows]
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    if terminal and _rich(columns, fitted(columns, rows, width, gap=_RICH_GAP), title, right):
        return
    if title:
        click.echo(title)
    for line in lines(columns, rows, width=width, right=right):
        click.echo(line)


def lines(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, width: int | None, right: Sequence[int] = ()
) -> list[str]:
    """The lines of a plain table, each at most `width` cells wide."""
    table = fitted(columns, [columns, *rows], width, gap=_GAP)
    widths = [max(cells(row[i]) for row in table) for i in range(len(columns))]
    made = []
    for row in table:
        pads = [" " * (widths[i] - cells(cell)) for i, cell in enumerate(row)]
        parts = [pad + cell if i in right else cell + pad for i, (cell, pad) in enumerate(zip(row, pads, strict=True))]
        made.append((" " * _GAP).join(parts).rstrip())
    return made


def fitted(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, *, gap: int) -> list[list[str]]:
    """The rows, cut so that a table of them is at most `width` cells wide: the widest column gives way first."""
    widths = [max(cells(row[i]) for row in [columns, *rows]) for i in range(len(columns))]
    if width is not None:
        while sum(widths) + gap * (len(widths) - 1) > width and max(widths) > _NARROWEST:
            widths[widths.index(max(widths))] -= 1
    return [[cut(cell, widths[i]) for i, cell in enumerate(row)] for row in rows]


def cut(text: str, width: int) -> str:
    """The text in at most `width` terminal cells."""
    if cells(text) <= width:
        return text
    kept, used = "", 0
    for c in text:
        used += cells(c)
        if used > width - 1:
            break
        kept += c
    return kept + "…"


def cells(text: str) -> int:
    """How many terminal cells a text takes."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _rich(columns: Sequence[str], rows: Sequence[Sequence[str]], title: str | None, right: Sequence[int]) -> bool:
    try:
        from rich.box import SIMPLE_HEAD  # noqa: PLC0415
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    except ImportError:
        return False
    table = Table(
        title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i in right else "left", overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    Console().print(table)
    return True
