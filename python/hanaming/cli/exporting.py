"""`hanaming export`: a whole tree as JSON."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from hanaming import NameNotFoundError, NotContextError
from hanaming._show import counted

from . import errors, streams, tree_file
from .progress import Progress
from .session import Session, command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hanaming import Context, Tree


@command(
    examples="""
    hanaming export tree.json
    hanaming export | jq keys
    hanaming export --local --provider hn://10.0.0.5:11100 n1.json
    """
)
@click.argument("file", default="-")
def export(session: Session, file: str) -> int | None:
    """Writes the cluster tree as JSON: values, references, links and contexts.

    With --local one node's local tree. FILE is a file, which is replaced when all is written, or "-", standard output.
    One name stands on a line, in order; `hanaming import` takes it. Names that are changed meanwhile are in it as they
    were or as they are. Of versions that disagree it has the one that is shown (`hanaming check` lists all), of a
    registered service its value alone.
    """
    status = session.context.status()
    total = status.local_names if session.local else status.cluster_names
    walk = _Walk(session.context, "local" if session.local else "cluster")
    with Progress("exported", total, quiet=session.quiet) as progress:

        def seen() -> Iterator[tuple[str, Any]]:
            for entry in walk.beneath(""):
                progress.add()
                yield entry

        if file == "-":
            for piece in tree_file.lines(seen()):
                click.echo(piece, nl=False)
        else:
            try:
                with _replacing(Path(file)) as output:
                    output.writelines(tree_file.lines(seen()))
            except OSError as error:
                streams.say(f"hanaming: {file} can't be written: {error.strerror or error}")
                return errors.NOT_WRITTEN
    told = {"contexts": walk.contexts, "bindings": walk.bindings}
    if session.json and file != "-":
        session.print_json(told)
    else:
        session.note(f"exported {counted(walk.bindings, 'binding')} in {counted(walk.contexts, 'context')}")
    return None


class _Walk:
    """All names of a tree, each context before what lies beneath it; and how many there were."""

    def __init__(self, context: Context, tree: Tree) -> None:
        self.contexts = 0
        self.bindings = 0
        self._context = context
        self._tree = tree

    def beneath(self, name: str) -> Iterator[tuple[str, Any]]:
        # A context that is gone since it was listed has nothing beneath it.
        with contextlib.suppress(*((NameNotFoundError, NotContextError) if name else ())):
            for binding in self._context.list_bindings(name, tree=self._tree):
                if binding.kind == "context":
                    self.contexts += 1
                    yield binding.name, tree_file.CONTEXT
                    yield from self.beneath(binding.name)
                else:
                    self.bindings += 1
                    yield binding.name, binding.value


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[IO[str]]:
    """The file, which has its new content wholly or not at all; a pipe or a device is written as it is."""
    if path.exists() and not path.is_file():
        with path.open("w", encoding="utf-8") as output:
            yield output
        return
    path = path.resolve()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8") as output:
            yield output
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
