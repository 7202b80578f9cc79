"""The `hanaming` program.

A command's body says what is asked and how the answer looks; what all commands share stands once, in `session`
(options, the context, errors), `errors` (messages and exit statuses), `values` (JSON) and `tables`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

import click
from click.shell_completion import shell_complete

from . import errors, streams, values
from .program import program

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_COMPLETE = "_HANAMING_COMPLETE"


def main(args: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status. Nothing but the message of an error ever reaches the terminal."""
    streams.prepare()
    given = sys.argv[1:] if args is None else list(args)
    try:
        status = _run(given)
        sys.stdout.flush()
    except click.ClickException as error:
        if "--json" in given:
            usage = {"type": "UsageError", "message": error.format_message(), "status": errors.USAGE}
            streams.say(values.dumps({"error": usage}))
            return errors.USAGE
        error.message = errors.printable(error.message)  # type: ignore[misc] # what was typed may be in it
        with contextlib.suppress(OSError):
            error.show()
        return errors.USAGE
    except (click.Abort, KeyboardInterrupt):
        return errors.INTERRUPTED
    except OSError as error:
        return streams.lost(error)
    finally:
        streams.leave()
    return status


def _run(args: list[str]) -> int:
    # Not click's own `main`: it answers a broken pipe and Ctrl-C with exit status 1.
    if instruction := os.environ.get(_COMPLETE):
        return shell_complete(program, {}, "hanaming", _COMPLETE, instruction)
    try:
        with program.make_context("hanaming", args) as context:
            status = program.invoke(context)
    except click.exceptions.Exit as left:
        return left.exit_code
    return status if isinstance(status, int) else errors.DONE
