"""What `check()` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hanaming._show import short, table

if TYPE_CHECKING:
    from .answers import Binding, Resolution


@dataclass(frozen=True, slots=True)
class Conflict:
    """A name whose cluster entry has several versions. The name is full, from the root."""

    name: str
    shown: Binding
    """What a lookup gives."""
    others: list[Binding]
    """What it hides."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A name that is bound to different values on different nodes. The name is full, from the root."""

    name: str
    answers: list[Resolution]


@dataclass(frozen=True, slots=True)
class Hidden:
    """A name whose cluster entry hides local ones. The name is full, from the root."""

    name: str
    cluster: Resolution
    """What a lookup gives."""
    local: list[Resolution]
    """What it hides."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What `check()` found; falsy where it found nothing."""

    conflicts: list[Conflict]
    mismatches: list[Mismatch]
    hidden: list[Hidden]

    def __bool__(self) -> bool:
        return bool(self.conflicts or self.mismatches or self.hidden)

    def __repr__(self) -> str:
        if not self:
            return "<CheckReport: nothing found>"
        counts = (("conflict", self.conflicts), ("mismatch", self.mismatches), ("hidden", self.hidden))
        told = "; ".join(f"{word}: {', '.join(repr(item.name) for item in found)}" for word, found in counts if found)
        return f"<CheckReport {told}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str, str]] = []
        for conflict in self.conflicts:
            others = "; ".join(short(other.value) for other in conflict.others)
            rows.append((conflict.name, "conflict", f"{short(conflict.shown.value)} is shown, {others} hidden"))
        rows.extend((found.name, "mismatch", _answers(found.answers)) for found in self.mismatches)
        rows.extend(
            (found.name, "hidden", f"{_answers([found.cluster])} hides {_answers(found.local)}")
            for found in self.hidden
        )
        title = f"Check: {len(rows)} found" if rows else "Check: nothing found"
        return table(title, ("name", "what", "answers"), rows)


def _answers(given: list[Resolution]) -> str:
    return "; ".join(f"{answer.node}: {short(answer.value)}" for answer in given)
