"""The demo's order of events: the nodes are started, two acts are played, the tables are shown."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import click

from hanaming.cli import values
from hanaming.cli.errors import printable

from . import report
from .local_trees import LocalTrees
from .processes import NodeProcesses
from .shared_tree import SharedTree
from .stage import Stage

if TYPE_CHECKING:
    from types import FrameType


def run(*, seconds: float = 1.5, threads: int = 4, as_json: bool = False) -> int:
    """Tells the story and returns the exit status: 0 where no call failed and all else was as it should be."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupt)
    with NodeProcesses(["n1", "n2", "n3"]) as nodes:
        stage = Stage(nodes, seconds, to_error=as_json)
        for node in nodes:
            nodes.start([node])
            stage.say(f"{node.name} serves on {node.address} (process {node.pid})")
        stage.wait_for_members(nodes)
        trees, shared = LocalTrees(stage, threads), SharedTree(stage, threads)
        trees.play()
        shared.play()
        return _end(stage, trees, shared, as_json=as_json)


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    # So that the blocks are left and the processes ended, as with Ctrl-C.
    raise KeyboardInterrupt


def _end(stage: Stage, trees: LocalTrees, shared: SharedTree, *, as_json: bool) -> int:
    if as_json:
        document = report.document(trees.chapters, trees.total) | report.shared_document(shared.chapters)
        click.echo(values.dumps({**document, "unexpected": stage.unexpected}, indent=2))
    else:
        click.echo()
        report.show(trees.chapters, [node.name for node in stage.nodes], trees.total)
        click.echo()
        report.show_shared(shared.chapters)
    for text in stage.unexpected:
        click.echo(f"unexpected: {printable(text)}", err=True)
    failed = len(trees.total.failed) + sum(chapter.failed for chapter in shared.chapters)
    if failed or stage.unexpected:
        return 1
    written = sum(chapter.acknowledged for chapter in shared.chapters)
    stage.say(f"{len(trees.total.lookups)} lookups and {written} writes, none failed and none lost")
    return 0
