"""Commands that change: `bind`, `rebind`, `unbind`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from . import values
from .session import Session, command

if TYPE_CHECKING:
    from hanaming import Receipt

_CREATE_PARENTS = click.option("-p", "--create-parents", is_flag=True, help="Make the contexts on the way.")


@command(
    mutation=True,
    examples="""
    hanaming bind orders '{"url": "http://10.0.0.5:8080"}'
    hanaming bind -p services/mail/smtp '"mail.internal:25"'
    hanaming bind current '{"$link": "services/mail/smtp"}'
    hanaming bind --local cache '"127.0.0.1:6379"'
    hanaming bind logo - < logo.json
    """,
)
@click.argument("name")
@click.argument("value")
@_CREATE_PARENTS
def bind(session: Session, name: str, value: str, create_parents: bool) -> None:
    """Binds a name that is free.

    Into the cluster tree, or with --local into one node's local tree.

    VALUE is JSON ("-" reads it from standard input). What JSON lacks has a form of its own:

    \b
      {"$bytes": "aGk="}            bytes, in base64
      {"$link": "services/mail"}    a symbolic link
      {"$reference": {"class_name": "DataSource", "addresses": [["url", "db:5432"]], "factory": null}}
      {"$float": "nan"}             nan, inf, -inf
      {"$dict": {"$link": "x"}}     a dict whose only key starts with $
    """  # noqa: D301 - click's mark for lines that stay as they are
    receipt = session.context.bind(name, _value(value), create_parents=create_parents)
    _show(session, f"bound {name!r}", receipt)


@command(
    mutation=True,
    examples="""
    hanaming rebind orders '{"url": "http://10.0.0.6:8080"}'
    """,
)
@click.argument("name")
@click.argument("value")
@_CREATE_PARENTS
def rebind(session: Session, name: str, value: str, create_parents: bool) -> None:
    """Binds a name, in place of what is bound there. VALUE as with `hanaming bind`."""
    receipt = session.context.rebind(name, _value(value), create_parents=create_parents)
    _show(session, f"bound {name!r}", receipt)


@command(
    mutation=True,
    examples="""
    hanaming unbind orders
    """,
)
@click.argument("name")
def unbind(session: Session, name: str) -> None:
    """Removes a binding. Removing one that isn't there is no error; it says so.

    Without --local the cluster tree alone is touched: a name that is bound in a node's local tree too can still be
    looked up afterwards; `hanaming resolve` says why.
    """
    removed = session.context.unbind(name)
    if session.json:
        session.print_json({"removed": removed})
    else:
        session.note(f"removed {name!r}" if removed else f"nothing was bound at {name!r}")


def _value(text: str) -> object:
    if text != "-":
        return values.parse(text)
    if sys.stdin is None:
        raise values.ValueSyntaxError("the value is to be read from standard input, which is closed")
    return values.parse(sys.stdin.read())


def _show(session: Session, what: str, receipt: Receipt) -> None:
    if session.json:
        session.print_json(
            {
                "version": receipt.version,
                "acked_by": receipt.acked_by,
                "live": receipt.live,
                "members": receipt.members,
            }
        )
    else:
        session.note(f"{what}, held by {', '.join(receipt.acked_by)}")
