"""How things look: their words, and the HTML tables and trees of which all forms for notebooks are made.

Tables and trees take the page's own colours (nothing but opacity is set, so dark themes work), carries no script and escapes all
that came from elsewhere. Who shows something knows it already: a display never uses the network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CELL = "padding:0.15em 0.8em 0.15em 0;text-align:left;vertical-align:top"
_FAINT = "opacity:0.65"
_PART = "margin-bottom:0.6em"
_LIST = "margin:0;padding-left:1.4em"


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
    if milliseconds >= 1:
        return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"  # noqa: PLR2004
    return f"{1000 * milliseconds:.0f} µs"


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell that shows a span of time: where it began and how long it was, as parts of the whole."""

    began: float
    length: float

    def html(self) -> str:
        """A line of the text's own colour: what stays blank is time, too."""
        before, width = (min(max(100 * part, 0.0), 100.0) for part in (self.began, self.length))
        line = f"margin-left:{before:.1f}%;width:{min(width, 100 - before):.1f}%;min-width:2px;border-top:0.6em solid"
        return f'<div style="width:10em"><div style="{line};opacity:0.55;margin-top:0.35em"></div></div>'


@dataclass(frozen=True, slots=True)
class Wide:
    """A cell for the longest texts of a table: they wrap, so that all columns fit into a notebook's page."""

    text: str
    below: str
    """What is less important."""

    def html(self) -> str:
        """Both; a path or a class without blanks wraps as well."""
        below = f'<div style="{_FAINT};font-size:90%">{_escaped(self.below)}</div>'
        return f'<div style="max-width:48em;overflow-wrap:anywhere">{_escaped(self.text)}{below}</div>'


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """The rows in HTML, below their caption; without rows the caption alone."""

    def told(cell: Any) -> str:
        return cell.html() if isinstance(cell, (Bar, Wide)) else _escaped(str(cell))

    head = "".join(f'<th style="{_CELL};{_FAINT}">{_escaped(word)}</th>' for word in headings)
    body = "".join("<tr>" + "".join(f'<td style="{_CELL}">{told(cell)}</td>' for cell in row) + "</tr>" for row in rows)
    note = f'<div style="{_FAINT}">{_escaped(note)}</div>' if note else ""
    # Without words above them the columns need no line.
    head = f"<thead><tr>{head}</tr></thead>" if any(headings) else ""
    framed = f"<table>{head}<tbody>{body}</tbody></table>" if body else ""
    return f'<div style="{_PART}"><div><b>{_escaped(caption)}</b></div>{framed}{note}</div>'


class NameTree:
    """The names of a tree that a node has at hand: the first ones with what is bound there, and how many there are."""

    def __init__(self, title: str, rows: Sequence[tuple[Sequence[str], bool, Any]], total: int) -> None:
        self._title, self._shown, self._total = title, len(rows), total
        self._root = _Branch()
        for components, is_context, value in rows:
            self._root.at(components).told = "/" if is_context else f": {short(value)}"

    def _repr_html_(self) -> str:
        more = self._total - self._shown
        note = f'<div style="{_FAINT}">and {counted(more, "more name")}</div>' if more > 0 else ""
        caption = f"<div><b>{_escaped(self._title)}: {counted(self._total, 'name')}</b></div>"
        return f'<div style="{_PART}">{caption}{self._root.html()}{note}</div>'


@dataclass(slots=True)
class _Branch:
    """A name's last component: what is told of it, and what stands beneath."""

    told: str = "/"
    beneath: dict[str, _Branch] = field(default_factory=dict)

    def at(self, components: Sequence[str]) -> _Branch:
        branch = self
        for component in components:
            branch = branch.beneath.setdefault(component, _Branch())
        return branch

    def html(self) -> str:
        items = (
            f"<li>{_escaped(name)}{_escaped(branch.told)}{branch.html()}</li>" for name, branch in self.beneath.items()
        )
        return f'<ul style="{_LIST}">{"".join(items)}</ul>' if self.beneath else ""


def _escaped(text: str) -> str:
    from html import escape  # noqa: PLC0415 - only where something is shown

    return escape(text)


def context(title: str, about: Sequence[tuple[str, str]], known: Sequence[Any]) -> str:
    """A context or a node: what it is, then the forms of what it knows, where it knows something."""
    return table(title, ("", ""), about) + "".join(each._repr_html_() for each in known if each)
