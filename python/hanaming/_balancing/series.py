"""One call from attempt to attempt.

A target is chosen where a block is entered and told back where it is left, however that happens; so nothing has to be
settled for an attempt that was never begun, and no target is forgotten for one that was given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanaming._balancing import told

if TYPE_CHECKING:
    from hanaming._balancing.judge import Judge
    from hanaming._balancing.told import OfThreads
    from hanaming._native import Balancing
    from hanaming.records import Target

_NOT_ENTERED = "an attempt was not entered: its target is called in `with attempt as target:`"
_ENTERED_AGAIN = "an attempt is entered once; the loop gives a new one for each try"


class Series:
    """A call's attempts; the two faces add how to wait."""

    __slots__ = ("_explained", "_judge", "_number", "_offered", "_open", "_over", "calling", "last")

    def __init__(self, core: Balancing, judge: Judge, explained: OfThreads, *, idempotent: bool, value: bool) -> None:
        self.calling = core.begin(idempotent, value)
        self.last: Exception | None = None
        self._judge = judge
        self._explained = explained
        self._number = 0
        self._offered = False
        self._open = False
        self._over = False

    def offer(self) -> int | None:
        """The number of another attempt, or `None` where the call is over."""
        if self._over:
            return None
        if self._offered or self._open:
            raise RuntimeError(_NOT_ENTERED)
        self._offered = True
        self._number += 1
        return self._number

    def enter(self, number: int) -> None:
        """A block is entered; the call is over unless it gets a target."""
        if not self._offered or number != self._number:
            raise RuntimeError(_ENTERED_AGAIN)
        self._offered = False
        self._over = True

    def entered(self, target: Target | None) -> Target:
        """The block's target. Where there is none any longer, the last failure comes out."""
        if target is not None:
            self._open, self._over = True, False
            return target
        last = self.last
        self.end()
        assert last is not None  # noqa: S101 - a call without any attempt has an error of its own
        told.tell(last, self.calling.attempts)
        try:
            raise last
        finally:
            del last  # this frame is in its traceback: the two would keep each other

    def leave(self, error: BaseException | None) -> bool:
        """The block is left; whether what it raised is dealt with."""
        self._open, self.last = False, None
        if not isinstance(error, Exception):
            # Ctrl-C, a cancelled task, a closed generator: nothing that the target did.
            if error is None:
                self.calling.succeeded()
            else:
                self.calling.abandoned()
            self.end()
            return False
        try:
            sequel = self._judge.tell(self.calling, error)
        except BaseException:
            self.calling.abandoned()
            self.end()
            raise
        if sequel == "again":
            self.last = error
            return True
        self.end()
        if sequel == "success":
            return True
        told.tell(error, self.calling.attempts)
        return False

    def end(self) -> None:
        """There is no further attempt."""
        self._over, self.last = True, None
        self._explained.keep(self.calling)
