"""The `hanaming` program.

A command's body says what is asked and how the answer looks; what all commands share stands once, in `session`
(options, the context, errors), `errors` (messages and exit statuses), `values` (JSON) and `tables`.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click
from click.utils import PacifyFlushWrapper

from . import errors
from .program import program

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> int:
    """Runs the program and returns its exit status. Nothing but the message of an error ever reaches the terminal."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = program.main(args, prog_name="hanaming", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        return errors.USAGE
    except (click.Abort, KeyboardInterrupt):
        return errors.INTERRUPTED
    except BrokenPipeError:
        return _reader_left()
    except SystemExit:
        if isinstance(sys.stdout, PacifyFlushWrapper):  # how click says that standard output broke
            return _reader_left()
        raise
    return status if isinstance(status, int) else errors.DONE


def _reader_left() -> int:
    # What is still buffered has nowhere to go: let the interpreter's last flush find a place that takes it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return errors.BROKEN_PIPE
