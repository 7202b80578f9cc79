"""Clients that write while nodes are struck: each has names of its own, and one change under way at a time."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator
from types import TracebackType

from typing_extensions import Self

from fleet import Fleet
from hanaming import HAContext
from ledger import ABSENT, Ledger

_PAUSE = 0.005


class Writers:
    """Threads that write for as long as the block lasts."""

    def __init__(self, fleet: Fleet, ledger: Ledger, count: int, seed: int) -> None:
        self._fleet = fleet
        self._ledger = ledger
        self._stop = threading.Event()
        self._turns = [threading.Lock() for _ in range(count)]
        self._threads = [threading.Thread(target=self._run, args=(number, seed)) for number in range(count)]
        self._broken: list[BaseException] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        if self._broken:
            raise self._broken[0]

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Nothing is written meanwhile, and nothing is under way."""
        with contextlib.ExitStack() as held:
            for turn in self._turns:
                held.enter_context(turn)
            yield

    def _run(self, writer: int, seed: int) -> None:
        choice = random.Random(f"{seed}/{writer}")
        try:
            with HAContext(self._fleet.provider, timeout=5.0) as ctx:
                number = 0
                names: list[str] = []
                while not self._stop.wait(_PAUSE):
                    with self._turns[writer]:
                        self._write(ctx, choice, names, f"w{writer}/name{number}", number)
                    number += 1
        except BaseException as error:  # noqa: BLE001 - raised by the block
            self._broken.append(error)

    def _write(self, ctx: HAContext, choice: random.Random, names: list[str], new: str, value: int) -> None:
        if not names or choice.random() < 0.6:
            self._ledger.write(ctx, new, value)
            names.append(new)
        elif choice.random() < 0.6:
            self._ledger.write(ctx, choice.choice(names), value, again=True)
        else:
            self._ledger.write(ctx, choice.choice(names), ABSENT)
