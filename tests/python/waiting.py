"""Waiting for a condition, with a limit."""

from __future__ import annotations

import time
from collections.abc import Callable


def until(condition: Callable[[], object], what: str, *, within: float = 10.0) -> None:
    """Returns once the condition holds; fails the test where it does not in time."""
    end = time.monotonic() + within
    while not condition():
        if time.monotonic() > end:
            message = f"not within {within} s: {what}"
            raise AssertionError(message)
        time.sleep(0.005)
