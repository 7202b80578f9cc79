"""Reads arguments where the core doesn't: an error says which one is wrong, and what it can be.

`src/python/parameter.rs` does the same for what goes to the core as it is, in the same words.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hanaming.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LONG = 10**30


def wrong_type(what: str, wanted: str, value: object) -> TypeError:
    """What is raised for an argument of another type."""
    return TypeError(f"{what} must be {wanted}, not {type(value).__name__}")


def whole(what: str, value: object) -> int:
    """A whole number."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise wrong_type(what, "a whole number", value)
    number: int = value.__index__()
    return number


def count(what: str, value: object, *, least: int = 1, most: int = 1_000_000) -> int:
    """A whole number within limits."""
    number = whole(what, value)
    if not least <= number <= most:
        raise ConfigurationError(f"{what} is {shown(number)}: it can be from {least} to {most}")
    return number


def shown(number: int) -> str:
    """A whole number for a message: Python itself refuses to write very long ones."""
    return str(number) if abs(number) < _LONG else f"a number of {number.bit_length()} bits"


def number(what: str, value: object) -> float:
    """A number."""
    if isinstance(value, bool) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise wrong_type(what, "a number", value)
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise ConfigurationError(f"{what} is larger than any float; give a smaller number") from None


def time(what: str, value: object, *, or_nothing: bool = False) -> float:
    """A number above 0, or also 0."""
    seconds = number(what, value)
    if not math.isfinite(seconds) or seconds < 0 or (seconds == 0 and not or_nothing):
        raise ConfigurationError(
            f"{what} is {seconds:g}: give a {'number, 0 or more' if or_nothing else 'positive number'}"
        )
    return seconds


def flag(what: str, value: object) -> bool:
    """`True` or `False`."""
    if not isinstance(value, bool):
        raise wrong_type(what, "True or False", value)
    return value


def text(what: str, value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise wrong_type(what, "a str", value)
    if any("\ud800" <= one <= "\udfff" for one in value):
        raise ConfigurationError(f"{what}: the str has a lone surrogate, which no text in UTF-8 has")
    return value


def path(what: str, value: object) -> Path:
    """A file's or a folder's name."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise wrong_type(what, "a path, as a str or an os.PathLike", value)
    return Path(os.fsdecode(value))


def items(what: str, value: object, wanted: str) -> list[Any]:
    """What a collection has in it; a single text is none."""
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
        raise wrong_type(what, f"a list of {wanted}", value)
    return list(value)


def indices(what: str, value: object) -> list[int]:
    """Places in a sequence."""
    return [whole(f"{what}[{place}]", one) for place, one in enumerate(items(what, value, "indices"))]


def mapping(what: str, value: object, wanted: str) -> Mapping[Any, Any]:
    """A mapping."""
    if not isinstance(value, Mapping):
        raise wrong_type(what, wanted, value)
    return value


def function(what: str, value: Any) -> Callable[..., Any]:
    """Something that can be called."""
    if not callable(value):
        raise wrong_type(what, "something that can be called", value)
    called: Callable[..., Any] = value
    return called


def pairs(what: str, value: object, form: str) -> Iterator[tuple[object, object]]:
    """Pairs of this form."""
    for row in items(what, value, form):
        pair = tuple(row) if isinstance(row, Iterable) else ()
        if len(pair) != 2:  # noqa: PLR2004 - a pair
            raise TypeError(f"{what} must be a list of {form}, and has {row!r} in it")
        yield pair[0], pair[1]
