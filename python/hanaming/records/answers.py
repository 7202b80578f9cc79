"""What operations on names return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hanaming._show import counted, duration, short, table, where

from .attempts import Attempt, Attempts

if TYPE_CHECKING:
    from hanaming.types import Value

_SHOWN = 100
"""So many rows of a listing are in its table."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a name is bound to, and how that was found out."""

    value: Any
    """The value as it is bound; a `Reference` is not handed to an object factory."""
    source: Literal["cluster", "local", "peer"]
    """The step of the lookup rule that answered."""
    node: str
    """The node in whose tree it stands."""
    version: str | None
    """Which write made it."""
    elapsed: float
    """How long the operation took, in seconds."""
    asked: list[str]
    """The nodes that were asked, the answering node first."""
    attempts: list[Attempt]
    """What was tried, in order."""
    stale: bool = False
    """There may be a newer value: every server that answers lacks some of what this context has seen of the cluster tree, or
    (`cache=True`) none is left to ask, and this is what was known last."""

    def __repr__(self) -> str:
        stale = ", stale" if self.stale else ""
        return f"<Resolution {short(self.value)} from {where(self.source, self.node)}, {duration(self.elapsed)}{stale}>"

    def _repr_html_(self) -> str:
        rows = [
            ("value", short(self.value, 200)),
            ("from", where(self.source, self.node)),
            ("version", self.version or "none"),
            ("asked", ", ".join(self.asked)),
            ("took", duration(self.elapsed)),
        ]
        if self.stale:
            rows.append(("stale", "no server is left to ask; this was known last"))
        attempts = Attempts(self.attempts)._repr_html_() if self.attempts else ""
        return table("Resolution", ("", ""), rows) + attempts


@dataclass(frozen=True, slots=True)
class NameEntry:
    """One row of a listing."""

    name: str
    """The name, relative to the context that was asked; it can be given back to `lookup` as it is."""
    kind: Literal["value", "reference", "link", "context"]
    """What kind of thing is bound there."""
    class_name: str
    """The class of the value, as its binder named it."""
    source: str
    """The step of the lookup rule that a lookup would be answered by: cluster, local or peer."""
    node: str
    """The node that would answer."""
    sources: list[str]
    """All trees that have the name, the answering one first: `"cluster"`, `"local:n1"`, `"peer:n2"`."""

    def __repr__(self) -> str:
        return f"<NameEntry {self.name!r}: {self.kind} {self.class_name}, {where(self.source, self.node)}>"


@dataclass(frozen=True, slots=True)
class Binding(NameEntry):
    """One row of a listing, with the value."""

    value: Any
    """The value as it is bound, or the context; a `Reference` is not handed to an object factory."""
    version: str | None = field(default=None, compare=False)
    """Which write made it."""

    def __repr__(self) -> str:
        return f"<Binding {self.name!r}: {short(self.value)}, {where(self.source, self.node)}>"


class Listing(list[NameEntry]):
    """The rows of a listing, in order: a list that is a table in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        has_values = any(isinstance(row, Binding) for row in self)
        rows = [
            (
                f"{row.name}/" if row.kind == "context" else row.name,
                _bound(row) if has_values else row.class_name,
                where(row.source, row.node),
                ", ".join(row.sources[1:]),
            )
            for row in self[:_SHOWN]
        ]
        more = len(self) - len(rows)
        note = f"and {counted(more, 'more name')}" if more else ""
        headings = ("name", "value" if has_values else "what", "from", "also in")
        return table(counted(len(self), "name"), headings, rows, note)


def _bound(row: NameEntry) -> str:
    return short(row.value) if isinstance(row, Binding) and row.kind != "context" else ""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a watched name."""

    kind: Literal["added", "removed", "changed", "renamed", "conflict", "resynchronised"]
    """What: `conflict` means that versions of it disagree, `resynchronised` that something was missed."""
    name: str
    """The name, relative to the context that was asked: of a rename the new one. It can be given back to `lookup`."""
    old: Binding | None
    """What this watch told of it last: of a rename, of the old name."""
    new: Binding | None
    """What is bound there now."""

    def __repr__(self) -> str:
        told = [short(side.value) if side is not None else "-" for side in (self.old, self.new)]
        name = f"{self.old.name!r} → {self.name!r}" if self.kind == "renamed" and self.old else repr(self.name)
        return f"<Event {self.kind} {name}: {' → '.join(told)}>"


@dataclass(frozen=True, slots=True)
class Instance:
    """One process that offers a service."""

    node: str
    """The node it is registered with; its own name where a context registered it."""
    value: Any
    """What it registered."""
    weight: float
    """Its share relative to the others."""
    metadata: dict[str, Value]
    """What it tells beside its value."""
    source: str
    """Where the registration stands: cluster, local or peer."""

    def __repr__(self) -> str:
        return f"<Instance {short(self.value)} on {self.node}, weight {self.weight:g}>"


@dataclass(frozen=True, slots=True)
class Receipt:
    """By whom a write was acknowledged."""

    version: str | None
    """The version that the write made; `None` where nothing changed, or where a local tree's answer was lost but for its
    header, which says that it was done."""
    acked_by: list[str]
    """The nodes that hold it."""
    live: int
    """How many members were live."""
    members: int
    """How many members the cluster has."""

    def __repr__(self) -> str:
        return f"<Receipt {self.version}: held by {', '.join(self.acked_by)}; {self.live} of {self.members} live>"

    def _repr_html_(self) -> str:
        rows = [
            ("version", self.version or "none"),
            ("held by", ", ".join(self.acked_by)),
            ("live", f"{self.live} of {counted(self.members, 'member')}"),
        ]
        return table("Receipt", ("", ""), rows)


@dataclass(frozen=True, slots=True)
class OperationStatus:
    """What became of a change of the cluster tree, as far as the live nodes know."""

    state: Literal["done", "pending", "withdrawn", "forgotten", "unknown"]
    """`done`: it took effect. `pending`: it is stored, and may yet be withdrawn. `withdrawn`: it was taken back.
    `forgotten`: it may have run, too long ago to be known. `unknown`: nobody who answered knows of it; with nobody
    silent it did not run."""
    name: str | None
    """The name that it changed, from the root, where it is done or pending."""
    version: str | None
    """The write that it made."""
    silent: list[str]
    """The live nodes that did not answer, where it is unknown."""

    def __repr__(self) -> str:
        told = [f" of {self.name!r}" if self.name is not None else ""]
        told += [f", version {self.version}"] if self.version is not None else []
        told += [f"; silent: {', '.join(self.silent)}"] if self.silent else []
        return f"<OperationStatus {self.state}{''.join(told)}>"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, str]] = [("state", self.state)]
        rows += [("name", self.name)] if self.name is not None else []
        rows += [("version", self.version)] if self.version is not None else []
        rows += [("silent", ", ".join(self.silent))] if self.silent else []
        return table("What became of the operation", ("", ""), rows)
