"""A name server on loopback that answers as it is told: over UDP and TCP, from a zone that a test writes.

No library: a library's server is polite, and what is tested here is how impolite ones are borne.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterable
from typing import NamedTuple

from typing_extensions import Self

A, CNAME, AAAA, SRV = 1, 5, 28, 33
NAMES = {A: "A", CNAME: "CNAME", AAAA: "AAAA", SRV: "SRV"}
CODES = {"servfail": 2, "nxdomain": 3, "refused": 5}


class Query(NamedTuple):
    """A question that was put."""

    at: float
    name: str
    kind: str
    transport: str


class ZoneServer:
    """Answers from its zone, in its `mood`.

    `"answer"`; `"servfail"`, `"nxdomain"`, `"refused"`: that code; `"empty"`: no record and no error; `"silent"`;
    `"truncated"`: over UDP nothing but that TCP is to be asked. `delay` holds each answer back; `moods` are those of single
    kinds of records, where they differ.
    """

    def __init__(self, ttl: int = 1) -> None:
        self.ttl = ttl
        self.mood = "answer"
        self.moods: dict[str, str] = {}
        self.delay = 0.0
        self.queries: list[Query] = []
        self._zone: dict[str, dict[int, list[bytes]]] = {}
        self._over = threading.Event()
        while True:
            self._tcp = socket.create_server(("127.0.0.1", 0))
            self.port = self._tcp.getsockname()[1]
            self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                self._udp.bind(("127.0.0.1", self.port))
            except OSError:
                self._tcp.close()
                self._udp.close()
            else:
                break
        self.address = f"127.0.0.1:{self.port}"
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._serve_udp, self._serve_tcp)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for listener in (self._udp, self._tcp):
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()
        for thread in self._threads:
            thread.join(5)

    def put(self, name: str, addresses: Iterable[str]) -> None:
        """The name has these addresses, and no others, from now on."""
        found: dict[int, list[bytes]] = {A: [], AAAA: []}
        for address in addresses:
            six = ":" in address
            packed = socket.inet_pton(socket.AF_INET6 if six else socket.AF_INET, address)
            found[AAAA if six else A].append(packed)
        self._zone[name] = found

    def put_alias(self, name: str, target: str) -> None:
        """The name is another name of `target`."""
        self._zone[name] = {CNAME: [_name(target)]}

    def put_services(self, name: str, servers: Iterable[tuple[int, int, int, str]]) -> None:
        """The name's SRV records: priority, weight, port, target."""
        self._zone[name] = {SRV: [struct.pack("!HHH", *numbers) + _name(target) for *numbers, target in servers]}

    def remove(self, name: str) -> None:
        """There is no such name from now on."""
        self._zone.pop(name, None)

    def asked(self, kind: str = "A", *, since: float = 0.0) -> list[float]:
        """When this kind of record was asked for."""
        return [query.at for query in self.queries if query.kind == kind and query.at >= since]

    def _serve_udp(self) -> None:
        with contextlib.suppress(OSError):
            while not self._over.is_set():
                asked, client = self._udp.recvfrom(4096)
                if not asked:  # the end
                    return
                threading.Thread(target=self._answer_udp, args=(asked, client), daemon=True).start()

    def _answer_udp(self, asked: bytes, client: tuple[str, int]) -> None:
        answer = self._answer(asked, "udp")
        if answer is not None:
            with contextlib.suppress(OSError):
                self._udp.sendto(answer, client)

    def _serve_tcp(self) -> None:
        with contextlib.suppress(OSError):
            while not self._over.is_set():
                client, _ = self._tcp.accept()
                threading.Thread(target=self._answer_tcp, args=(client,), daemon=True).start()

    def _answer_tcp(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError, struct.error), client, client.makefile("rb") as stream:
            while True:
                (length,) = struct.unpack("!H", stream.read(2))
                answer = self._answer(stream.read(length), "tcp")
                if answer is not None:
                    client.sendall(struct.pack("!H", len(answer)) + answer)

    def _answer(self, asked: bytes, transport: str) -> bytes | None:
        name, end = _read_name(asked, 12)
        (kind,) = struct.unpack_from("!H", asked, end)
        question = asked[12 : end + 4]
        self.queries.append(Query(time.monotonic(), name, NAMES.get(kind, str(kind)), transport))
        mood = self.moods.get(NAMES.get(kind, ""), self.mood)
        if self._over.wait(self.delay) or mood == "silent":
            return None
        if mood == "truncated" and transport == "udp":
            return _message(asked, question, [], truncated=True)
        if mood in CODES:
            return _message(asked, question, [], code=CODES[mood])
        records = [] if mood == "empty" else self._records(name, kind)
        missing = mood != "empty" and not records and name.lower() not in self._zone
        return _message(asked, question, records, code=CODES["nxdomain"] if missing else 0)

    def _records(self, name: str, kind: int) -> list[bytes]:
        records: list[bytes] = []
        while (found := self._zone.get(name.lower())) is not None and CNAME in found and kind != CNAME:
            records.append(self._record(name, CNAME, found[CNAME][0]))
            name, _ = _read_name(found[CNAME][0], 0)
        return records + [self._record(name, kind, data) for data in (found or {}).get(kind, [])]

    def _record(self, name: str, kind: int, data: bytes) -> bytes:
        return _name(name) + struct.pack("!HHIH", kind, 1, self.ttl, len(data)) + data


def _message(asked: bytes, question: bytes, records: list[bytes], *, code: int = 0, truncated: bool = False) -> bytes:
    flags = 0x8580 | (0x0200 if truncated else 0) | code
    return asked[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + question + b"".join(records)


def _name(name: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".") if label) + b"\0"


def _read_name(data: bytes, at: int) -> tuple[str, int]:
    labels = []
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode())
        at += 1 + data[at]
    return ".".join(labels), at + 1
