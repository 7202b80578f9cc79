"""The servers that a client knows."""

from __future__ import annotations

from dataclasses import dataclass

from hanaming._show import duration, table


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
    """Where it's known from: provider, dns, srv, mdns, view, reference, service."""
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
        rows = [(str(t), t.state, t.origin, duration(t.age)) for t in self]
        return table("Targets", ("target", "state", "known from", "known for"), rows)


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a client has counted of its servers since it was made: numbers that only grow."""

    refreshes: int
    """How often a source was asked who the servers are."""
    failed_refreshes: int
    """How often that gave no list, an empty one, or one without a family of addresses; nothing was removed then."""
    joined: int
    """Targets that came, the first ones among them."""
    drained: int
    """Targets that no source lists any longer."""
    moves: int
    """How often an elected target was given up for another that was well, so that the load is even."""

    def _repr_html_(self) -> str:
        rows = [
            ("sources asked who the servers are", self.refreshes),
            ("… that gave no list; nothing was removed then", self.failed_refreshes),
            ("targets that came", self.joined),
            ("targets that no source lists any longer", self.drained),
            ("elected targets given up for an even load", self.moves),
        ]
        return table("Metrics", ("since the client was made", ""), rows)
