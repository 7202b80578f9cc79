"""Gives the reference what a stub alone lacks: the Rust core's own docs, and functions that are nothing but overloads.

An extension of griffe, which reads the sources for mkdocstrings and never sees the built module.
"""

from __future__ import annotations

from typing import Any

import griffe

from hanaming import _native


class NativeDocs(griffe.Extension):
    """Has the types from `_native.pyi` and the words from `hanaming._native`."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Called with the whole package, once it is read."""
        stub = pkg["_native"]
        _describe(stub, _native)


def _describe(described: griffe.Module | griffe.Class, thing: Any) -> None:
    for name, overloads in described.overloads.items():
        if name not in described.members:
            # In a stub no implementation follows them; the last one takes what all take.
            described.set_member(name, overloads[-1])
            overloads[-1].overloads = overloads[:-1]
    if isinstance(described, griffe.Class):
        # What was added goes where the source has it.
        described.members = dict(sorted(described.members.items(), key=lambda member: member[1].lineno or 0))
    for name, member in described.members.items():
        text = getattr(getattr(thing, name, None), "__doc__", None)
        if text and not member.is_alias and not member.docstring and not name.startswith("__"):
            member.docstring = griffe.Docstring(text, parent=member)
        if isinstance(member, griffe.Class):
            _describe(member, getattr(thing, name))
