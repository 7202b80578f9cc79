"""The demo's order of events."""

from __future__ import annotations

import shutil
import signal
import textwrap
import time
from typing import TYPE_CHECKING

import click

from hanaming import (
    Context,
    HAContext,
    NameNotFoundError,
    NamingError,
    ServiceUnavailableError,
)
from hanaming.cli import values
from hanaming.cli.errors import printable

from . import report
from .catalogue import Catalogue
from .clients import Clients, Tally, look_up
from .processes import NodeProcess, NodeProcesses, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


_WIDEST = 100


def run(*, seconds: float = 1.5, threads: int = 4, as_json: bool = False) -> int:
    """Tells the story and returns the exit status: 0 where no lookup failed and all else was as it should be."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _interrupt)
    with NodeProcesses(["n1", "n2", "n3"]) as nodes:
        return _Story(nodes, seconds, threads, as_json).tell()


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    # So that the blocks are left and the processes ended, as with Ctrl-C.
    raise KeyboardInterrupt


class _Story:
    def __init__(self, nodes: NodeProcesses, seconds: float, threads: int, as_json: bool) -> None:
        self.nodes = nodes
        self.seconds = seconds
        self.threads = threads
        self.as_json = as_json
        self.began = time.monotonic()
        self.catalogue = Catalogue.load()
        self.chapters: list[report.Chapter] = []
        self.unexpected: list[str] = []

    def tell(self) -> int:
        n1, n2, n3 = self.nodes
        for node in self.nodes:
            self.nodes.start(node)
            self.say(f"{node.name} serves on {node.address} (process {node.pid})")
        self.wait_for_members({"n1", "n2", "n3"})
        self.bind(n1)
        self.bind(n2)
        c = self.catalogue
        self.say(
            f"{len(c.everything)} names bound: {len(c.both)} on n1 and n2 both, {len(c.first)} on n1 alone, "
            f"{len(c.second)} on n2 alone"
        )
        first_round = self.look_up_everything_through_each()

        with HAContext(self.nodes.provider) as context:
            found = context.lookup_many(list(c.everything))
            self.expect(len(found) == len(c.everything), f"lookup_many found {len(found)} of {len(c.everything)} names")
            self.say(f"all {len(found)} in one call: found")
            with Clients(context, c, list(c.both), self.threads) as clients:
                self.say(
                    f"{self.threads} clients look up, round robin, the {len(c.both)} names that are bound twice; now:"
                )
                self.chapter(clients, "all is well", self.look_on)
                self.chapter(clients, "kill -9 n1", lambda: self.killed(n1, context))
                self.chapter(clients, "n1 comes back", lambda: self.comes_back(n1))
                self.chapter(clients, "freeze n2", lambda: self.frozen(n2, context))
                self.chapter(clients, "n2 wakes", lambda: self.woken(n2))
                self.chapter(clients, "quiesce n3", lambda: self.quiesced(n3))
                self.chapter(clients, "n3 comes back", lambda: self.comes_back(n3))
            total = Tally(first_round.lookups + clients.all().lookups)
        return self.end(total)

    def look_up_everything_through_each(self) -> Tally:
        """Every name through every node, each asked by a client that knows no other."""
        total = Tally()
        for node in self.nodes:
            with HAContext(node.url, follow_views=False) as context:
                tally = Tally([look_up(context, self.catalogue, name) for name in self.catalogue.everything])
            steps = tally.share("step")
            own, others = steps.get("local", 0), steps.get("peer", 0)
            self.say(f"looked up through {node.name}: {own} found in its own tree, {others} in another node's")
            total.lookups += tally.lookups
        return total

    def killed(self, node: NodeProcess, context: HAContext) -> None:
        began = time.monotonic()
        node.kill()
        alone = next(iter(self.catalogue.first))
        wait_until(lambda: _raises(context, alone) is NameNotFoundError, f"{alone} is known to be gone", 5)
        self.say(
            f"killed {node.name} (kill -9); {time.monotonic() - began:.1f} s later what only it had is NameNotFoundError: "
            "all that are left say so"
        )
        self.look_on(began)

    def comes_back(self, node: NodeProcess) -> None:
        self.nodes.start(node)
        self.wait_for_members({"n1", "n2", "n3"})
        self.bind(node)
        self.say(f"started {node.name} again" + ("" if node.name == "n3" else ", and bound its names again"))
        self.look_on()

    def frozen(self, node: NodeProcess, context: HAContext) -> None:
        began = time.monotonic()
        node.freeze()
        alone = next(iter(self.catalogue.second))
        error = _error(context, alone)
        silent = error.silent if isinstance(error, ServiceUnavailableError) else []
        self.expect(silent == [node.name], f"{alone} while {node.name} is frozen: {error!r}")
        self.say(
            f"froze {node.name} (SIGSTOP); what only it has is {type(error).__name__}, silent: {', '.join(silent)}: "
            "silence is not absence"
        )
        self.look_on(began)

    def woken(self, node: NodeProcess) -> None:
        node.wake()
        self.wait_for_members({"n1", "n2", "n3"})
        alone = next(iter(self.catalogue.second))
        with HAContext(self.nodes.provider) as context:
            self.expect(not look_up(context, self.catalogue, alone).failure, f"{alone} after {node.name} woke")
        self.say(f"woke {node.name} (SIGCONT); what only it has is found again")
        self.look_on()

    def quiesced(self, node: NodeProcess) -> None:
        began = time.monotonic()
        status = node.quiesce()
        self.expect(status == 0, f"{node.name} exited with {status} after SIGTERM")
        self.say(f"quiesced {node.name} (SIGTERM); it finished what ran and exited with {status}")
        self.look_on(began)

    def bind(self, node: NodeProcess) -> None:
        own = {"n1": self.catalogue.first, "n2": self.catalogue.second}.get(node.name)
        if own is not None:
            with Context(node.url) as local:
                self.catalogue.bind(local, own)

    def wait_for_members(self, names: set[str]) -> None:
        def agreed() -> bool:
            for node in self.nodes:
                with Context(node.url) as local:
                    members = local.status().members
                if {member.name for member in members if member.state == "live"} != names:
                    return False
            return True

        wait_until(agreed, f"all nodes see {', '.join(sorted(names))}")

    def look_on(self, began: float | None = None) -> None:
        """Lets the clients work until the stretch has lasted long enough."""
        time.sleep(max(0.2, self.seconds - (time.monotonic() - began if began else 0)))

    def chapter(self, clients: Clients, title: str, action: Callable[[], None]) -> None:
        began = time.monotonic()
        action()
        tally = clients.between(began, time.monotonic())
        self.chapters.append(report.Chapter(title, tally))
        for failed in tally.failed[:3]:
            self.say(f"FAILED: {failed.failure}")

    def end(self, total: Tally) -> int:
        if self.as_json:
            document = report.document(self.chapters, total)
            click.echo(values.dumps({**document, "unexpected": self.unexpected}, indent=2))
        else:
            click.echo()
            report.show(self.chapters, [node.name for node in self.nodes], total)
        for text in self.unexpected:
            click.echo(f"unexpected: {printable(text)}", err=True)
        if total.failed or self.unexpected:
            return 1
        self.say(f"{len(total.lookups)} lookups, none failed")
        return 0

    def expect(self, held: bool, text: str) -> None:
        if not held:
            self.unexpected.append(text)

    def say(self, text: str) -> None:
        width = min(shutil.get_terminal_size().columns, _WIDEST)
        stamp = f"{time.monotonic() - self.began:5.1f} s  "
        lines = textwrap.wrap(printable(text), width, initial_indent=stamp, subsequent_indent=" " * len(stamp))
        click.echo("\n".join(lines), err=self.as_json)


def _error(context: HAContext, name: str) -> NamingError | None:
    try:
        context.lookup(name)
    except NamingError as error:
        return error
    return None


def _raises(context: HAContext, name: str) -> type[NamingError] | None:
    error = _error(context, name)
    return type(error) if error else None
