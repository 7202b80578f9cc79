"""Times as logs write them, as far as they can be read."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["read_time", "since"]

_ISO = re.compile(r"(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,]\d+)?\s?(Z|[+-]\d\d:?\d\d)?")
_FORMS = (
    "%b %d, %Y %I:%M:%S %p",
    "%d-%b-%Y %H:%M:%S",
    "%d/%b/%Y:%H:%M:%S",
    "%m-%d-%Y %H:%M:%S",
    "%m/%d/%y %H:%M:%S",
    "%a %b %d %H:%M:%S %Y",
)
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}
_LONGEST = 64


def read_time(text: str | None) -> datetime | None:
    """The moment that a log's time means, in local time where no zone is written; `None` where there is no date."""
    if not text:
        return None
    text = text.strip("[]() ")[:_LONGEST]
    if found := _ISO.search(text):
        zone = (found[7] or "").replace("Z", "+00:00")
        zone = zone if not zone or ":" in zone else f"{zone[:3]}:{zone[3:]}"
        written = f"{found[1]}-{found[2]}-{found[3]}T{found[4]}:{found[5]}:{found[6]}{zone}"
        return _moment(lambda: datetime.fromisoformat(written))
    return next((moment for form in _FORMS if (moment := _moment(partial(datetime.strptime, text, form)))), None)


def since(text: str, now: datetime) -> datetime:
    """The moment that `2h`, `3d` or a date with or without a time means. Raises `ValueError` where it means none."""
    if found := re.fullmatch(r"\s*(\d+)\s*(s|min|m|h|d|w)\s*", text):
        return now - timedelta(seconds=int(found[1]) * _UNITS[found[2]])
    try:
        return datetime.fromisoformat(text.strip().replace("Z", "+00:00")).astimezone()
    except ValueError:
        raise ValueError(f"{text!r} is no time: write 2h, 3d, 2026-11-30 or 2026-11-30T08:00") from None


def _moment(read: Callable[[], datetime]) -> datetime | None:
    try:
        return read().astimezone()
    except (ValueError, OverflowError):
        return None
