"""What operations return beside values: small, frozen, picklable, comparable.

Rust builds them by position, so the order of fields is part of the agreement with `src/python/records.rs`. Each has
a short `repr` and, where people look at it, an HTML form for notebooks; showing one never uses the network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hanaming.failure import CompletionStatus

__all__ = [
    "Attempt",
    "Attempts",
    "Binding",
    "CheckReport",
    "Conflict",
    "Event",
    "Hidden",
    "Instance",
    "Member",
    "Metrics",
    "Mismatch",
    "NameEntry",
    "NodeStatus",
    "OperationStatus",
    "Receipt",
    "Resolution",
    "Setting",
    "Target",
    "Targets",
    "View",
]


def _html(function: str, *args: Any) -> str:
    """One of `hanaming.html`'s forms; the module is only loaded where something is shown."""
    from hanaming import html  # noqa: PLC0415

    form: Callable[..., str] = getattr(html, function)
    return form(*args)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a call at one target."""

    target: str
    """The target as `host:port`; `"in process"` for a node of this process."""
    phase: str
    """How far it came: resolve, connect, handshake, send, wait, receive or answer."""
    outcome: str
    """What came back, in words."""
    completion: CompletionStatus
    """Whether the request ran at this target."""
    elapsed: float
    """How long it took, in seconds."""
    why_next: str | None
    """Why another attempt followed; `None` for the last."""

    def __str__(self) -> str:
        told = f"{self.target}: {self.outcome} ({self.phase}, {self.completion.value}, {1000 * self.elapsed:.1f} ms)"
        return f"{told}; {self.why_next}" if self.why_next else told


class Attempts(list[Attempt]):
    """A call's attempts, in order."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return _html("attempts", self)


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
        return (
            f"<Resolution {_short(self.value)} from {_where(self.source, self.node)}, {_duration(self.elapsed)}{stale}>"
        )

    def _repr_html_(self) -> str:
        return _html("resolution", self)


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
        return f"<NameEntry {self.name!r}: {self.kind} {self.class_name}, {_where(self.source, self.node)}>"


@dataclass(frozen=True, slots=True)
class Binding(NameEntry):
    """One row of a listing, with the value."""

    value: Any
    """The value as it is bound, or the context; a `Reference` is not handed to an object factory."""
    version: str | None = field(default=None, compare=False)
    """Which write made it."""

    def __repr__(self) -> str:
        return f"<Binding {self.name!r}: {_short(self.value)}, {_where(self.source, self.node)}>"


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
        told = [_short(side.value) if side is not None else "-" for side in (self.old, self.new)]
        name = f"{self.old.name!r} → {self.name!r}" if self.kind == "renamed" and self.old else repr(self.name)
        return f"<Event {self.kind} {name}: {' → '.join(told)}>"


@dataclass(frozen=True, slots=True)
class Instance:
    """One process that offers a service."""

    node: str
    """The node it is registered with."""
    value: Any
    """What it registered."""
    weight: float
    """Its share relative to the others."""
    metadata: Mapping[str, Any]
    """What it tells beside its value."""
    source: str
    """Where the registration stands: cluster, local or peer."""

    def __repr__(self) -> str:
        return f"<Instance {_short(self.value)} on {self.node}, weight {self.weight:g}>"


@dataclass(frozen=True, slots=True)
class Receipt:
    """By whom a write was acknowledged."""

    version: str | None
    """The version that the write made; `None` where nothing changed."""
    acked_by: list[str]
    """The nodes that hold it."""
    live: int
    """How many members were live."""
    members: int
    """How many members the cluster has."""

    def __repr__(self) -> str:
        return f"<Receipt {self.version}: held by {', '.join(self.acked_by)}; {self.live} of {self.members} live>"


@dataclass(frozen=True, slots=True)
class Target:
    """A server as a client sees it."""

    hostname: str
    """Its name as its source gives it: the name in DNS behind the address."""
    host: str
    """The address that is dialled."""
    port: int
    """Its port."""
    origin: str
    """Where it's known from: provider, dns, srv, view, reference, service."""
    age: float
    """For how long it has been known, in seconds."""
    state: str
    """Whether it is used now."""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"<Target {self} {self.state}, from {self.origin}>"


class Targets(list[Target]):
    """The servers that a client knows, as they were when it was asked."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return _html("servers", self)


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a client has counted of its servers since it was made: numbers that only grow."""

    refreshes: int
    """How often a source was asked who the servers are."""
    failed_refreshes: int
    """How often that gave no list, or an empty one; nothing was removed then."""
    joined: int
    """Targets that came, the first ones among them."""
    drained: int
    """Targets that no source lists any longer."""
    moves: int
    """How often an elected target was given up for another that was well, so that the load is even."""


@dataclass(frozen=True, slots=True)
class Member:
    """A node of the cluster, as a view names it."""

    name: str
    """Its name, unique in its cluster."""
    address: str
    """The address that it advertises, as `host:port`."""
    state: str
    """Where it stands in its life: joining, live or quiescing."""

    def __repr__(self) -> str:
        return f"<Member {self.name} at {self.address}, {self.state}>"


@dataclass(frozen=True, slots=True)
class View:
    """The live members at one moment. Views of the same members have the same id."""

    id: int
    """Changes whenever a member comes, goes or changes its state."""
    members: list[Member]
    """The members, in order of their names."""

    def __repr__(self) -> str:
        told = ", ".join(m.name if m.state == "live" else f"{m.name} ({m.state})" for m in self.members)
        return f"<View {self.id:x}: {told or 'nobody'}>"

    def _repr_html_(self) -> str:
        return _html("view", self)


@dataclass(frozen=True, slots=True)
class Setting:
    """One of the settings that a node runs with."""

    name: str
    """Its name, as that of the argument or the key in the file: listen, seeds, cluster."""
    value: str
    """Its value, in words."""
    source: str
    """Where it is from: default, argument, flag, a file's path, an environment variable."""


@dataclass(frozen=True, slots=True)
class TreeCopy:
    """How a node's copy of the cluster tree compares with the others'. All is of one moment."""

    writes: int
    """How many writes it has seen: fewer than another node by as many as it lags behind."""
    seen: str
    """Which writes it has seen: equal where it's the same ones."""
    digest: str
    """Equal where the same versions stand at the same names: always, where the same writes were seen."""
    conflicts: int
    """Names at which versions disagree; `check()` lists them."""
    lagging: list[str]
    """Nodes that missed a write of this one and have not caught up."""


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """What a node says of itself, for people."""

    node: str
    """Its name."""
    address: str
    """The address that it advertises, as `host:port`."""
    state: str
    """Where it stands in its life: joining, live or quiescing."""
    cluster: str
    """Its cluster's name."""
    members: list[Member]
    """Its view: the live members, itself among them."""
    local_names: int
    """How many names its local tree has."""
    cluster_names: int
    """How many names its copy of the cluster tree has."""
    connections: int
    """Open connections."""
    requests: int
    """Requests served since it started."""
    uptime: float
    """Seconds since it started."""
    warnings: list[str]
    """What a person should see, such as two clusters that refuse each other."""
    settings: list[Setting]
    """What it runs with, and where each setting is from."""
    tree: TreeCopy
    """How its copy of the cluster tree compares with the others'."""

    def __repr__(self) -> str:
        return f"<NodeStatus of {self.node} at {self.address}, {self.state}>"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A name whose cluster entry has several versions. The name is full, from the root."""

    name: str
    shown: Binding
    """What a lookup gives."""
    others: list[Binding]
    """What it hides."""


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
        return _html("check_report", self)


def _short(value: Any, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _where(source: str, node: str) -> str:
    return f"{source} ({node})"


def _duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    milliseconds = 1000 * seconds
    return f"{milliseconds:.2g} ms" if milliseconds >= 1 else f"{1000 * milliseconds:.0f} µs"
