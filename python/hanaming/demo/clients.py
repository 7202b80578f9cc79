"""Client threads that look names up, one after the other, and note what they saw."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hanaming import HAContext, NamingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from typing_extensions import Self

    from .catalogue import Catalogue

# Between two lookups of a thread: clients that do something with what they found.
_PAUSE = 0.001


@dataclass(frozen=True)
class Lookup:
    """One lookup: when it began and ended, which node was asked, which step of the rule answered, what went wrong."""

    began: float
    ended: float
    node: str
    step: str
    failure: str | None


@dataclass
class Tally:
    """The lookups of a stretch of time."""

    lookups: list[Lookup] = field(default_factory=list)

    @property
    def failed(self) -> list[Lookup]:
        """Those that raised, or gave a wrong value."""
        return [lookup for lookup in self.lookups if lookup.failure]

    @property
    def longest(self) -> float:
        """The longest gap, in seconds: how long the slowest lookup took."""
        return max((lookup.ended - lookup.began for lookup in self.lookups), default=0.0)

    def share(self, key: str) -> dict[str, int]:
        """How many lookups by `node` or by `step`."""
        counts: dict[str, int] = {}
        for lookup in self.lookups:
            value = getattr(lookup, key)
            counts[value] = counts.get(value, 0) + 1
        return counts


class Clients:
    """Threads that share one HA context, for as long as the block lasts."""

    def __init__(self, context: HAContext, catalogue: Catalogue, names: Sequence[str], threads: int) -> None:
        self._context = context
        self._catalogue = catalogue
        self._names = names
        self._stop = threading.Event()
        self._seen: list[list[Lookup]] = [[] for _ in range(threads)]
        self._threads = [
            threading.Thread(target=self._run, args=(seen, random.Random(number)), name=f"client-{number}")  # noqa: S311 - a repeatable choice of names
            for number, seen in enumerate(self._seen)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)

    def between(self, began: float, ended: float) -> Tally:
        """All lookups that overlap a stretch of time."""
        return Tally([one for seen in self._seen for one in list(seen) if one.ended >= began and one.began <= ended])

    def all(self) -> Tally:
        """All lookups so far."""
        return Tally([one for seen in self._seen for one in list(seen)])

    def _run(self, seen: list[Lookup], choice: random.Random) -> None:
        while not self._stop.wait(_PAUSE):
            seen.append(look_up(self._context, self._catalogue, choice.choice(self._names)))


def look_up(context: HAContext, catalogue: Catalogue, name: str) -> Lookup:
    """One lookup by `resolve`, which also says who answered, checked against the catalogue."""
    began = time.monotonic()
    try:
        answer = context.resolve(name)
    except NamingError as error:
        return Lookup(began, time.monotonic(), "-", "-", f"{type(error).__name__}: {error}")
    ended = time.monotonic()
    right = catalogue.is_answer(name, answer.value)
    return Lookup(began, ended, answer.asked[0], answer.source, None if right else f"{name!r} gave {answer.value!r}")
