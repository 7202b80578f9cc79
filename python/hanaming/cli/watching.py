"""`hanaming watch`: prints what is bound, and then each change, until it is interrupted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from hanaming import Binding, Context, Event

from . import errors, values
from .session import Session, command

if TYPE_CHECKING:
    from hanaming.types import WatchScope


@command(
    examples="""
    hanaming watch
    hanaming watch services --scope one_level
    hanaming watch --no-initial --json
    """
)
@click.argument("name", default="")
@click.option(
    "--scope",
    type=click.Choice(["object", "one_level", "subtree"]),
    default="subtree",
    show_default=True,
    help="The name alone, the names directly beneath it, or both and all that is deeper.",
)
@click.option("--no-initial", is_flag=True, help="Leave out what is bound at the beginning.")
def watch(session: Session, name: str, scope: WatchScope, no_initial: bool) -> None:
    """Prints each change of a name and of what lies beneath it.

    First what is bound, as "added". Of the cluster tree, through other nodes where one fails; with --local of the one
    node's tree. With --json each line is a document. It goes on until it is interrupted (Ctrl-C), which is no error.
    """
    # A watch goes on asking while nobody answers: that nobody is there is said at the beginning.
    session.context.status()
    try:
        with session.context.watch(name, scope=scope, initial=not no_initial) as events:
            for event in events:
                click.echo(json.dumps(_document(event), ensure_ascii=False) if session.json else _line(event))
    except KeyboardInterrupt:
        return


def _line(event: Event) -> str:
    if event.kind == "resynchronised":
        return "resynchronised  (too much changed at once; what follows leads from what was shown to what is)"
    name = f"{event.old.name} → {event.name}" if event.kind == "renamed" and event.old is not None else event.name
    sides = [_shown(side) for side in (event.old, event.new) if side is not None]
    shown = sides[-1] if event.kind in ("renamed", "removed", "added") else " → ".join(sides)
    return errors.printable(f"{event.kind:<8}  {name}  {shown}")


def _shown(binding: Binding) -> str:
    return "(context)" if isinstance(binding.value, Context) else values.compact(binding.name, binding.value)


def _document(event: Event) -> dict[str, Any]:
    return {"kind": event.kind, "name": event.name, "old": _side(event.old), "new": _side(event.new)}


def _side(binding: Binding | None) -> dict[str, Any] | None:
    if binding is None:
        return None
    document = {"name": binding.name, "kind": binding.kind, "class_name": binding.class_name, "node": binding.node}
    return document if isinstance(binding.value, Context) else document | {"value": values.encode(binding.value)}
