"""How many of something, in words."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number} {what}{'' if number == 1 else 's'}"
