"""How far long work is: a line that is redrawn on a terminal, a line now and then in a log, nothing with `-q`."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import TYPE_CHECKING

import click

from . import streams

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

# On a terminal often enough to look alive; elsewhere each is a line that stays.
_REDRAWN = 0.1
_LOGGED = 10.0
_CLEAR = "\r\x1b[K"


class Progress:
    """Counts what is done, from any thread, for as long as the block lasts."""

    def __init__(self, doing: str, total: int, *, quiet: bool) -> None:
        self.done = 0
        self._doing = doing
        self._total = total
        self._terminal = sys.stderr.isatty()
        self._every = float("inf") if quiet else _REDRAWN if self._terminal else _LOGGED
        self._next = time.monotonic() + self._every
        self._drawn = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            self._write(_CLEAR)

    def add(self, count: int = 1) -> None:
        """So many more are done."""
        with self._lock:
            self.done += count
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + self._every
            text = f"{self._doing}: {self.done:,} of {max(self.done, self._total):,}"
        if self._terminal:
            self._drawn = True
            self._write(f"{_CLEAR}{text}")
        else:
            streams.say(text)

    @staticmethod
    def _write(text: str) -> None:
        with contextlib.suppress(OSError):
            click.echo(text, err=True, nl=False)
