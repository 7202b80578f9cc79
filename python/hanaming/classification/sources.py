"""Where logs are read from: files, folders of them, compressed ones, and whatever has a `read`."""

from __future__ import annotations

import gzip
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from hanaming.exceptions import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Source", "sources"]

_PIECE = 1 << 20
_GZIP = b"\x1f\x8b"


@dataclass(slots=True)
class Source:
    """One log: its name, its size on disk where that is known, and the open file."""

    name: str
    size: int | None
    stream: IO[Any]
    trouble: str | None = None
    """Why it was not read to its end."""

    def pieces(self) -> Iterator[tuple[bytes, int]]:
        """Its bytes in pieces, each with how much of the size on disk has been read."""
        plain = _plain(self.stream)
        done = 0
        while piece := self._read(plain):
            done += len(piece)
            yield piece, self._position(done)

    def _read(self, plain: IO[Any]) -> bytes:
        try:
            piece = plain.read(_PIECE)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            # Still being written, or cut short: what was read of it counts.
            self.trouble = f"{self.name}: read as far as it goes: {error}"
            return b""
        except OSError as error:
            raise ConfigurationError(f"{self.name}: {error.strerror or error}") from None
        return piece.encode(errors="surrogateescape") if isinstance(piece, str) else bytes(piece or b"")

    def _position(self, done: int) -> int:
        try:
            return self.stream.tell() if self.size is not None else done
        except (OSError, AttributeError, ValueError):
            return done


def sources(given: Any) -> Iterator[Source]:
    """The logs that a path, a folder or an open file means. A folder's files come by name; hidden ones are left out."""
    if hasattr(given, "read"):
        yield Source(str(getattr(given, "name", "") or "<stream>"), None, given)
        return
    path = Path(os.fsdecode(given))
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and not _hidden(file.relative_to(path)))
        if not files:
            raise ConfigurationError(f"{path}: there is no file in this folder")
    else:
        files = [path]
    for file in files:
        try:
            stream = file.open("rb")
        except OSError as error:
            raise ConfigurationError(f"{file}: {error.strerror}") from None
        with stream:
            yield Source(str(file), os.fstat(stream.fileno()).st_size, stream)


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
