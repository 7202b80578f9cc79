"""Commands that read: `lookup`, `ls`, `tree`, `resolve`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hanaming import Context, Name
from hanaming._show import counted

from . import errors, tables, values
from .session import Session, command
from .shape import Count

if TYPE_CHECKING:
    from hanaming import Binding, Resolution, Tree

_TREES = click.Choice(["all", "cluster", "local"])
_VALUE_WIDTH = 60


@command(
    examples="""
    hanaming lookup orders
    hanaming lookup orders limits --json
    hanaming lookup --raw urls/shop
    """
)
@click.argument("names", metavar="NAME…", nargs=-1, required=True)
@click.option("--raw", is_flag=True, help="Print a string or bytes as they are, without quotes.")
@click.option("--no-follow", is_flag=True, help="Where the name is a link, show the link, not what it leads to.")
def lookup(session: Session, names: tuple[str, ...], raw: bool, no_follow: bool) -> int | None:
    """Prints what is bound at a name, as JSON.

    Several names give one object; names that are not bound are left out of it, are named on standard error, and
    make the exit status 1.
    """
    if len(names) > 1:
        if raw or no_follow:
            raise click.UsageError("--raw and --no-follow are for one name")
        return _lookup_many(session, names)
    name = names[0]
    value = session.context.lookup_link(name) if no_follow else session.context.lookup(name)
    if raw and isinstance(value, bytes):
        sys.stdout.buffer.write(value)
    elif raw and isinstance(value, str):
        click.echo(value)
    elif isinstance(value, Context):
        session.note(f"{name!r} is a context: `hanaming ls` lists it")
        click.echo(values.compact(name, value))
    else:
        click.echo(values.dumps(values.encode(value), indent=2 if session.json or sys.stdout.isatty() else None))
    return None


def _lookup_many(session: Session, names: tuple[str, ...]) -> int | None:
    found = session.context.lookup_many(names)
    session.print_json({name: values.document(name, value) for name, value in found.items()})
    absent = [name for name in names if name not in found]
    if absent:
        told = f"not bound: {', '.join(absent)}"
        session.complain(told, {"type": "NameNotFoundError", "message": told, "names": absent, "status": errors.ANSWER})
    return errors.ANSWER if absent else None


@command(
    examples="""
    hanaming ls
    hanaming ls services -l
    hanaming ls --tree cluster --json
    hanaming ls --local --provider hn://10.0.0.5:11100
    """
)
@click.argument("name", default="")
@click.option("-l", "--long", is_flag=True, help="Also kind, value, source and node of each.")
@click.option("--tree", type=_TREES, default="all", show_default=True, help="Which trees are merged.")
def ls(session: Session, name: str, long: bool, tree: Tree) -> None:
    """Lists the names in a context.

    The cluster tree and all live nodes' local trees are merged.
    """
    _check(session, tree)
    if session.json or long:
        bindings = session.context.list_bindings(name, tree=tree)
        if session.json:
            session.print_json([_row_document(binding) for binding in bindings])
        else:
            rows = [
                [b.name, b.kind, b.source, b.node, "" if b.kind == "context" else values.compact(b.name, b.value)]
                for b in bindings
            ]
            tables.show(["name", "kind", "source", "node", "value"], rows)
        return
    for entry in session.context.list_names(name, tree=tree):
        click.echo(errors.printable(entry.name))


def _check(session: Session, tree: Tree) -> None:
    if session.local and tree == "cluster":
        raise click.UsageError(
            "--local asks for one node's local tree, and --tree cluster for another: give one of them"
        )


@command(
    examples="""
    hanaming tree
    hanaming tree services --depth 2
    hanaming tree --local
    """
)
@click.argument("name", default="")
@click.option("--depth", type=Count(min=1), default=32, help="How many levels to show (all of them by default).")
@click.option("--tree", "trees", type=_TREES, default="all", show_default=True, help="Which trees are merged.")
def tree(session: Session, name: str, depth: int, trees: Tree) -> None:
    """Shows all that lies beneath a context."""
    _check(session, trees)
    if session.json:
        session.print_json(_subtree(session.context, name, depth, trees))
        return
    printer = _TreePrinter(session.context, trees)
    top = printer.listed(name)  # before anything is printed: it may not be there
    click.echo(errors.printable(name) or ".")
    printer.show(top, depth)
    session.note(f"{counted(printer.bindings, 'binding')} in {counted(printer.contexts, 'context')}")


@command(
    examples="""
    hanaming resolve orders
    hanaming resolve orders --all
    """
)
@click.argument("name")
@click.option("--all", "everywhere", is_flag=True, help="What every node answers, not only the first.")
def resolve(session: Session, name: str, everywhere: bool) -> None:
    """Says how a name is found.

    Which step of the lookup rule answered, which node has it, who was asked; with --all, what every node answers.
    """
    if everywhere:
        answers = session.context.resolve(name, all=True)
        if session.json:
            session.print_json([_resolution(name, answer) for answer in answers])
            return
        rows = [[a.node, a.source, a.version or "", values.compact(name, a.value)] for a in answers]
        tables.show(["node", "source", "version", "value"], rows)
        return
    answer = session.context.resolve(name)
    if session.json:
        session.print_json(_resolution(name, answer))
        return
    step = {
        "cluster": "the cluster tree",
        "local": "the asked node's own local tree",
        "peer": "another node's local tree",
    }
    rows = [
        ["value", values.compact(name, answer.value)],
        ["source", f"{answer.source} ({step[answer.source]})" + (", stale" if answer.stale else "")],
        ["node", answer.node],
        ["version", answer.version or "-"],
        ["elapsed", f"{answer.elapsed * 1000:.1f} ms"],
        ["asked", ", ".join(answer.asked)],
    ]
    for key, text in rows:
        click.echo(f"{key:<8} {errors.printable(text)}")


def _row_document(binding: Binding) -> dict[str, Any]:
    document: dict[str, Any] = {
        "name": binding.name,
        "kind": binding.kind,
        "class_name": binding.class_name,
        "source": binding.source,
        "node": binding.node,
        "sources": binding.sources,
    }
    if binding.kind != "context":
        document["value"] = values.encode(binding.value)
    return document


def _resolution(name: str, answer: Resolution) -> dict[str, Any]:
    return {
        "value": values.document(name, answer.value),
        "source": answer.source,
        "node": answer.node,
        "version": answer.version,
        "elapsed": answer.elapsed,
        "asked": answer.asked,
        "stale": answer.stale,
        "attempts": errors.attempt_documents(answer.attempts),
    }


def _subtree(context: Context, name: str, depth: int, trees: Tree) -> list[dict[str, Any]]:
    rows = []
    for binding in context.list_bindings(name, tree=trees):
        row = _row_document(binding)
        if binding.kind == "context" and depth > 1:
            row["children"] = _subtree(context, binding.name, depth - 1, trees)
        rows.append(row)
    return rows


class _TreePrinter:
    """Prints a context and what lies beneath, and counts it."""

    def __init__(self, context: Context, trees: Tree) -> None:
        self.contexts = 0
        self.bindings = 0
        self._context = context
        self._trees = trees

    def listed(self, name: str) -> list[Binding]:
        """What is directly beneath a context."""
        return self._context.list_bindings(name, tree=self._trees)

    def show(self, bindings: list[Binding], depth: int, indent: str = "") -> None:
        """These and everything beneath them, at most `depth` levels in all."""
        for number, binding in enumerate(bindings, 1):
            branch, below = ("└── ", "    ") if number == len(bindings) else ("├── ", "│   ")
            line = errors.printable(f"{indent}{branch}{Name(binding.name)[-1:]}")
            if binding.kind == "context":
                self.contexts += 1
                click.echo(line)
                if depth > 1:
                    self.show(self.listed(binding.name), depth - 1, indent + below)
            else:
                self.bindings += 1
                value = tables.cut(values.compact(binding.name, binding.value), _VALUE_WIDTH)
                click.echo(f"{line}  {value}  [{errors.printable(binding.node)}]")
