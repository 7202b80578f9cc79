"""Where the responses are in what a server sends.

Of an unknown protocol it is known that what comes after a request is its response. hanaming's own has frames, and not
each is a response: a server greets, and tells of its members, at times of its own.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# length u32, protocol u8, kind u8, flags u16, request id u64
HEADER = struct.Struct("<IBBHQ")
HELLO, REPLY = 1, 4
# "HNAM" as a number of variable length: what the body of a hello begins with.
MAGIC = b"\xc8\x9c\x85\xea\x04"


class Exchanges:
    """Any protocol: a response is what a server sends after its client has sent something."""

    def __init__(self) -> None:
        self._count = 0
        self._is_asked = False

    def asked(self) -> None:
        """The client has sent something."""
        self._is_asked = True

    def split(self, data: bytes) -> Iterator[tuple[bytes, int]]:
        """What came from the server, in pieces: each with the number of the response that begins with it, or 0."""
        self._count += self._is_asked
        yield data, self._count if self._is_asked else 0
        self._is_asked = False


class Frames:
    """hanaming's protocol: each frame is a piece, and those of one kind are responses."""

    def __init__(self) -> None:
        self._count = 0
        self._rest = b""

    def asked(self) -> None:
        """What the client sends changes nothing here."""

    def split(self, data: bytes) -> Iterator[tuple[bytes, int]]:
        """The whole frames so far, as `Exchanges.split`."""
        self._rest += data
        while len(self._rest) >= HEADER.size:
            length, _, kind, _, _ = HEADER.unpack_from(self._rest)
            end = HEADER.size + length
            if len(self._rest) < end:
                return
            frame, self._rest = self._rest[:end], self._rest[end:]
            self._count += kind == REPLY
            yield frame, self._count if kind == REPLY else 0


def responses_to(first: bytes) -> Exchanges | Frames:
    """How to find the responses, by the first bytes that a client sends."""
    is_ours = len(first) > HEADER.size and HEADER.unpack_from(first)[2] == HELLO
    return Frames() if is_ours and first[HEADER.size :].startswith(MAGIC) else Exchanges()
