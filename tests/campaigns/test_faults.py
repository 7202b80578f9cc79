"""Rows of kill -9, SIGSTOP and restarts, with and without data, under clients that write."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Callable

import pytest

from fleet import Fleet
from hanaming import HAContext
from ledger import ABSENT, Entry, Ledger, moment
from length import FIRST_SEED, rounds
from writers import Writers

_WRITERS = 3


class Fate:
    """Strikes a fleet, by a seed."""

    def __init__(self, fleet: Fleet, ledger: Ledger, seed: int) -> None:
        self.told: list[str] = []
        self._fleet = fleet
        self._ledger = ledger
        self._choice = random.Random(seed)

    def strike(self, writers: Writers) -> None:
        choice = self._choice
        up, down = self._fleet.up, self._fleet.down
        strokes: list[Callable[[], None]] = []
        if len(up) > 1:
            strokes += [self._kill, self._kill, self._freeze, self._freeze]
        if down:
            strokes += [self._restart, self._restart, self._restart_wiped]
        if choice.random() < 0.15:
            strokes = [lambda: self._settle(writers)]
        choice.choice(strokes)()
        time.sleep(choice.uniform(0.05, 0.5))  # the pace of what befalls them: nothing is waited for

    def _tell(self, what: str) -> None:
        self.told.append(f"{moment()} {what}")

    def _kill(self) -> None:
        up = self._fleet.up
        struck = self._choice.sample(up, self._choice.randint(1, len(up) - 1))
        self._tell(f"kill {' '.join(node.name for node in struck)}")
        for node in struck:
            node.kill()

    def _freeze(self) -> None:
        node, seconds = self._choice.choice(self._fleet.up), self._choice.uniform(0.2, 2.5)
        self._tell(f"freeze {node.name} {seconds:.1f} s")
        node.freeze()
        time.sleep(seconds)
        node.wake()

    def _restart(self) -> None:
        down = self._fleet.down
        again = self._choice.sample(down, self._choice.randint(1, len(down)))
        self._tell(f"start {' '.join(node.name for node in again)}")
        self._fleet.start(again)

    def _restart_wiped(self) -> None:
        node = self._choice.choice(self._fleet.down)
        self._tell(f"start {node.name} without its data")
        node.wipe()
        self._ledger.wiped(node)
        self._fleet.start([node])

    def _settle(self, writers: Writers) -> None:
        self._tell("start all, and wait")
        self._fleet.start(self._fleet.down)
        with writers.paused():
            self._fleet.settled()
            self._ledger.check(self._choice.choice(self._fleet.nodes))
            self._ledger.held_by_all(self._fleet.nodes)


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + rounds(1, 20)))
def test_what_was_acknowledged_outlives_any_row_of_faults(fleet: Callable[..., Fleet], seed: int) -> None:
    nodes = fleet(5)
    nodes.start()
    nodes.settled()
    ledger = Ledger()
    fate = Fate(nodes, ledger, seed)
    try:
        with Writers(nodes, ledger, _WRITERS, seed) as writers:
            for _ in range(rounds(12, 40)):
                fate.strike(writers)
    finally:
        # Shown where something fails.
        told = "\n".join(fate.told)
        sys.stdout.write(f"seed {seed}: {ledger.acknowledged} acknowledged, {ledger.in_doubt} in doubt\n{told}\n")
    assert ledger.acknowledged > 0
    lone_survivor(nodes, ledger, random.Random(seed))
    nodes.start(nodes.down)
    nodes.settled()
    for node in nodes.nodes:
        ledger.check(node)
    stopped_and_started(nodes, ledger)


def lone_survivor(nodes: Fleet, ledger: Ledger, choice: random.Random) -> None:
    """One that is left takes everything."""
    left = choice.choice(nodes.up)
    nodes.start(nodes.down)
    nodes.settled()
    with HAContext(nodes.provider, timeout=10.0) as ctx:
        for name in ("removed", "changed", "kept"):
            ledger.write(ctx, f"lone/{name}", 1)
        for node in nodes.up:
            if node is not left:
                node.kill()
        assert ctx.lookup("lone/kept") == 1
        assert ctx.rebind("lone/changed", 2).acked_by == [left.name]
        ledger.entries["lone/changed"].acknowledged(2, [left.name])
        assert ctx.unbind("lone/removed") is True
        ledger.entries["lone/removed"].acknowledged(ABSENT, [left.name])
        assert ctx.bind("lone/new", 3).acked_by == [left.name]
        ledger.entries["lone/new"] = Entry(3, {left.name})
        assert {name: ctx.get(f"lone/{name}") for name in ("kept", "changed", "removed", "new")} == {
            "kept": 1,
            "changed": 2,
            "removed": None,
            "new": 3,
        }


def stopped_and_started(nodes: Fleet, ledger: Ledger) -> None:
    """All are ended at once, in the one way and the other, and have their tree when they start."""
    before, digest = nodes.nodes[0].dump(), nodes.settled()
    for number in (signal.SIGTERM, signal.SIGKILL):
        for node in nodes.nodes:
            node.signal(number)
        for node in nodes.nodes:
            status = node.wait()
            assert status == (0 if number == signal.SIGTERM else -signal.SIGKILL)
        nodes.start()
        assert nodes.settled() == digest
        assert all(node.dump() == before for node in nodes.nodes)
    ledger.check(nodes.nodes[0])
