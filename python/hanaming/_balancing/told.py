"""The attempts that a call made: on the exception that comes out of it, and of the last call of a thread or task."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from hanaming._native import Calling
    from hanaming.records import Attempt


def tell(error: BaseException, attempts: list[Attempt]) -> None:
    """Has an exception that comes out of a call bear its attempts: as `.attempts`, and as notes from Python 3.11 on.

    One that tells attempts of its own, as `NamingError` does, keeps these as its attribute.
    """
    before = getattr(error, "attempts", None)
    ours: tuple[str, ...] = getattr(error, "_hanaming_notes", ())
    with suppress(AttributeError, TypeError):  # some exceptions can't be given attributes
        if not before or ours:
            error.attempts = attempts  # type: ignore[attr-defined]
        error._hanaming_notes = _note(error, attempts, ours)  # type: ignore[attr-defined] # noqa: SLF001 - it is ours


def _note(error: BaseException, attempts: list[Attempt], before: tuple[str, ...]) -> tuple[str, ...]:
    """Adds a note for each attempt, in place of those of an earlier call that raised the very same object."""
    notes = tuple(f"attempt {number}: {attempt}" for number, attempt in enumerate(attempts, 1))
    if hasattr(error, "add_note"):
        kept: list[str] = getattr(error, "__notes__", [])
        kept[:] = [note for note in kept if note not in before]
        for note in notes:
            error.add_note(note)
    return notes


class OfThreads:
    """The last finished call of each thread."""

    def __init__(self) -> None:
        self._threads = threading.local()

    def keep(self, calling: Calling) -> None:
        """This call has finished."""
        self._threads.last = calling

    def last(self) -> Calling | None:
        """The last one that finished here."""
        found: Calling | None = getattr(self._threads, "last", None)
        return found


class OfTasks(OfThreads):
    """The last finished call of each asyncio task, and of each thread for what is called outside of any."""

    def __init__(self) -> None:
        super().__init__()
        self._tasks: WeakKeyDictionary[Any, Calling] = WeakKeyDictionary()

    def keep(self, calling: Calling) -> None:
        """This call has finished."""
        task = _task()
        if task is None:
            super().keep(calling)
        else:
            self._tasks[task] = calling

    def last(self) -> Calling | None:
        """The last one that finished here."""
        task = _task()
        return super().last() if task is None else self._tasks.get(task)


def _task() -> Any:
    import asyncio  # noqa: PLC0415 - who is here has loaded it long ago

    return None if asyncio._get_running_loop() is None else asyncio.current_task()  # noqa: SLF001 - raises nothing
