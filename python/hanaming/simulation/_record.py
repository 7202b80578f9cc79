"""One row of what a simulation shows."""

from __future__ import annotations

from typing import TypedDict


class Record(TypedDict):
    """What one server got in one slice of the time."""

    time: float
    """When the slice begins, in seconds."""
    day: float
    """The same in days."""
    server: str
    """`s1`, `s2`, …: a server stays the same one wherever it comes back."""
    up: bool
    """Whether it was up at the slice's end."""
    calls: int
    """How many calls it answered."""
    share: float
    """Which part of all answered calls that is, from 0 to 1."""
    failed: int
    """How many calls failed in this slice, whatever server they were for."""
    dns_refresh: str
    """The mode, so that the records of several simulations can stand in one table."""
