"""What clients were told, and what may therefore be found.

An acknowledged write is there, or what came after it, as long as one node that acknowledged it kept its data. A write
whose outcome is unknown may have been made, also much later: beside what came after it, as a conflict, or over what came
before it. A write that failed with `NO` was not made.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Final

from fleet import FleetNode
from hanaming import CompletionStatus, HAContext, NamingError


class _Absent:
    def __repr__(self) -> str:
        return "nothing"


ABSENT: Final = _Absent()


@dataclass
class Entry:
    """One name: what was acknowledged last and by whom, and what is in doubt, from before that and since.

    An unbind does not say who holds it: `None`. Then it's at least one.
    """

    last: Any = ABSENT
    holders: set[str] | None = field(default_factory=set)
    is_guaranteed: bool = True
    before: list[Any] = field(default_factory=list)
    since: list[Any] = field(default_factory=list)
    history: list[str] = field(default_factory=list)

    def acknowledged(self, value: Any, holders: list[str] | None) -> None:
        self.before += self.since
        self.since = []
        self.last, self.holders, self.is_guaranteed = value, None if holders is None else set(holders), True
        self.note(f"{value!r} on {holders}")

    def lost(self, node: str) -> None:
        if self.holders is not None:
            self.holders.discard(node)
        self.is_guaranteed &= bool(self.holders)
        self.note(f"lost on {node}")

    def note(self, text: str) -> None:
        self.history.append(f"{time.strftime('%H:%M:%S')} {text}")

    def wrong(self, shown: Any, versions: list[Any]) -> str | None:
        """What is wrong with what is found; `versions` are all that stand at the name."""
        if not self.is_guaranteed or self.last in versions or (self.last is ABSENT and shown is ABSENT):
            return None
        if shown in self.since or (self.last is ABSENT and shown in self.before):
            return None
        return f"{shown!r} is there, of {versions}; acknowledged was {self!r}"


class Ledger:
    """All names that were written, each by one client at a time."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.acknowledged = 0
        self.in_doubt = 0
        self._lock = threading.Lock()

    def write(self, ctx: HAContext, name: str, value: Any, *, again: bool = False) -> None:
        """Binds, or binds anew, or with `ABSENT` unbinds; and notes what became of it."""
        try:
            if value is ABSENT:
                ctx.unbind(name)
                holders = None
            else:
                receipt = (ctx.rebind if again else ctx.bind)(name, value, create_parents=True)
                holders = receipt.acked_by
        except NamingError as error:
            if error.completion is CompletionStatus.MAYBE:
                with self._lock:
                    self.in_doubt += 1
                    self._entry(name).since.append(value)
                    self._entry(name).note(f"{value!r} in doubt")
            elif error.completion is not CompletionStatus.NO:
                raise  # names of its own: nobody can have been there first
            return
        with self._lock:
            self.acknowledged += 1
            self._entry(name).acknowledged(value, holders)

    def wiped(self, node: FleetNode) -> None:
        """A node has lost its data."""
        with self._lock:
            for entry in self.entries.values():
                entry.lost(node.name)

    def held_by_all(self, nodes: list[FleetNode]) -> None:
        """All nodes have equal trees, while nobody writes."""
        with self._lock:
            for entry in self.entries.values():
                entry.holders = {node.name for node in nodes}
                entry.note("equal")

    def check(self, node: FleetNode) -> None:
        """What a node shows is what clients were told."""
        found = node.dump()
        with node.context() as ctx:
            conflicts = {
                conflict.name: [conflict.shown.value, *(other.value for other in conflict.others)]
                for conflict in ctx.check().conflicts
            }
        wrong = {}
        for name, entry in self.entries.items():
            shown = found.get(name, ABSENT)
            text = entry.wrong(shown, conflicts.get(name, [shown]))
            if text is not None:
                wrong[name] = text
        assert not wrong, f"{len(wrong)} of {len(self.entries)} names on {node.name}: {dict(list(wrong.items())[:5])}"

    def _entry(self, name: str) -> Entry:
        return self.entries.setdefault(name, Entry())
