"""Compares the nodes' copies of the tree all the time: who has seen the same writes has the same tree."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import TracebackType

from typing_extensions import Self

from fleet import Fleet
from hanaming import NamingError, TreeCopy

_PAUSE = 0.05
_PATIENCE = 0.5


class Comparison:
    """A thread that compares, for as long as the block lasts; leaving it fails where two copies differed."""

    def __init__(self, fleet: Fleet) -> None:
        self.compared = 0
        self._fleet = fleet
        self._found: str | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        assert self._found is None, self._found

    def _run(self) -> None:
        while not self._stop.wait(_PAUSE) and self._found is None:
            copies: list[tuple[str, TreeCopy]] = []
            for node in self._fleet.up:
                try:
                    copies.append((node.name, node.status(_PATIENCE).tree))
                except NamingError:  # it was struck a moment ago
                    continue
            self.compared += len(copies) - len({copy.seen for _, copy in copies})
            self._found = difference(copies)


def difference(copies: Iterable[tuple[str, TreeCopy]]) -> str | None:
    """What is wrong, where two have seen the same and are not the same."""
    known: dict[str, tuple[str, TreeCopy]] = {}
    for name, copy in copies:
        other = known.setdefault(copy.seen, (name, copy))
        if other[1].digest != copy.digest:
            return f"{other} and {(name, copy)} have seen the same writes, and their trees differ"
    return None
