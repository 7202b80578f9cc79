"""Waiting for a condition, never for a time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAUSE = 0.002
LONGEST_PAUSE = 0.05


def wait_until(condition: Callable[[], bool], what: Callable[[], str], within: float) -> None:
    """Returns as soon as the condition holds.

    Raises:
        TimeoutError: It doesn't in time; `what` says what is not so.
    """
    end = time.monotonic() + within
    pause = PAUSE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {within:g} s: {what()}")
        time.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 1.5)
