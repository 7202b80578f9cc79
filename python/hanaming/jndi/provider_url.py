"""`ProviderUrl`: where the servers are, in any system's spelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hanaming import _arguments
from hanaming._native import read_provider_url
from hanaming._show import counted, table

__all__ = ["Endpoint", "ProviderUrl"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One place that a provider URL names."""

    scheme: str
    """The protocol spoken there, in lower case: `t3`, `ldap`; for `corbaloc` that of the address, `iiop`."""
    host: str
    """The host, an IPv6 literal without brackets; for `hn+srv` and `hn+mdns` the name to ask for; empty for `rir`."""
    port: int | None
    """The port; `None` where it is no address but something to be asked first (`hn+srv`, `hn+mdns`, `rir`)."""
    version: str | None = None
    """The protocol's version where the URL has a place for it: `corbaloc`'s is `"1.0"` if it doesn't say."""
    defaulted: bool = False
    """Whether the port is the default of that kind of URL, and nobody wrote it."""
    multi_address: bool = False
    """Whether it is a DNS name and the only entry: it may stand for a whole cluster."""

    @property
    def address(self) -> str | None:
        """`host:port`; `None` where it is no address."""
        if self.port is None:
            return None
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.address or self.host}"


@dataclass(frozen=True, slots=True)
class ProviderUrl:
    """A provider URL as it is read. `parse` reads one."""

    text: str
    """The URL as it was given. It may hold a password; nothing else here does."""
    scheme: str
    """The scheme that decided how it is read; `jnp` for a bare list."""
    endpoints: list[Endpoint]
    """What is usable, in order, each once."""
    path: str | None
    """What follows the addresses and names something there: an object key, a name, a directory's base entry."""
    warnings: list[str]
    """What is dubious, and what to write."""

    @classmethod
    def parse(cls, text: str) -> ProviderUrl:
        """Reads a provider URL of any system; a bare `host:port` is JNP's.

        A dubious entry is read as it was plainly meant or left out, with a warning. Raises `ConfigurationError` where
        nothing is usable.
        """
        return from_native(text, read_provider_url(_arguments.text("text", text)))

    @property
    def addresses(self) -> list[str]:
        """The addresses as `host:port`, as `hanaming.HAContext` takes them; `hn+srv://` and `hn+mdns://` as they stand."""
        taken = [str(end) if end.scheme in ("hn+srv", "hn+mdns") else end.address for end in self.endpoints]
        return [address for address in taken if address]

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.endpoints))
        said = f"; {counted(len(self.warnings), 'warning')}" if self.warnings else ""
        return f"<ProviderUrl {shown}{said}>"

    def _repr_html_(self) -> str:
        return self.endpoints_html() + warnings_html(self.warnings)

    def endpoints_html(self) -> str:
        """The servers that it names, as a table."""
        rows = [
            (e.scheme, e.host, "" if e.port is None else e.port, "default" if e.defaulted else "", e.version or "")
            for e in self.endpoints
        ]
        return table(f"Provider URL ({self.scheme})", ("scheme", "host", "port", "", "version"), rows)


def warnings_html(warnings: list[str]) -> str:
    """What a person should know, as a table; nothing where there is nothing."""
    return table(f"{len(warnings)} to know", ("",), [(warning,) for warning in warnings]) if warnings else ""


def from_native(text: str, read: dict[str, Any]) -> ProviderUrl:
    """The record of what the core read."""
    endpoints = [Endpoint(*row) for row in read["endpoints"]]
    return ProviderUrl(text, read["scheme"], endpoints, read["path"], read["warnings"])
