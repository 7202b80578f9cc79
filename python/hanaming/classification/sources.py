"""Where logs are read from: files, folders of them, compressed ones, and whatever has a `read`."""

from __future__ import annotations

import contextlib
import gzip
import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from hanaming import _arguments
from hanaming.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Source", "sources"]

_PIECE = 1 << 20
_GZIP = b"\x1f\x8b"


@dataclass(slots=True)
class Source:
    """One log: its name, its size on disk where that is known, and the open file, unless it can't be opened."""

    name: str
    size: int | None
    stream: IO[Any] | None
    trouble: str | None = None
    """Why it was not read, or not to its end."""
    among_others: bool = False
    """Whether others can be read where this one can't."""

    def pieces(self) -> Iterator[tuple[bytes, int]]:
        """Its bytes in pieces, each with how much of the size on disk has been read."""
        if (plain := self._plain()) is None:
            return
        done = 0
        while piece := self._read(plain):
            done += len(piece)
            yield piece, self._position(done)

    def _plain(self) -> IO[Any] | None:
        try:
            return None if self.stream is None else _plain(self.stream)
        except OSError as error:
            self._fail(error)
            return None

    def _read(self, plain: IO[Any]) -> bytes:
        try:
            # In one go only as much as is there: of a file that was cut short, what comes before the cut is not lost with it.
            packed: object = plain
            piece = packed.read1(_PIECE) if isinstance(packed, gzip.GzipFile) else plain.read(_PIECE)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            # Still being written, or cut short: what was read of it counts.
            self.trouble = f"read as far as it goes: {error}"
            return b""
        except OSError as error:
            self._fail(error)
            return b""
        if isinstance(piece, str):
            return piece.encode(errors="surrogateescape")
        if piece is not None and not isinstance(piece, (bytes, bytearray, memoryview)):
            raise _arguments.wrong_type(f"what {self.name} reads", "str or bytes", piece)
        return bytes(piece or b"")

    def _fail(self, error: OSError) -> None:
        self.trouble = error.strerror or str(error)
        if not self.among_others:
            raise ConfigurationError(f"{self.name}: {self.trouble}") from None

    def _position(self, done: int) -> int:
        try:
            return self.stream.tell() if self.stream is not None and self.size is not None else done
        except (OSError, AttributeError, ValueError):
            return done


def sources(given: Any) -> Iterator[Source]:
    """The logs that a path, a folder or an open file means. A folder's files come by name; hidden ones are left out."""
    if hasattr(given, "read"):
        yield Source(str(getattr(given, "name", "") or "<stream>"), None, given)
        return
    path = _arguments.path("source", given)
    if not os.fspath(given):
        raise ConfigurationError("an empty name is no file's: name a log, or a folder of them")
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError) as error:  # what no file system has as a name
        raise ConfigurationError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if is_folder:
        yield from _in_folder(path)
        return
    log = _open(path)
    if log.stream is None:
        raise ConfigurationError(f"{log.name}: {log.trouble}")
    with log.stream:
        yield log


def _in_folder(folder: Path) -> Iterator[Source]:
    closed: list[OSError] = []
    found = (Path(at, name) for at, _, names in os.walk(folder, onerror=closed.append) for name in names)
    files = sorted(file for file in found if not _hidden(file.relative_to(folder)) and _is_log(file))
    if not files and not closed:
        raise ConfigurationError(f"{folder}: there is no file in this folder")
    read = False
    for error in closed:
        if not _hidden(Path(error.filename).relative_to(folder)):
            yield Source(error.filename, None, None, error.strerror)
    for file in files:
        log = _open(file)
        log.among_others = True
        with log.stream or contextlib.nullcontext():
            yield log
        read = read or log.stream is not None
    if not read:
        raise ConfigurationError(f"{folder}: no file in this folder can be read")


def _open(file: Path) -> Source:
    try:
        stream = file.open("rb")
    except (OSError, ValueError) as error:
        return Source(str(file), None, None, getattr(error, "strerror", None) or str(error))
    return Source(str(file), os.fstat(stream.fileno()).st_size, stream)


def _is_log(file: Path) -> bool:
    """Whether it is a file to be read; one that can't be looked at is said to be when it can't be opened."""
    try:
        return stat.S_ISREG(file.stat().st_mode)
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _plain(stream: IO[Any]) -> IO[Any]:
    """The stream, unpacked where its first bytes say that it is gzip."""
    if hasattr(stream, "peek"):
        magic = stream.peek(len(_GZIP))[: len(_GZIP)]
    elif hasattr(stream, "seekable") and stream.seekable():
        start = stream.tell()
        magic = stream.read(len(_GZIP))
        stream.seek(start)
    else:
        return stream
    return cast("IO[Any]", gzip.GzipFile(fileobj=stream)) if magic == _GZIP else stream
