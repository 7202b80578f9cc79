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
    doubtful: list[str] = field(default_factory=list)
    history: list[str] = field(default_factory=list)

    def acknowledged(self, value: Any, holders: list[str] | None) -> None:
        self.before += self.since
        self.since = []
        self.last, self.holders, self.is_guaranteed = value, None if holders is None else set(holders), True

    def lost(self, node: str) -> None:
        if self.holders is not None:
            self.holders.discard(node)
        self.is_guaranteed &= bool(self.holders)
        self.note(f"lost on {node}")

    def note(self, text: str) -> None:
        self.history.append(f"{moment()} {text}")

    def told(self, ctx: HAContext) -> str:
        """What happened at the name, and what is known of the writes whose outcome the client does not know."""
        return "\n".join(
            [*self.history, *(f"{operation}: {ctx.operation_status(operation)}" for operation in self.doubtful)]
        )

    def wrong(self, shown: Any, versions: list[Any]) -> str | None:
        """What is wrong with what is found; `versions` are all that stand at the name."""
        if not self.is_guaranteed or self.last in versions or (self.last is ABSENT and shown is ABSENT):
            return None
        if shown in self.since or (self.last is ABSENT and shown in self.before):
            return None
        return f"{shown!r} is there, of {versions}; acknowledged was {self.last!r} on {self.holders}"


class Ledger:
    """All names that were written, each by one client at a time."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.acknowledged = 0
        self.in_doubt = 0
        self._missed: list[str] = []
        self._lock = threading.Lock()

    def write(self, ctx: HAContext, name: str, value: Any, *, again: bool = False) -> None:
        """Binds, or binds anew, or with `ABSENT` unbinds; and notes what became of it."""
        holders: list[str] | None = None
        what, told, operation = f"{'unbind' if value is ABSENT else 'rebind' if again else 'bind'} {value!r}", "", None
        with self._lock:
            entry = self.entries.setdefault(name, Entry())
        entry.note(f"{what} …")
        try:
            if value is ABSENT:
                was_there = ctx.unbind(name)
                told = str(was_there)
                if not was_there and entry.is_guaranteed and entry.last is not ABSENT and ABSENT not in entry.since:
                    self._missed.append(name)
            else:
                receipt = (ctx.rebind if again else ctx.bind)(name, value, create_parents=True)
                holders, told = receipt.acked_by, str(receipt)
        except NamingError as error:
            completion = error.completion
            if completion not in {CompletionStatus.NO, CompletionStatus.MAYBE}:
                raise  # names of its own: nobody can have been there first
            told, operation = f"{error} (operation {error.operation_id})", error.operation_id
        else:
            completion = CompletionStatus.YES
        with self._lock:
            entry.note(f"{what}: {told}; {'; '.join(map(str, ctx.explain()))}")
            if completion is CompletionStatus.YES:
                self.acknowledged += 1
                entry.acknowledged(value, holders)
            elif completion is CompletionStatus.MAYBE:
                self.in_doubt += 1
                entry.since.append(value)
                entry.doubtful += [operation] if operation else []

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
                if text is None and name in self._missed:
                    text = "an unbind found nothing"
                if text is not None:
                    wrong[name] = f"{text}\n{entry.told(ctx)}"
        told = "\n".join(f"{name}: {text}" for name, text in list(wrong.items())[:5])
        assert not wrong, f"{len(wrong)} of {len(self.entries)} names on {node.name}:\n{told}"


def moment() -> str:
    """The time, as in a node's log."""
    now = time.time()
    return f"{time.strftime('%H:%M:%S', time.localtime(now))}.{int(now % 1 * 1000):03}"
