"""The few bytes of DNS that a zone needs: questions read, answers written (RFC 1035, 2782, 3596)."""

from __future__ import annotations

import ipaddress
import struct
from typing import NamedTuple

A, CNAME, AAAA, SRV = 1, 5, 28, 33
KINDS = {A: "A", CNAME: "CNAME", AAAA: "AAAA", SRV: "SRV"}
SERVFAIL, NXDOMAIN, REFUSED = 2, 3, 5

HEADER = 12
INTERNET = 1
# A response, authoritative, with recursion desired and available; and: it was cut.
RESPONSE, CUT = 0x8580, 0x0200
LONGEST_LABEL = 63
# The name of the whole tree: as the target of an SRV record, that there is no such service.
ROOT = b"\0"


class Question(NamedTuple):
    """What was asked: the first question of a message."""

    id: bytes
    name: str
    kind: int
    text: bytes
    """The question as it stood in the message, to be repeated in the answer."""


def read_question(message: bytes) -> Question:
    """The question in a message.

    Raises:
        ValueError: There is none that can be read.
    """
    try:
        name, end = read_name(message, HEADER)
        (kind,) = struct.unpack_from("!H", message, end)
    except (struct.error, IndexError) as error:
        raise ValueError("no whole question") from error
    return Question(message[:2], name.lower(), kind, message[HEADER : end + 4])


def answer(question: Question, records: list[bytes], *, code: int = 0, cut: bool = False) -> bytes:
    """The message that answers."""
    flags = RESPONSE | (CUT if cut else 0) | code
    return question.id + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + question.text + b"".join(records)


def record(name: str, kind: int, ttl: int, data: bytes) -> bytes:
    """One record of an answer."""
    return write_name(name) + struct.pack("!HHIH", kind, INTERNET, ttl, len(data)) + data


def address(text: str) -> tuple[int, bytes]:
    """An address as the kind and the data of its record.

    Raises:
        ValueError: It is none.
    """
    parsed = ipaddress.ip_address(text)
    return (A if parsed.version == 4 else AAAA), parsed.packed  # noqa: PLR2004


def service(priority: int, weight: int, port: int, target: str) -> bytes:
    """The data of an SRV record.

    Raises:
        ValueError: A number is out of range, or the target is no name and not `"."`.
    """
    try:
        return struct.pack("!HHH", priority, weight, port) + (ROOT if target == "." else write_name(target))
    except struct.error as error:
        numbers = f"priority {priority}, weight {weight}, port {port}"
        raise ValueError(f"{numbers}: each is a number from 0 to 65535") from error


def write_name(name: str) -> bytes:
    """A name on the wire, uncompressed.

    Raises:
        ValueError: It is none.
    """
    labels = [label.encode() for label in name.removesuffix(".").split(".")]
    # On the wire a label may have any byte, but a blank in a test's zone is a slip that no client asks for.
    is_blank = any(one.isspace() or not one.isprintable() for one in name)
    if is_blank or not all(0 < len(label) <= LONGEST_LABEL for label in labels):
        raise ValueError(f"{name!r} is no domain name")
    return b"".join(bytes([len(label)]) + label for label in labels) + ROOT


def read_name(data: bytes, at: int) -> tuple[str, int]:
    """A name that stands uncompressed in a message, and where it ends."""
    labels = []
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode(errors="replace"))
        at += 1 + data[at]
    return ".".join(labels), at + 1
