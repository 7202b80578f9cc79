"""One node of a cluster, and what can be done to it."""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Literal

from hanaming import Context
from hanaming.testing._starting import Starting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hanaming import Node, NodeStatus
    from hanaming.testing._relays import Relays
    from hanaming.testing._running import Running

NodeState = Literal["live", "paused", "killed", "quiesced", "closed"]

# What may be done next where a node is not live.
REMEDY = {
    "paused": "resume() it first",
    "killed": "restart() it first",
    "quiesced": "restart() it first",
    "closed": "its cluster has ended",
}
DOWN = {"killed", "quiesced", "closed"}


class ClusterNode:
    """A node of a `Cluster`, by its index or its name there: `cluster[0]`. It keeps its address whatever is done to it.

    What is done to it from several threads is done one after the other.
    """

    def __init__(self, name: str, relays: Relays, running: Running, seeds: Callable[[], Sequence[str]]) -> None:
        self.name = name
        """Its name: `n0` for the first."""
        self.state: NodeState = "killed"
        """What was done to it."""
        self._relays = relays
        self._running = running
        self._seeds = seeds
        self._local: Context | None = None
        # Two restarts at once would start two nodes of one name, which keep each other out.
        self._turn = RLock()

    @property
    def address(self) -> str:
        """Where clients and the other nodes reach it, as `host:port`."""
        return self._relays.address(self.name)

    @property
    def url(self) -> str:
        """The same as a provider string."""
        return f"hn://{self.address}"

    @property
    def local(self) -> Context:
        """Its local tree: a context that asks this node and no other. It is closed with the cluster."""
        if self._local is None:
            self._local = Context(self.url)
        return self._local

    @property
    def node(self) -> Node:
        """The node itself, which is reached in process whatever was cut off.

        Raises:
            RuntimeError: It does not run, or it runs in a process of its own.
        """
        node = self._running.node
        if node is None:
            self._must_run()
            raise RuntimeError(f"{self.name} runs in a process of its own: use .local or a client")
        return node

    def status(self) -> NodeStatus:
        """What it says of itself: its view, its copy of the cluster tree.

        Raises:
            RuntimeError: It was killed or quiesced.
            NamingError: It does not answer.
        """
        self._must_run()
        return self._running.status()

    def kill(self) -> None:
        """As `kill -9`: no goodbye, its connections are reset and new ones refused. Without data, its local tree is lost.

        Raises:
            RuntimeError: It does not run.
        """
        with self._turn:
            self._must_run()
            self._relays.break_off(self.name)
            self.state = "killed"
            self._running.kill()

    def pause(self) -> None:
        """As a frozen process (SIGSTOP): connections are taken, nothing is answered. What was sent is kept for `resume`.

        In process, the node itself goes on behind its silence, as one that was cut off from everybody.

        Raises:
            RuntimeError: It is not live.
        """
        with self._turn:
            self._must_be_live()
            self._running.freeze()
            if not self._running.can_freeze:
                self._relays.pause(self.name, paused=True)
            self.state = "paused"

    def resume(self) -> None:
        """Ends a pause: what waited arrives.

        Raises:
            RuntimeError: It is not paused.
        """
        with self._turn:
            if self.state != "paused":
                raise RuntimeError(f"{self.name} is {self.state}, not paused")
            self._running.wake()
            if not self._running.can_freeze:
                self._relays.pause(self.name, paused=False)
            self.state = "live"

    def restart(self) -> None:
        """Starts it again, after killing it where it runs: the same name, address and data, a new incarnation.

        Returns when it serves.

        Raises:
            NamingError: It could not join in time.
            RuntimeError: Its process did not start, or the cluster was closed.
        """
        with self._turn:
            if self.state == "closed":
                raise self._wrong()
            if self.state not in DOWN:
                self.kill()
            self.started(self.starting(self._seeds()))

    def starting(self, seeds: Sequence[str]) -> Starting:
        """Launches it; the cluster does so with all at once."""
        return Starting(self._relays, self.name, self._running, seeds)

    def started(self, starting: Starting) -> None:
        """Returns when it serves."""
        starting.wait_ready()
        self.state = "live"

    def quiesce(self) -> None:
        """Has it leave: it refuses what is new (`NO`), finishes what runs, says goodbye, and ends.

        Raises:
            RuntimeError: It is not live.
            TimeLimitExceededError: Requests were cut off.
        """
        with self._turn:
            self._must_be_live()
            self.state = "quiesced"
            try:
                self._running.quiesce()
            finally:
                self._relays.break_off(self.name)

    def close(self) -> None:
        """Ends it for good; the cluster does so."""
        with self._turn:
            if self._local is not None:
                self._local.close()
            self.state = "closed"
            self._running.end()

    def __repr__(self) -> str:
        return f"<ClusterNode {self.name} at {self.address}, {self.state}>"

    def _must_run(self) -> None:
        if self.state in DOWN:
            raise self._wrong()

    def _must_be_live(self) -> None:
        if self.state != "live":
            raise self._wrong()

    def _wrong(self) -> RuntimeError:
        return RuntimeError(f"{self.name} is {self.state}: {REMEDY[self.state]}")
