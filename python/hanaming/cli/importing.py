"""`hanaming import`: binds what is in a tree's JSON.

It can be done again: what is bound as the file says is left as it is. So an import that was interrupted, or of which
the outcome is unknown, goes on where it was, and one that is through changes nothing.
"""

from __future__ import annotations

import itertools
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hanaming import (
    CommunicationError,
    CompletionStatus,
    ConfigurationError,
    Context,
    ContextClosedError,
    Name,
    NameAlreadyBoundError,
    NameNotFoundError,
    NamingError,
)
from hanaming._show import counted

from . import errors, streams, values
from .progress import Progress
from .session import Session, command
from .tree_file import CONTEXT, Entry, TreeFile

if TYPE_CHECKING:
    from collections.abc import Iterable

# As many as one group commit takes without making a single call much slower.
_AT_ONCE = 32
_TOLD = 20
# Somebody else may bind and unbind the same name meanwhile.
_TRIES = 3


@command(
    mutation=True,
    examples="""
    hanaming import tree.json
    hanaming export --provider hn://old:11100 | hanaming import --provider hn://new:11100 -
    hanaming import --replace tree.json
    """,
)
@click.argument("file")
@click.option("--replace", is_flag=True, help="Replace values and links that are bound otherwise; else they are kept.")
def import_(session: Session, file: str, replace: bool) -> int | None:
    """Binds what is in a tree's JSON, as `hanaming export` writes it.

    Into the cluster tree, or with --local into one node's local tree. FILE is a file, or "-", standard input. It is
    checked as a whole before anything is bound.

    What is bound already as the file says is left alone, so an import can be repeated, and goes on where an earlier one
    ended. What is bound otherwise is refused, told with its line, and makes the exit status 1; with --replace it is
    replaced, but for contexts, which nothing replaces. What the file doesn't name is never touched.

    \b
      {
      "services": {"$context": "services"},
      "services/mail": "smtp.internal:25",
      "mail": {"$link": "services/mail"}
      }
    """  # noqa: D301 - click's mark for lines that stay as they are
    tree = _read(file)
    work = _Import(session.context, tree, replace)
    with Progress("imported", len(tree.entries), quiet=session.quiet) as progress:
        work.run(progress)
    return _told(session, work, progress.done)


class _Outcome(Enum):
    BOUND = "bound"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


@dataclass
class _Import:
    context: Context
    tree: TreeFile
    replace: bool
    counts: dict[_Outcome, int] = field(default_factory=lambda: dict.fromkeys(_Outcome, 0))
    refused: list[tuple[Entry, str]] = field(default_factory=list)
    failure: NamingError | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: set[str] = field(default_factory=set)
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self, progress: Progress) -> None:
        """Contexts from the top down, then what is bound in them."""
        contexts = [entry for entry in self.tree.entries if entry.value is CONTEXT]
        contexts.sort(key=lambda entry: len(entry.name))
        levels = [list(level) for _, level in itertools.groupby(contexts, key=lambda entry: len(entry.name))]
        bindings = [entry for entry in self.tree.entries if entry.value is not CONTEXT]

        def one(entry: Entry) -> None:
            if not self._stop.is_set() and self._take(entry):
                progress.add()

        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="import") as threads:
            try:
                for level in (*levels, bindings):
                    _all(threads, one, level)
            finally:
                self._stop.set()  # Ctrl-C: what is under way ends, and nothing is begun

    def _take(self, entry: Entry) -> bool:
        """One entry; false where that it was done is not known."""
        beneath = next((text for text in _parents(entry.name) if text in self._closed), None)
        try:
            outcome = f"{beneath!r} is no context" if beneath else self._apply(entry)
        except (CommunicationError, ContextClosedError) as error:
            self._fail(error)
            return False
        except NamingError as error:
            if error.completion is CompletionStatus.MAYBE:
                self._fail(error)
                return False
            outcome = str(error)
        with self._lock:
            if isinstance(outcome, _Outcome):
                self.counts[outcome] += 1
            else:
                self.refused.append((entry, outcome))
                if entry.value is CONTEXT:
                    self._closed.add(str(entry.name))
        return True

    def _apply(self, entry: Entry) -> _Outcome | str:
        for _ in range(_TRIES):
            if self._make(entry):
                return _Outcome.BOUND
            found = self._found(str(entry.name))
            if found is not None:
                return self._over(entry, *found)
        return "somebody else binds and unbinds it all the time"

    def _make(self, entry: Entry) -> bool:
        """Whether the name was free."""
        try:
            if entry.value is CONTEXT:
                self.context.create_subcontext(entry.name)
            else:
                self.context.bind(entry.name, entry.value)
        except NameAlreadyBoundError:
            return False
        return True

    def _found(self, name: str) -> tuple[Any] | None:
        try:
            return (self.context.lookup_link(name),)
        except NameNotFoundError:  # it is gone again
            return None

    def _over(self, entry: Entry, found: Any) -> _Outcome | str:
        """The name is bound: to `found`."""
        was_context, is_context = isinstance(found, Context), entry.value is CONTEXT
        if was_context or is_context:
            if was_context and is_context:
                return _Outcome.UNCHANGED
            return (
                "a context is there"
                if was_context
                else f"bound to {values.compact(str(entry.name), found)}, which is no context"
            )
        if _text(found) == _text(entry.value):
            return _Outcome.UNCHANGED
        if not self.replace:
            return f"bound to {values.compact(str(entry.name), found)}"
        self.context.rebind(str(entry.name), entry.value)
        return _Outcome.REPLACED

    def _fail(self, error: NamingError) -> None:
        with self._lock:
            # Of several the one that leaves most in doubt.
            if self.failure is None or error.completion is CompletionStatus.MAYBE:
                self.failure = error
        self._stop.set()


def _all(threads: ThreadPoolExecutor, one: Any, entries: list[Entry]) -> None:
    # In rows: a future for each of a million names would take more memory than the names.
    rows = [entries[start::_AT_ONCE] for start in range(min(_AT_ONCE, len(entries)))]

    def each(row: Iterable[Entry]) -> None:
        for entry in row:
            one(entry)

    for _ in threads.map(each, rows):
        pass


def _parents(name: Name) -> Iterable[str]:
    return (str(name[:end]) for end in range(1, len(name)))


def _text(value: Any) -> str:
    """Equal for equal values only: to Python `True`, `1` and `1.0` are."""
    return json.dumps(values.encode(value), sort_keys=True)


def _read(file: str) -> TreeFile:
    try:
        if file != "-":
            return TreeFile(file, Path(file).read_bytes())
        if sys.stdin is None:
            raise ConfigurationError("the tree is to be read from standard input, which is closed")
        return TreeFile("<stdin>", sys.stdin.buffer.read())
    except OSError as error:
        raise ConfigurationError(f"{file} can't be read: {error.strerror or error}") from None


def _told(session: Session, work: _Import, done: int) -> int | None:
    counts, tree = {outcome.value: count for outcome, count in work.counts.items()}, work.tree
    refused = sorted(work.refused, key=lambda one: one[0].at)
    remaining = len(tree.entries) - done
    if session.json:
        rows = [{"name": str(entry.name), "line": tree.line(entry), "why": why} for entry, why in refused]
        session.print_json({**counts, "refused": rows, "remaining": remaining})
    else:
        for entry, why in refused[:_TOLD]:
            streams.say(f"hanaming: {tree.place(entry)}: {str(entry.name)!r} is refused: {why}")
        if len(refused) > _TOLD:
            streams.say(f"hanaming: and {len(refused) - _TOLD} more are refused")
        told = [f"{count:,} {word}" for word, count in {**counts, "refused": len(refused)}.items() if count]
        session.note(f"of {counted(len(tree.entries), 'name')}: {', '.join(told) or 'none bound'}")
    if work.failure is None:
        return errors.ANSWER if refused else None
    streams.say(f"hanaming: {work.failure}")
    streams.say(
        f"hanaming: {counted(remaining, 'name')} of {len(tree.entries):,} remain; the same command goes on with them"
    )
    return errors.exit_status(work.failure, mutation=True)
