"""The first act: local trees, and clients that look names up while nodes are killed, frozen and quiesced."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hanaming import Context, HAContext, NameNotFoundError, NamingError, ServiceUnavailableError

from .catalogue import Catalogue
from .clients import Clients, Tally, look_up
from .processes import wait_until
from .report import Chapter

if TYPE_CHECKING:
    from collections.abc import Callable

    from hanaming._node_process import NodeProcess

    from .stage import Stage


class LocalTrees:
    """The act, and what its clients noticed."""

    def __init__(self, stage: Stage, threads: int) -> None:
        self.stage = stage
        self.nodes = stage.nodes
        self.threads = threads
        self.catalogue = Catalogue.load()
        self.chapters: list[Chapter] = []
        self.total = Tally()

    def play(self) -> None:
        """All of it, with the nodes started."""
        n1, n2, n3 = self.nodes
        self._bind(n1)
        self._bind(n2)
        c = self.catalogue
        self.stage.say(
            f"{len(c.everything)} names bound: {len(c.both)} on n1 and n2 both, {len(c.first)} on n1 alone, "
            f"{len(c.second)} on n2 alone"
        )
        first_round = self._look_up_everything_through_each()

        with HAContext(self.nodes.provider) as context:
            found = context.lookup_many(list(c.everything))
            self.stage.expect(
                len(found) == len(c.everything), f"lookup_many found {len(found)} of {len(c.everything)} names"
            )
            self.stage.say(f"all {len(found)} in one call: found")
            with Clients(context, c, list(c.both), self.threads) as clients:
                self.stage.say(
                    f"{self.threads} clients look up, round robin, the {len(c.both)} names that are bound twice; now:"
                )
                self._chapter(clients, "all is well", self.stage.look_on)
                self._chapter(clients, "kill -9 n1", lambda: self._killed(n1, context))
                self._chapter(clients, "n1 comes back", lambda: self._comes_back(n1))
                self._chapter(clients, "freeze n2", lambda: self._frozen(n2, context))
                self._chapter(clients, "n2 wakes", lambda: self._woken(n2))
                self._chapter(clients, "quiesce n3", lambda: self._quiesced(n3))
                self._chapter(clients, "n3 comes back", lambda: self._comes_back(n3))
            self.total = Tally(first_round.lookups + clients.all().lookups)

    def _look_up_everything_through_each(self) -> Tally:
        """Every name through every node, each asked by a client that knows no other."""
        total = Tally()
        for node in self.nodes:
            with HAContext(node.url, follow_views=False) as context:
                tally = Tally([look_up(context, self.catalogue, name) for name in self.catalogue.everything])
            steps = tally.share("step")
            own, others = steps.get("local", 0), steps.get("peer", 0)
            self.stage.say(f"looked up through {node.name}: {own} found in its own tree, {others} in another node's")
            total.lookups += tally.lookups
        return total

    def _killed(self, node: NodeProcess, context: HAContext) -> None:
        began = time.monotonic()
        node.kill()
        alone = next(iter(self.catalogue.first))
        wait_until(lambda: _raises(context, alone) is NameNotFoundError, f"{alone} is known to be gone", 5)
        self.stage.say(
            f"killed {node.name} (kill -9); {time.monotonic() - began:.1f} s later what only it had is NameNotFoundError: "
            "all that are left say so"
        )
        self.stage.look_on(began)

    def _comes_back(self, node: NodeProcess) -> None:
        self.nodes.start([node])
        self.stage.wait_for_members(self.nodes)
        self._bind(node)
        self.stage.say(f"started {node.name} again" + ("" if node.name == "n3" else ", and bound its names again"))
        self.stage.look_on()

    def _frozen(self, node: NodeProcess, context: HAContext) -> None:
        began = time.monotonic()
        node.freeze()
        alone = next(iter(self.catalogue.second))
        error = _error(context, alone)
        silent = error.silent if isinstance(error, ServiceUnavailableError) else []
        self.stage.expect(silent == [node.name], f"{alone} while {node.name} is frozen: {error!r}")
        self.stage.say(
            f"froze {node.name} (SIGSTOP); what only it has is {type(error).__name__}, silent: {', '.join(silent)}: "
            "silence is not absence"
        )
        self.stage.look_on(began)

    def _woken(self, node: NodeProcess) -> None:
        node.wake()
        self.stage.wait_for_members(self.nodes)
        alone = next(iter(self.catalogue.second))
        with HAContext(self.nodes.provider) as context:
            self.stage.expect(not look_up(context, self.catalogue, alone).failure, f"{alone} after {node.name} woke")
        self.stage.say(f"woke {node.name} (SIGCONT); what only it has is found again")
        self.stage.look_on()

    def _quiesced(self, node: NodeProcess) -> None:
        began = time.monotonic()
        status = node.quiesce()
        self.stage.expect(status == 0, f"{node.name} exited with {status} after SIGTERM")
        self.stage.say(f"quiesced {node.name} (SIGTERM); it finished what ran and exited with {status}")
        self.stage.look_on(began)

    def _bind(self, node: NodeProcess) -> None:
        own = {"n1": self.catalogue.first, "n2": self.catalogue.second}.get(node.name)
        if own is not None:
            with Context(node.url) as local:
                self.catalogue.bind(local, own)

    def _chapter(self, clients: Clients, title: str, action: Callable[[], None]) -> None:
        began = time.monotonic()
        action()
        tally = clients.between(began, time.monotonic())
        self.chapters.append(Chapter(title, tally))
        for failed in tally.failed[:3]:
            self.stage.say(f"FAILED: {failed.failure}")


def _error(context: HAContext, name: str) -> NamingError | None:
    try:
        context.lookup(name)
    except NamingError as error:
        return error
    return None


def _raises(context: HAContext, name: str) -> type[NamingError] | None:
    error = _error(context, name)
    return type(error) if error else None
