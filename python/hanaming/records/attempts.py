"""The tries of one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hanaming._show import Bar, counted, cut, duration, table

if TYPE_CHECKING:
    from hanaming.failure import CompletionStatus


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a call at one target."""

    target: str
    """The target as `host:port`, also where it is a node of this process."""
    phase: str
    """How far it came: resolve, connect, handshake, send, wait, receive or answer."""
    outcome: str
    """What came back, in words."""
    completion: CompletionStatus
    """Whether the request ran at this target."""
    elapsed: float
    """How long it took, in seconds."""
    why_next: str | None
    """Why another attempt followed; `None` for the last."""

    def __repr__(self) -> str:
        return f"<Attempt at {self.target}: {cut(self.outcome)}, {self.completion.value}, {duration(self.elapsed)}>"

    def __str__(self) -> str:
        told = f"{self.target}: {self.outcome} ({self.phase}, {self.completion.value}, {1000 * self.elapsed:.1f} ms)"
        return f"{told}; {self.why_next}" if self.why_next else told


class Attempts(list[Attempt]):
    """A call's attempts, in order."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self:
            return "<no attempts>"
        which = "" if len(self) == 1 else "the last "
        return f"<{counted(len(self), 'attempt')}, {which}at {self[-1].target}: {cut(self[-1].outcome)}>"

    def _repr_html_(self) -> str:
        """A time line: each attempt begins where the one before it ended."""
        whole = sum(attempt.elapsed for attempt in self)
        rows, began = [], 0.0
        for a in self:
            bar = Bar(began / whole, a.elapsed / whole) if whole else ""
            took = duration(a.elapsed).replace(" ", "\N{NO-BREAK SPACE}")
            rows.append((a.target, bar, took, a.outcome, a.phase, a.completion.value, a.why_next or ""))
            began += a.elapsed
        headings = ("target", "time", "took", "what came back", "phase", "ran?", "why another followed")
        caption = counted(len(self), "attempt") + (f", {duration(whole)}" if self else "")
        return table(caption, headings, rows)
