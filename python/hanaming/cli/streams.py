"""Standard output and standard error, also where they are closed, full or abandoned.

Python has no stream at all where a descriptor was closed before it started, and would come upon a full disk only when
it ends, with a traceback. Here a closed output is one that can't be written, as a full one is, and standard error is
for whoever may be listening: that nobody is changes no exit status.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

import click

from . import errors


def prepare() -> None:
    """Makes both streams such that writing either works or raises `OSError`."""
    # Descriptors are taken lowest first: these take the closed ones' places, before a socket does.
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """One line on standard error, where somebody reads it."""
    with contextlib.suppress(OSError):
        click.echo(errors.printable(text), err=True)


def discard(stream: TextIO) -> None:
    """What is still buffered has nowhere to go: lets the interpreter's last flush find a place that takes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def leave() -> None:
    """Before the process ends: what standard error would not take must not become an exit status of Python's own."""
    try:
        sys.stderr.flush()
    except OSError:
        discard(sys.stderr)


def lost(error: OSError) -> int:
    """The exit status where standard output could not be written."""
    discard(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return errors.BROKEN_PIPE  # whoever read has seen enough
    say(f"hanaming: standard output can't be written: {error.strerror or error}")
    return errors.NOT_WRITTEN
