"""A tree as a JSON file: one object, from full names to values in the command line's form.

A context is `{"$context": "its/name"}`; contexts on the way to a name need not be there. One name stands on a line, in
the names' order, so that two exports can be compared by `diff`. Reading takes any layout, checks the whole file before
anything is done with it, and knows the place of each name for whoever has to be told of it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

from hanaming import InvalidNameError, Name

from . import values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SPACE = re.compile(r"[ \t\r\n]*")


class TreeFileError(ValueError):
    """A file that is no tree; the message begins with the place."""


class ContextMark:
    """Stands for a context among values."""


CONTEXT: Final = ContextMark()


@dataclass(frozen=True)
class Entry:
    """A name and what is to be bound there: a value, or `CONTEXT`. `at` is where it stands in the text."""

    name: Name
    value: Any
    at: int


class TreeFile:
    """A file that was read: its entries, and their places."""

    def __init__(self, source: str, content: bytes) -> None:
        self._source = source
        try:
            self._text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise TreeFileError(f"{source}:{line}: not UTF-8") from None
        self._read: dict[str, Entry] = {}
        for entry in self._scan():
            text = str(entry.name)
            if text in self._read:
                self._fail(entry.at, f"{text!r} stands here and at {self.place(self._read[text])}")
            self._read[text] = entry
        self.entries = [*self._implied(), *self._read.values()]
        self.entries.sort(key=lambda entry: tuple(entry.name))

    def place(self, entry: Entry) -> str:
        """Where an entry stands, as `file:line:column`."""
        return self._place(entry.at)

    def line(self, entry: Entry) -> int:
        """Its line."""
        return self._text.count("\n", 0, entry.at) + 1

    def _scan(self) -> Iterator[Entry]:
        at = self._expect(0, "{", "a tree is one JSON object, from names to values")
        if self._text[at : at + 1] == "}":
            self._end(at)
            return
        while True:
            start = at
            key, at = self._decode(at)
            if not isinstance(key, str):
                self._fail(start, "a name is a string")
            try:
                name = Name(key)
            except InvalidNameError as error:
                self._fail(start, str(error))
            if not name:
                self._fail(start, "the empty name is the tree itself")
            at = self._expect(at, ":", "a value follows a name")
            document, after = self._decode(at)
            yield Entry(name, self._value(name, document, at), start)
            at = _skip(self._text, after)
            if self._text[at : at + 1] == "}":
                self._end(at)
                return
            at = self._expect(at, ",", "the next name, or the end of the object, is to follow")

    def _implied(self) -> Iterator[Entry]:
        """The contexts on the way that the file does not list."""
        made: set[str] = set()
        for entry in self._read.values():
            for end in range(1, len(entry.name)):
                parent = entry.name[:end]
                text = str(parent)
                above = self._read.get(text)
                if above is not None and above.value is not CONTEXT:
                    self._fail(
                        entry.at, f"{str(entry.name)!r} is beneath {text!r}, which is no context at {self.place(above)}"
                    )
                if above is None and text not in made:
                    made.add(text)
                    yield Entry(parent, CONTEXT, entry.at)

    def _value(self, name: Name, document: Any, at: int) -> Any:
        if isinstance(document, dict) and document.keys() == {"$context"}:
            if document["$context"] not in ("", str(name)):
                self._fail(at, f"a context's mark names the context: {values.dumps({'$context': str(name)})}")
            return CONTEXT
        try:
            return values.decode(document)
        except values.ValueSyntaxError as error:
            self._fail(at, str(error))
        except RecursionError:
            self._fail(at, "the value is nested too deeply")

    def _decode(self, at: int) -> tuple[Any, int]:
        try:
            return values.DECODER.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            self._fail(error.pos, f"not JSON: {error.msg}")
        except values.ValueSyntaxError as error:
            self._fail(at, str(error))
        except RecursionError:
            self._fail(at, "the value is nested too deeply")

    def _expect(self, at: int, mark: str, why: str) -> int:
        at = _skip(self._text, at)
        if self._text[at : at + 1] != mark:
            self._fail(at, f"not JSON: {mark!r} is missing; {why}")
        return _skip(self._text, at + 1)

    def _end(self, at: int) -> None:
        rest = _skip(self._text, at + 1)
        if rest != len(self._text):
            self._fail(rest, "not JSON: something follows the object")

    def _place(self, at: int) -> str:
        line = self._text.count("\n", 0, at) + 1
        column = at - self._text.rfind("\n", 0, at)
        return f"{self._source}:{line}:{column}"

    def _fail(self, at: int, why: str) -> NoReturn:
        raise TreeFileError(f"{self._place(at)}: {why}")


def lines(entries: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """The text of a tree, in pieces, from full names in order and their values or `CONTEXT`."""
    before = "{\n"
    for name, value in entries:
        document = {"$context": name} if value is CONTEXT else values.encode(value)
        yield f"{before}{values.dumps(name)}: {values.dumps(document)}"
        before = ",\n"
    yield "\n}\n" if before.startswith(",") else "{}\n"


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
