"""What is known of a cluster's nodes, and what a node says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from hanaming._show import duration, table


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
        rows = [(m.name, m.address, m.state) for m in self.members]
        return table(f"View {self.id:x}", ("member", "address", "state"), rows)


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

    def _repr_html_(self) -> str:
        about = [
            ("address", self.address),
            ("cluster", self.cluster),
            ("state", self.state),
            ("up for", duration(self.uptime)),
            ("names in its local tree", self.local_names),
            ("names in the cluster tree", self.cluster_names),
            ("writes seen", self.tree.writes),
            ("digest", self.tree.digest),
            ("conflicts", self.tree.conflicts),
            ("lagging behind it", ", ".join(self.tree.lagging) or "nobody"),
            ("open connections", self.connections),
            ("requests served", self.requests),
            *(("warning", warning) for warning in self.warnings),
        ]
        members = [(member.name, member.address, member.state) for member in self.members]
        settings = [(setting.name, setting.value, setting.source) for setting in self.settings]
        return (
            table(f"Node {self.node}", ("", ""), about)
            + table("Members", ("member", "address", "state"), members)
            + table("Settings", ("setting", "value", "from"), settings)
        )
