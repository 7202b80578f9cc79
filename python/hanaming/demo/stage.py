"""What both acts of the demo share: the nodes, the clock, what is said, and what was not as it should be."""

from __future__ import annotations

import shutil
import textwrap
import time
from typing import TYPE_CHECKING

import click

from hanaming import Context
from hanaming.cli.errors import printable

from .processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hanaming import NodeStatus
    from hanaming._node_process import NodeProcess

    from .processes import NodeProcesses

_WIDEST = 100


class Stage:
    """Where the demo plays. With `to_error` standard output is left to the figures."""

    def __init__(self, nodes: NodeProcesses, seconds: float, *, to_error: bool) -> None:
        self.nodes = nodes
        self.unexpected: list[str] = []
        self._seconds = seconds
        self._to_error = to_error
        self._began = time.monotonic()

    def say(self, text: str) -> None:
        """One line of the story."""
        width = min(shutil.get_terminal_size().columns, _WIDEST)
        stamp = f"{time.monotonic() - self._began:5.1f} s  "
        lines = textwrap.wrap(printable(text), width, initial_indent=stamp, subsequent_indent=" " * len(stamp))
        click.echo("\n".join(lines), err=self._to_error)

    def expect(self, held: bool, text: str) -> None:
        """Notes what was not as it should be."""
        if not held:
            self.unexpected.append(text)

    def look_on(self, began: float | None = None) -> None:
        """Lets the clients work until the stretch has lasted long enough."""
        time.sleep(max(0.2, self._seconds - (time.monotonic() - began if began else 0)))

    def wait_for_members(self, nodes: Iterable[NodeProcess]) -> None:
        """Until these nodes see each other, and nobody else."""
        asked = list(nodes)
        names = {node.name for node in asked}

        def agreed() -> bool:
            return all(
                {member.name for member in status_of(node).members if member.state == "live"} == names for node in asked
            )

        wait_until(agreed, f"all nodes see {', '.join(sorted(names))}")


def status_of(node: NodeProcess) -> NodeStatus:
    """What a node says of itself."""
    with Context(node.url) as local:
        return local.status()
