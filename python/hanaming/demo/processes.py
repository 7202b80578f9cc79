"""The demo's nodes: each a process."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from hanaming._node_process import NodeProcess

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self


class NodeProcesses(Sequence[NodeProcess]):
    """Several nodes of one cluster. Leaving the block ends every process, whatever happened in it."""

    def __init__(self, names: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="hanaming-demo-")
        self._nodes = [NodeProcess(name, Path(self._folder.name) / name) for name in names]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for node in self._nodes:
            node.end()
        self._folder.cleanup()

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, index: int) -> NodeProcess: ...

    @overload
    def __getitem__(self, index: slice) -> list[NodeProcess]: ...

    def __getitem__(self, index: int | slice) -> NodeProcess | list[NodeProcess]:
        """A node, or some of them."""
        return self._nodes[index]

    def start(self, nodes: Sequence[NodeProcess]) -> None:
        """Starts nodes at once, with the addresses of all others as their seeds: each waits for those that it knows."""
        for node in nodes:
            node.launch([one.address for one in self._nodes if one is not node and not one.address.endswith(":0")])
        for node in nodes:
            node.wait_ready()

    @property
    def provider(self) -> str:
        """All addresses, for a client."""
        return "hn://" + ",".join(node.address for node in self._nodes)


def wait_until(condition: Callable[[], bool], what: str, limit: float = 10.0) -> None:
    """Returns as soon as the condition holds; an error where it doesn't within the limit."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            msg = f"{what}: not within {limit:.0f} s"
            raise RuntimeError(msg)
        time.sleep(0.02)
