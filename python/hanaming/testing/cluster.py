"""A whole cluster for a test, with its faults."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from hanaming import HAContext, NamingError, aio
from hanaming._arguments import flag, indices, shown, text, time, whole
from hanaming.testing._closing import Closing
from hanaming.testing._relays import Relays
from hanaming.testing._running import InProcess, OfItsOwn
from hanaming.testing._waiting import wait_until
from hanaming.testing.node import ClusterNode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hanaming import NodeStatus

MOST_NODES = 32
# Generous: a loaded machine is no failure.
CONVERGES = 30.0


class Cluster(Closing, Sequence[ClusterNode]):
    """So many nodes that see each other, on free loopback ports; a context manager. They are up when it is made.

    Its nodes are `n0`, `n1`, …: `cluster[0].kill()`, or `cluster["n0"].kill()`. Leaving the block ends every node, thread, process and file,
    whatever happened in it.

    Args:
        nodes: How many; or their names, where they should have others.
        data: Each node keeps its copy of the cluster tree in a folder, for `restart`; all folders are deleted at the end.
        processes: Each is a process of its own, `hanaming serve`, which takes a second or two to start, and ends with the
            thread that started it at the latest. Otherwise they run in this process.

    Raises:
        ValueError: `nodes` is no number from 1 to 32, and no list of so many different names.
        NamingError: A node did not start.
        RuntimeError: A node's process did not start.
    """

    def __init__(self, nodes: int | Sequence[str] = 3, *, data: bool = False, processes: bool = False) -> None:
        names = _named(nodes)
        flag("data", data)
        flag("processes", processes)
        self._clients: list[HAContext | aio.HAContext] = []
        self._is_closed = False
        with ExitStack() as undo:
            folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="hanaming-"))) if data else None
            self._relays = Relays(names)
            undo.callback(self._relays.close)
            kind = OfItsOwn if processes else InProcess
            self._nodes = [self._made(name, folder, kind) for name in names]
            for node in self._nodes:
                undo.callback(node.close)
            self._start(at_once=processes)
            self._undo = undo.pop_all()

    @property
    def provider(self) -> str:
        """All addresses, for a client: `HAContext(cluster.provider)`."""
        return "hn://" + ",".join(node.address for node in self._nodes)

    def client(self, **options: Any) -> HAContext:
        """An HA context on all nodes, which is closed with the cluster; options as those of `HAContext`.

        Raises:
            RuntimeError: The cluster was closed.
        """
        self._must_run()
        made = HAContext(self.provider, **options)
        self._clients.append(made)
        return made

    def aclient(self, **options: Any) -> aio.HAContext:
        """The same for asyncio. It belongs to no event loop before its first call; close it with `async with`.

        Raises:
            RuntimeError: The cluster was closed.
        """
        self._must_run()
        made = aio.HAContext(self.provider, **options)
        self._clients.append(made)
        return made

    def partition(self, *groups: Iterable[int]) -> None:
        """Nodes of different groups don't hear each other: `cluster.partition([0], [1, 2])`.

        What they send each other waits, as packets that are sent again and again; `heal` lets it through. A node of no
        group hears everybody, and clients reach all nodes. Partitions add up.

        Raises:
            ValueError: A node is in two groups, or there are fewer than two groups.
            IndexError: There is no such node.
        """
        named = [self._names(f"groups[{place}]", group) for place, group in enumerate(groups)]
        every = [name for group in named for name in group]
        if len(named) < 2:  # noqa: PLR2004 - as the message says
            raise ValueError("partition takes two groups or more, such as partition([0], [1, 2])")
        if len(set(every)) < len(every):
            raise ValueError("a node is in two groups, or twice in one")
        for group in named:
            self._relays.cut(group, [name for name in every if name not in group])

    def one_way(self, senders: Iterable[int], receivers: Iterable[int]) -> None:
        """Nothing that these nodes send reaches those, until `heal`; the other way all gets through.

        Raises:
            ValueError: No sender has a receiver but itself.
            IndexError: There is no such node.
        """
        sending, receiving = self._names("senders", senders), self._names("receivers", receivers)
        if all(sender == receiver for sender in sending for receiver in receiving):
            raise ValueError("one_way takes senders and receivers that are different nodes, such as one_way([0], [1])")
        self._relays.cut(sending, receiving)

    def heal(self) -> None:
        """All nodes hear each other again. What was paused, killed or quiesced stays so."""
        self._relays.heal()

    def wait_converged(self, nodes: Iterable[int] | None = None, *, within: float = CONVERGES) -> None:
        """Returns when these nodes, or all that are live, see each other and nobody else, and have equal cluster trees.

        Raises:
            TimeoutError: They don't in time; it says how they stand.
            IndexError: There is no such node.
            RuntimeError: The cluster was closed.
        """
        self._must_run()
        time("within", within, or_nothing=True)
        names = (
            self._names("nodes", nodes)
            if nodes is not None
            else [node.name for node in self._nodes if node.state == "live"]
        )
        asked = [node for node in self._nodes if node.name in names]

        def agreed() -> bool:
            try:
                said = [node.status() for node in asked]
            except NamingError:
                return False
            return all(_seen(one) == set(names) for one in said) and len({one.tree.digest for one in said}) <= 1

        wait_until(
            agreed, lambda: f"{', '.join(names)} see each other alone and have equal trees\n{self.report()}", within
        )

    def report(self) -> str:
        """How it stands, for people: each node, who doesn't hear whom, and what clients' last calls went through."""
        lines = [_described(node) for node in self._nodes]
        lines += [f"{receiver} does not hear {sender}" for sender, receiver in self._relays.cuts]
        for number, client in enumerate(self._clients):
            attempts = client.explain() if isinstance(client, HAContext) else client._explain_last()  # noqa: SLF001
            if attempts:
                lines.append(f"client {number}, its last call:")
                lines += [f"  {attempt}" for attempt in attempts]
        return "\n".join(lines)

    def close(self) -> None:
        """Ends it all. Doing so again does nothing."""
        self._is_closed = True
        for client in self._clients:
            if isinstance(client, HAContext):
                client.close()
        self._clients.clear()
        self._undo.close()

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, index: int | str) -> ClusterNode: ...

    @overload
    def __getitem__(self, index: slice) -> list[ClusterNode]: ...

    def __getitem__(self, index: int | str | slice) -> ClusterNode | list[ClusterNode]:
        """A node by its index or its name, or some of them.

        Raises:
            IndexError: There is no such node.
            KeyError: There is none of this name.
        """
        if isinstance(index, slice):
            return self._nodes[index]
        if isinstance(index, str):
            named = [node for node in self._nodes if node.name == index]
            if not named:
                raise KeyError(f"no node is named {index!r}: there are {', '.join(node.name for node in self._nodes)}")
            return named[0]
        return self._node("the index of a node", whole("the index of a node", index))

    def __repr__(self) -> str:
        told = ", ".join(f"{node.name} {node.state}" for node in self._nodes)
        return f"<Cluster of {len(self)}: {told}>"

    def _made(self, name: str, folder: Path | None, kind: type[InProcess | OfItsOwn]) -> ClusterNode:
        running = kind(name, self._relays.address(name), folder / name if folder else None)

        def seeds() -> list[str]:
            return [node.address for node in self._nodes if node.name != name and node.state in {"live", "paused"}]

        return ClusterNode(name, self._relays, running, seeds)

    def _start(self, *, at_once: bool) -> None:
        if at_once:
            # Each waits for those that it knows.
            every = [node.address for node in self._nodes]
            starting = [node.starting([one for one in every if one != node.address]) for node in self._nodes]
            for node, one in zip(self._nodes, starting, strict=True):
                node.started(one)
        else:
            for node in self._nodes:
                node.restart()
        self.wait_converged()

    def _names(self, what: str, nodes: Iterable[int]) -> list[str]:
        return [self._node(f"{what}[{place}]", index).name for place, index in enumerate(indices(what, nodes))]

    def _node(self, what: str, index: int) -> ClusterNode:
        count = len(self._nodes)
        if not -count <= index < count:
            there = f"there are {count} nodes, from 0 to {count - 1}" if count > 1 else "there is one node, 0"
            raise IndexError(f"{what} is {shown(index)}: {there}")
        return self._nodes[index]

    def _must_run(self) -> None:
        if self._is_closed:
            raise RuntimeError("the cluster is closed: it has ended")


def _named(nodes: int | Sequence[str]) -> list[str]:
    names = [f"n{number}" for number in range(min(nodes, MOST_NODES + 1))] if type(nodes) is int else []
    if isinstance(nodes, Sequence) and not isinstance(nodes, str):
        names = [text(f"nodes[{place}]", name) for place, name in enumerate(nodes)]
    if not 1 <= len(names) <= MOST_NODES or len(set(names)) < len(names):
        given = shown(nodes) if type(nodes) is int else repr(nodes)
        raise ValueError(f"nodes: {given} is no number from 1 to {MOST_NODES}, and no list of different names")
    return names


def _seen(status: NodeStatus) -> set[str]:
    return {member.name for member in status.members if member.state == "live"}


def _described(node: ClusterNode) -> str:
    told = f"{node.name} at {node.address}: {node.state}"
    if node.state != "live":
        return told
    try:
        said = node.status()
    except NamingError as error:
        return f"{told}; {error}"
    seen = ", ".join(f"{one.name} ({one.state})" if one.state != "live" else one.name for one in said.members)
    names = f"{said.cluster_names} names in the cluster tree ({said.tree.digest}), {said.local_names} in its own"
    return "\n".join([f"{told}; sees {seen or 'nobody'}; {names}", *(f"  {warning}" for warning in said.warnings)])
