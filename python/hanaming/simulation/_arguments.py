"""Reads what `simulate` is given: an error says which argument is wrong, and what it can be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hanaming.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONG = 10**30


def count(what: str, value: object, *, least: int = 1, most: int = 1_000_000) -> int:
    """A whole number."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} is a {type(value).__name__}; give a whole number")
    number: int = value.__index__()
    if not least <= number <= most:
        # Python itself refuses to write very long numbers.
        shown = str(number) if abs(number) < _LONG else f"a number of {number.bit_length()} bits"
        raise ConfigurationError(f"{what} is {shown}: it can be from {least} to {most}")
    return number


def time(what: str, value: object, *, or_nothing: bool = False) -> float:
    """A number above 0, or also 0."""
    if isinstance(value, bool) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"{what} is a {type(value).__name__}; give a number")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise ConfigurationError(f"{what} is larger than any number of seconds: give a smaller one") from None
    if not math.isfinite(number) or number < 0 or (number == 0 and not or_nothing):
        raise ConfigurationError(f"{what} is {number:g}: give a {'' if or_nothing else 'positive '}number")
    return number


def flag(what: str, value: object) -> bool:
    """`True` or `False`."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} is a {type(value).__name__}; give True or False")
    return value


def pairs(what: str, value: Any, form: str) -> Iterator[tuple[object, object]]:
    """Pairs of this form."""
    try:
        rows = [tuple(row) for row in value]
    except TypeError:
        raise TypeError(f"{what} is a list of {form}") from None
    for row in rows:
        if len(row) != 2:  # noqa: PLR2004 - a pair
            raise TypeError(f"{what} is a list of {form}, and has {row!r} in it")
        yield row[0], row[1]
