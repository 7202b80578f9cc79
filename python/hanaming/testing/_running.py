"""What a cluster's node runs as: in this process, or as one of its own."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Protocol

from hanaming import Context, Node
from hanaming._node_process import NodeProcess

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hanaming import NodeStatus

HOST = "127.0.0.1"
# A status is asked for again and again: a node that does not answer costs no more than this.
STATUS_LIMIT = 1.0
QUIESCE_LIMIT = 30.0


class Running(Protocol):
    """One node, whenever it runs."""

    node: Node | None
    can_freeze: bool
    """Whether it stops where it is; otherwise its relay holds all that it says and hears."""

    def launch(self, port: int, seeds: Sequence[str]) -> None:
        """Has it start; it listens at this port."""

    def wait_ready(self) -> None:
        """Returns when it serves."""

    def kill(self) -> None:
        """Ends it at once, without a goodbye."""

    def freeze(self) -> None:
        """Stops it where it is."""

    def wake(self) -> None:
        """Has it go on."""

    def quiesce(self) -> None:
        """Has it finish what it does, leave, and end."""

    def status(self) -> NodeStatus:
        """What it says of itself."""

    def end(self) -> None:
        """Ends it in whatever state it is, for good."""


class InProcess:
    """A node in this process, which can't be frozen."""

    can_freeze = False

    def __init__(self, name: str, address: str, folder: Path | None) -> None:
        self.node: Node | None = None
        self._name = name
        self._address = address
        self._folder = folder

    def launch(self, port: int, seeds: Sequence[str]) -> None:
        """Starts it, and returns when it serves."""
        self.node = Node(
            self._name, listen=f"{HOST}:{port}", advertise=self._address, seeds=seeds, data_dir=self._folder
        )

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.node._listening.rpartition(":")[2]) if self.node else 0  # noqa: SLF001 - this package's

    def wait_ready(self) -> None:
        """It is."""

    def kill(self) -> None:
        """Ends it at once, without a goodbye."""
        self.end()

    def freeze(self) -> None:
        """Nothing: its relay does so."""

    def wake(self) -> None:
        """Nothing: its relay does so."""

    def quiesce(self) -> None:
        """Has it finish what it does, leave, and end."""
        if self.node is not None:
            self.node.quiesce(timeout=QUIESCE_LIMIT)
            self.end()

    def status(self) -> NodeStatus:
        """What it says of itself, without a network."""
        if self.node is None:
            raise RuntimeError(f"{self._name} does not run")
        return self.node.local.status()

    def end(self) -> None:
        """Ends it."""
        if self.node is not None:
            self.node.close()
            self.node = None


class OfItsOwn:
    """A node in a process of its own, `hanaming serve`."""

    can_freeze = True

    def __init__(self, name: str, address: str, folder: Path | None) -> None:
        self.node: Node | None = None
        self.process = NodeProcess(name, folder, address)
        self._address = address

    def launch(self, port: int, seeds: Sequence[str]) -> None:
        """Starts the process, and ends one that did not come up."""
        if self.process.is_running:
            self.process.kill()
        self.process.launch(seeds, f"{HOST}:{port}")

    def wait_ready(self) -> None:
        """Returns when it serves."""
        self.process.wait_ready()

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()

    def freeze(self) -> None:
        """SIGSTOP."""
        self.process.freeze()

    def wake(self) -> None:
        """SIGCONT."""
        self.process.wake()

    def quiesce(self) -> None:
        """SIGTERM."""
        status = self.process.quiesce()
        if status:
            raise RuntimeError(f"{self.process.name} ended with status {status} instead of leaving")

    def status(self) -> NodeStatus:
        """What it says of itself."""
        with Context(f"hn://{self._address}", timeout=STATUS_LIMIT) as local:
            return local.status()

    def end(self) -> None:
        """Ends it in whatever state it is."""
        self.process.end()


def free_port() -> int:
    """A port that nobody listens at in this moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def is_taken(port: int) -> bool:
    """Whether somebody has it now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
        return False
