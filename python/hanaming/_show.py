"""How things look: their words, and the HTML table of which all forms for notebooks are made.

A table takes the page's own colours (nothing but opacity is set, so dark themes work), carries no script and escapes all
that came from elsewhere. Who shows something knows it already: a display never uses the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CELL = "padding:0.15em 0.8em 0.15em 0;text-align:left;vertical-align:top"
_FAINT = "opacity:0.65"


def counted(number: int, what: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def short(value: Any, limit: int = 60) -> str:
    """The value's `repr`, cut to a length."""
    return cut(repr(value), limit)


def cut(text: str, limit: int = 60) -> str:
    """The text, cut to a length."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def where(source: str, node: str) -> str:
    """The step of the lookup rule that answered, and the node."""
    return f"{source} ({node})"


def duration(seconds: float) -> str:
    """A time in the unit in which it reads best."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    milliseconds = 1000 * seconds
    return f"{milliseconds:.2g} ms" if milliseconds >= 1 else f"{1000 * milliseconds:.0f} µs"


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """The rows in HTML, below their caption; without rows the caption alone."""
    from html import escape  # noqa: PLC0415 - only where something is shown

    head = "".join(f'<th style="{_CELL};{_FAINT}">{escape(word)}</th>' for word in headings)
    body = "".join(
        "<tr>" + "".join(f'<td style="{_CELL}">{escape(str(cell))}</td>' for cell in row) + "</tr>" for row in rows
    )
    note = f'<div style="{_FAINT}">{escape(note)}</div>' if note else ""
    framed = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if body else ""
    return f"<div><div><b>{escape(caption)}</b></div>{framed}{note}</div>"


def context(title: str, about: Sequence[tuple[str, str]], known: Sequence[Any]) -> str:
    """A context or a node: what it is, then the forms of what it knows, where it knows something."""
    return table(title, ("", ""), about) + "".join(each._repr_html_() for each in known if each)
