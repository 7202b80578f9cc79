"""Leaves out of a report what tells whose it is, so that it can be shown to others.

Each host, address and user gets a name of its own (`host-1`), the same one everywhere, so that what belongs together still
can be seen to. Passwords are left out altogether. Class names stay, and so do ports: they are what a reader needs.

There are rules for each kind: `urls`, `secrets`, `users`, `hosts`. Each goes over the text once, and none can match what
another has put there, for that is a character of its own until the end (`names`). Every pattern begins only where a run
of its characters does, or is bounded, so that the time is that of the text's length whatever stands in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import hosts, secrets, urls, users
from .names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Redactor"]


class Redactor:
    """Replaces, and remembers what by what."""

    def __init__(self) -> None:
        self._names = Names()

    def learn(self, texts: Iterable[str]) -> None:
        """Meets the names in texts that are shown later, so that one which only the last of them gives away is known."""
        for text in texts:
            self._replaced(text)

    def text(self, text: str) -> str:
        """The text without what tells whose it is."""
        return self._names.shown(self._names.known(self._replaced(text)))

    def _replaced(self, text: str) -> str:
        text = self._names.prepared(text)
        for rules in (urls, secrets, users, hosts):
            text = rules.replace(text, self._names)
        return text
