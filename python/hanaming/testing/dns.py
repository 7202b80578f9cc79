"""A name server on loopback that answers from a zone, or fails, as it is told."""

from __future__ import annotations

import contextlib
import socket
import time
from selectors import EVENT_READ
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from hanaming._arguments import items, mapping, number, text, whole
from hanaming.testing import _dns_wire as wire
from hanaming.testing._closing import Closing
from hanaming.testing._dns_stream import DnsStream
from hanaming.testing._reactor import Reactor
from hanaming.testing._records import Entry, Records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


DnsFailure = Literal["servfail", "nxdomain", "refused", "empty", "silent", "truncated"]
RecordKind = Literal["A", "AAAA", "SRV", "CNAME"]

CODES = {"servfail": wire.SERVFAIL, "nxdomain": wire.NXDOMAIN, "refused": wire.REFUSED}
FAILURES = [*CODES, "empty", "silent", "truncated"]
# What fits into a datagram wherever it goes; the rest is asked for over TCP.
DATAGRAM = 1232
# What fits into any message.
MESSAGE = 65535
LONGEST_TTL = 2**31 - 1


class DnsQuery(NamedTuple):
    """A question that was put to a zone."""

    at: float
    """When, by `time.monotonic()`."""
    name: str
    kind: str
    """A, AAAA, SRV, CNAME, or a number."""
    transport: Literal["udp", "tcp"]


class DnsZone(Closing):
    """A name server, over UDP and TCP on one free loopback port; a context manager.

    It answers from what it was told, and with `NXDOMAIN` for any other name. Give clients its `address`:
    `HAContext("hn://orders.test:11100", dns_servers=[zone.address])`, or the variable `HANAMING_DNS_SERVERS`. What is
    changed holds for each question that comes when the call has returned.

    Args:
        addresses: The addresses of names, to begin with.
        ttl: The seconds that records may be kept, where a name has no time of its own.

    Raises:
        ValueError: A name, an address or the time to live is none.
    """

    def __init__(self, addresses: Mapping[str, Iterable[str]] | None = None, *, ttl: int = 1) -> None:
        self._ttl = _checked(ttl)
        self._records = Records()
        for name, listed in mapping("addresses", addresses or {}, "a mapping from names to lists of addresses").items():
            self._records.put(text("a name of addresses", name), _addresses(listed, None))
        self._failures: dict[str | None, str] = {}
        self._delay = 0.0
        self._queries: list[DnsQuery] = []
        self._streams: set[DnsStream] = set()
        self._is_closed = False
        self._listener, self._datagrams = _both()
        self._port: int = self._listener.getsockname()[1]
        self._reactor = Reactor(f"hanaming-dns-zone-{self.port}")
        self._reactor.ask(self._serve)

    @property
    def host(self) -> str:
        """The address that it listens on."""
        return "127.0.0.1"

    @property
    def port(self) -> int:
        """The port that it listens on, for UDP and TCP."""
        return self._port

    @property
    def address(self) -> str:
        """Both, as `host:port`."""
        return f"{self.host}:{self.port}"

    @property
    def queries(self) -> list[DnsQuery]:
        """All questions so far, in order."""
        return list(self._queries)

    def asked(self, kind: RecordKind = "A", *, since: float = 0.0) -> list[float]:
        """When this kind of record was asked for, by `time.monotonic()`."""
        _kind(kind)
        number("since", since)
        return [query.at for query in self.queries if query.kind == kind and query.at >= since]

    def set(self, name: str, addresses: Iterable[str], *, ttl: int | None = None) -> None:
        """The name has these addresses, IPv4 and IPv6, and nothing else, from now on. With none it is there, and empty.

        Raises:
            ValueError: The name, an address or the time to live is none.
        """
        entry = _addresses(addresses, ttl)
        text("name", name)
        self._do(lambda: self._records.put(name, entry))

    def set_alias(self, name: str, target: str, *, ttl: int | None = None) -> None:
        """The name is another name of `target` (CNAME), and nothing else, from now on.

        Raises:
            ValueError: A name or the time to live is none.
        """
        entry = Entry(_checked(ttl), {wire.CNAME: [wire.write_name(text("target", target))]})
        text("name", name)
        self._do(lambda: self._records.put(name, entry))

    def set_services(self, name: str, services: Iterable[tuple[int, int, int, str]], *, ttl: int | None = None) -> None:
        """The name has these SRV records (priority, weight, port, target), and nothing else, from now on.

        A lone record with the target `"."` says that there is no such service (RFC 2782).

        Raises:
            ValueError: A name, a number or the time to live is none.
        """
        entry = Entry(_checked(ttl), {wire.SRV: [_service(place, one) for place, one in enumerate(_listed(services))]})
        text("name", name)
        self._do(lambda: self._records.put(name, entry))

    def remove(self, name: str) -> None:
        """There is no such name from now on."""
        text("name", name)
        self._do(lambda: self._records.remove(name))

    def fail(self, how: DnsFailure, *, kind: RecordKind | None = None) -> None:
        """From now on each question, or each for one kind of record, is answered so, whatever the zone has.

        Args:
            how: `"servfail"`, `"nxdomain"` or `"refused"`, that code; `"empty"`, no record and no error; `"silent"`, not
                at all; `"truncated"`, over UDP nothing but that TCP is to be asked.
            kind: The kind of record; none: all for which nothing else was said.

        Raises:
            ValueError: `how` or `kind` is none of these.
        """
        if how not in FAILURES:
            raise ValueError(f"how: {how!r} is none of {', '.join(FAILURES)}")
        if kind is not None:
            _kind(kind)
        self._do(lambda: self._failures.__setitem__(kind, how))

    def delay(self, seconds: float) -> None:
        """Each answer comes so much later.

        Raises:
            ValueError: `seconds` is negative or no number.
        """
        if not 0 <= number("seconds", seconds) <= 3600:  # noqa: PLR2004
            raise ValueError(f"seconds: {seconds!r} is no time between 0 and 3600 s")
        self._do(lambda: setattr(self, "_delay", float(seconds)))

    def heal(self) -> None:
        """Ends all failures and delays. An answer that is under way comes as late as it was to."""

        def heal() -> None:
            self._failures.clear()
            self._delay = 0.0

        self._do(heal)

    def close(self) -> None:
        """Ends it and gives the port back. Doing so again does nothing."""
        if self._is_closed:
            return
        self._is_closed = True

        def last() -> None:
            for stream in list(self._streams):
                stream.end()
            for sock in (self._listener, self._datagrams):
                self._reactor.watch(sock, 0, self._accept)
                sock.close()

        self._reactor.close(last)

    def __repr__(self) -> str:
        failing = [f"{how} for {kind}" if kind else how for kind, how in self._failures.items()]
        late = [f"{self._delay:g} s late"] if self._delay else []
        state = "closed" if self._is_closed else ", ".join(failing + late) or "no failure"
        return f"<DnsZone {self.address}, {state}>"

    def _do(self, change: Callable[[], object]) -> None:
        if self._is_closed:
            raise ValueError(f"{self!r} is closed")
        self._reactor.ask(change)

    # From here on: on the reactor's thread.

    def _serve(self) -> None:
        self._reactor.watch(self._listener, EVENT_READ, self._accept)
        self._reactor.watch(self._datagrams, EVENT_READ, self._receive)

    def _accept(self, _: int) -> None:
        with contextlib.suppress(OSError):
            client, _address = self._listener.accept()
            self._streams.add(DnsStream(self._reactor, client, self._asked_over_tcp, self._streams.discard))

    def _asked_over_tcp(self, stream: DnsStream, message: bytes) -> None:
        self._answer(message, "tcp", stream.send)

    def _receive(self, _: int) -> None:
        with contextlib.suppress(OSError):
            message, client = self._datagrams.recvfrom(4096)

            def send(answer: bytes) -> None:
                # Nobody may be there any longer.
                with contextlib.suppress(OSError):
                    self._datagrams.sendto(answer, client)

            self._answer(message, "udp", send)

    def _answer(self, message: bytes, transport: Literal["udp", "tcp"], send: Callable[[bytes], None]) -> None:
        try:
            question = wire.read_question(message)
        except ValueError:
            # What is no question is answered by nobody.
            return
        kind = wire.KINDS.get(question.kind, str(question.kind))
        self._queries.append(DnsQuery(time.monotonic(), question.name, kind, transport))
        answer = self._answered(question, self._failures.get(kind, self._failures.get(None)), transport)
        if answer is None:
            return
        if self._delay:
            self._reactor.at(time.monotonic() + self._delay, lambda: send(answer))
        else:
            send(answer)

    def _answered(self, question: wire.Question, failure: str | None, transport: str) -> bytes | None:
        if failure == "silent":
            return None
        if failure in CODES:
            return wire.answer(question, [], code=CODES[failure])
        if failure == "empty":
            return wire.answer(question, [])
        found = self._records.find(question.name, question.kind, self._ttl or 0)
        answer = wire.answer(question, found or [], code=wire.NXDOMAIN if found is None else 0)
        if transport == "udp" and (failure == "truncated" or len(answer) > DATAGRAM):
            return wire.answer(question, [], cut=True)
        return answer if len(answer) <= MESSAGE else wire.answer(question, [], code=wire.SERVFAIL)


def _addresses(listed: Iterable[str], ttl: int | None) -> Entry:
    if isinstance(listed, str):
        raise ValueError(f"addresses: {listed!r} is one text; give a list of addresses")  # noqa: TRY004 - no address
    entry = Entry(_checked(ttl))
    for place, one in enumerate(items("addresses", listed, "addresses")):
        try:
            kind, data = wire.address(text(f"addresses[{place}]", one))
        except ValueError as error:
            raise ValueError(f"addresses[{place}]: {error}") from None
        entry.data.setdefault(kind, []).append(data)
    return entry


def _listed(services: object) -> list[Any]:
    return items("services", services, "(priority, weight, port, target)")


def _service(place: int, service: object) -> bytes:
    what = f"services[{place}]"
    fields = items(what, service, "priority, weight, port and target")
    if len(fields) != 4:  # noqa: PLR2004 - as the message says
        raise ValueError(f"{what} has {len(fields)} fields, and not priority, weight, port and target")
    priority, weight, port, target = fields
    return wire.service(
        whole(f"{what}: the priority", priority),
        whole(f"{what}: the weight", weight),
        whole(f"{what}: the port", port),
        text(f"{what}: the target", target),
    )


def _kind(kind: str) -> None:
    if kind not in wire.KINDS.values():
        raise ValueError(f"kind: {kind!r} is none of {', '.join(wire.KINDS.values())}")


def _checked(ttl: int | None) -> int | None:
    if ttl is not None and not 0 <= whole("ttl", ttl) <= LONGEST_TTL:
        raise ValueError(f"ttl: {ttl!r} is no number of seconds from 0 to {LONGEST_TTL}")
    return ttl


def _both() -> tuple[socket.socket, socket.socket]:
    """One free port, for TCP and UDP."""
    while True:
        listener = socket.create_server(("127.0.0.1", 0))
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            datagrams.bind(listener.getsockname())
        except OSError:
            listener.close()
            datagrams.close()
        else:
            listener.setblocking(False)
            datagrams.setblocking(False)
            return listener, datagrams
