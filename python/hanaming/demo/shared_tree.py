"""The second act: clients write into the cluster tree while two of three nodes die.

Then all three are killed, and have it from their disks.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hanaming import HAContext

from .processes import wait_until
from .report import SharedChapter
from .stage import status_of
from .writers import Writers

if TYPE_CHECKING:
    from collections.abc import Callable

    from hanaming import TreeCopy

    from .stage import Stage


class SharedTree:
    """The act, and what became of the writes."""

    def __init__(self, stage: Stage, threads: int) -> None:
        self.stage = stage
        self.nodes = stage.nodes
        self.threads = threads
        self.chapters: list[SharedChapter] = []

    def play(self) -> None:
        """All of it, with the nodes started."""
        n1, *others = self.nodes
        names = " and ".join(node.name for node in others)
        with HAContext(self.nodes.provider) as context:
            receipt = context.bind("orders/first", {"item": "demo"}, create_parents=True)
            self.stage.say(
                f"bound a name into the cluster tree, which all nodes share: held by {', '.join(receipt.acked_by)}"
            )
            with Writers(context, self.threads) as writers:
                self.stage.say(f"{self.threads} clients write into it; now:")
                self._chapter(writers, "all is well", self.stage.look_on)
                self._chapter(writers, f"kill -9 {names}", self._kill_others)
                alone = context.rebind("orders/first", {"item": "demo", "paid": True})
                self.stage.say(f"killed {names} (kill -9); what is written now is held by {', '.join(alone.acked_by)}")
                self.stage.expect(alone.acked_by == [n1.name], f"acknowledged by {alone.acked_by}")
                self._chapter(writers, f"{names} come back", self._others_come_back, last=True)
                with writers.paused():
                    self.stage.say(f"started {names} again; {self._compared()}")
            for failure in writers.failures[:3]:
                self.stage.say(f"FAILED: {failure}")
        self._from_disk(writers)

    def _kill_others(self) -> None:
        began = time.monotonic()
        for node in self.nodes[1:]:
            node.kill()
        self.stage.wait_for_members(self.nodes[:1])
        self.stage.look_on(began)

    def _others_come_back(self) -> None:
        self.nodes.start(self.nodes[1:])
        self.stage.wait_for_members(self.nodes)
        self.stage.look_on()

    def _from_disk(self, writers: Writers) -> None:
        before = status_of(self.nodes[0]).tree.digest
        for node in self.nodes:
            node.kill()
        self.nodes.start(self.nodes)
        self.stage.wait_for_members(self.nodes)
        compared = self._compared()
        self.stage.say(f"killed all three (kill -9) and started them again from their disks; {compared}")
        self.stage.expect(status_of(self.nodes[0]).tree.digest == before, "the tree is another one than before")
        with HAContext(self.nodes.provider) as context:
            found = context.lookup_many(list(writers.acknowledged))
        lost = [name for name, value in writers.acknowledged.items() if found.get(name) != value]
        self.stage.expect(not lost, f"{len(lost)} acknowledged writes are lost, {lost[:3]} among them")
        self.stage.say(f"all {len(writers.acknowledged)} names that they wrote have what was acknowledged last")
        self._note("kill -9 all, start again", 0, 0, [])

    def _chapter(self, writers: Writers, title: str, action: Callable[[], None], *, last: bool = False) -> None:
        writers.take_gaps()
        failed = len(writers.failures)
        action()
        with writers.paused():
            if last:
                writers.stop()
            gaps = writers.take_gaps()
            self._note(title, len(gaps), len(writers.failures) - failed, gaps)

    def _note(self, title: str, acknowledged: int, failed: int, gaps: list[float]) -> None:
        self._compared()
        names = {node.name: str(status_of(node).cluster_names) if node.is_running else "-" for node in self.nodes}
        self.chapters.append(SharedChapter(title, acknowledged, failed, max(gaps, default=0.0), names))

    def _compared(self) -> str:
        """Waits until all copies of the tree are equal, and says so."""
        copies: list[TreeCopy] = []

        def equal() -> bool:
            copies[:] = [status_of(node).tree for node in self.nodes if node.is_running]
            return len({copy.digest for copy in copies}) == 1

        wait_until(equal, "the trees are equal")
        return f"their trees are equal (digest {copies[0].digest[:8]})"
