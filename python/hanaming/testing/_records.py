"""What stands in a zone: the records of each name, found as a name server finds them."""

from __future__ import annotations

from dataclasses import dataclass, field

from hanaming.testing import _dns_wire as wire

# Aliases that lead further than this are followed no longer: they may lead round.
MOST_ALIASES = 16


@dataclass(slots=True)
class Entry:
    """A name's records."""

    ttl: int | None
    """The seconds that they may be kept; `None` for the zone's own."""
    data: dict[int, list[bytes]] = field(default_factory=dict)
    """By kind."""


class Records:
    """All names of a zone. Case does not matter, nor does a dot at the end."""

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}

    def put(self, name: str, entry: Entry) -> None:
        """The name has these records and no others."""
        wire.write_name(name)
        self._entries[_key(name)] = entry

    def remove(self, name: str) -> None:
        """The name is not there."""
        self._entries.pop(_key(name), None)

    def find(self, name: str, kind: int, ttl: int) -> list[bytes] | None:
        """The records for a question, aliases on the way among them; `None` where there is no such name."""
        if _key(name) not in self._entries:
            return None
        found: list[bytes] = []
        for _ in range(MOST_ALIASES):
            entry = self._entries.get(_key(name))
            if entry is None:
                break
            lives = ttl if entry.ttl is None else entry.ttl
            alias = entry.data.get(wire.CNAME)
            if alias is None or kind == wire.CNAME:
                found += [wire.record(name, kind, lives, data) for data in entry.data.get(kind, [])]
                break
            found.append(wire.record(name, wire.CNAME, lives, alias[0]))
            name, _ = wire.read_name(alias[0], 0)
        return found


def _key(name: str) -> str:
    return name.lower().removesuffix(".")
