"""`Environment`: a client's settings, and what they mean here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hanaming import _arguments
from hanaming._native import read_environment, read_properties
from hanaming._show import table
from hanaming.exceptions import ConfigurationError
from hanaming.jndi.provider_url import ProviderUrl, from_native, warnings_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from hanaming.types import DnsRefresh

__all__ = ["Environment"]

_URL = "java.naming.provider.url"
_SECRET = ("credential", "password", "passwd", "secret")
_DEFAULT_TIMEOUT = 5.0


class Environment:
    """The settings of a JNDI client.

    Args:
        properties: Keys and values as a program gives them to `InitialContext`; values may be numbers and booleans.
    """

    def __init__(self, properties: Mapping[str, Any] | None = None) -> None:
        given = _arguments.mapping("properties", {} if properties is None else properties, "a mapping")
        self._read((_key(key), _text(value), 0, False) for key, value in given.items() if value is not None)

    @classmethod
    def from_properties(cls, source: str | PathLike[str]) -> Environment:
        """Reads a properties text (a `str`), or the file at a path (a `Path` or another `PathLike`).

        Escapes and continued lines are Java's; a line of `-Dkey=value …` is read as a command's options. A text that is
        nothing but the name of a file that is there means that file. Raises `ConfigurationError` where it can't be read.
        """
        if isinstance(source, str) and not _names_a_file(source):
            text = _arguments.text("source", source)
        else:
            text = _file(_arguments.path("source", source))
        made = cls.__new__(cls)
        made._read(read_properties(text))  # noqa: SLF001 - its own
        return made

    def _read(self, rows: Iterable[tuple[str, str, int, bool]]) -> None:
        rows = list(rows)
        read = read_environment(rows)
        self._properties = {key: value for key, value, _, _ in rows}
        provider = read.get("provider")
        self._provider = None if provider is None else from_native(self._properties[_URL], provider)
        self._problem: str | None = read.get("problem")
        self._cluster: str | None = read["cluster"]
        self._connect_timeout: float | None = read["connect_timeout"]
        self._read_timeout: float | None = read["read_timeout"]
        self._always_resolve: bool = read["always_resolve"]
        self._warnings: list[str] = read["warnings"]

    @property
    def properties(self) -> dict[str, str]:
        """All properties, as they are read; of several with one key the last one."""
        return dict(self._properties)

    @property
    def provider_url(self) -> ProviderUrl | None:
        """Where the servers are; `None` where nothing says so, or nothing in it is usable (see `warnings`)."""
        return self._provider

    @property
    def warnings(self) -> list[str]:
        """What has no counterpart here, what is dubious, and what to do; each names its key."""
        return list(self._warnings)

    @property
    def cluster(self) -> str | None:
        """The cluster that is meant (`jnp.partitionName`)."""
        return self._cluster

    @property
    def connect_timeout(self) -> float | None:
        """The limit for making a connection, in seconds."""
        return self._connect_timeout

    @property
    def read_timeout(self) -> float | None:
        """The limit for waiting for a reply, in seconds."""
        return self._read_timeout

    @property
    def dns_refresh(self) -> DnsRefresh:
        """When host names are resolved again, as `HAContext` takes it."""
        return "always" if self._always_resolve else "ttl"

    @property
    def provider(self) -> list[str] | None:
        """The addresses, as `HAContext` takes them; `None` where no provider URL is given.

        Raises `ConfigurationError` where one is given and names nothing that can be asked: asking somebody else instead
        would be worse than failing.
        """
        if self._problem is not None:
            raise ConfigurationError(f"{_URL}: {self._problem}")
        if self._provider is None:
            return None
        if not self._provider.addresses:
            said = "; ".join(self._provider.warnings)
            raise ConfigurationError(f"{_URL} names no address that could be asked: {said}")
        return self._provider.addresses

    def options(self) -> dict[str, Any]:
        """What they amount to as keyword arguments of `HAContext`.

        An attempt there covers connecting and waiting, so its limit is the sum of the two; the whole call has at least
        that.
        """
        options: dict[str, Any] = {}
        if self._cluster is not None:
            options["cluster"] = self._cluster
        limits = [limit for limit in (self._connect_timeout, self._read_timeout) if limit is not None]
        if limits:
            options["attempt_timeout"] = sum(limits)
            options["timeout"] = max(_DEFAULT_TIMEOUT, sum(limits))
        if self._always_resolve:
            options["dns_refresh"] = self.dns_refresh
        return options

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Environment) and self._properties == other._properties

    __hash__ = None  # type: ignore[assignment] # as a dict's

    def __repr__(self) -> str:
        provider = self._provider if self._provider is not None else self._problem or "no provider"
        return f"<Environment {provider}; {len(self._properties)} properties; {len(self._warnings)} warnings>"

    def _repr_html_(self) -> str:
        rows = [(key, shown(key, value)) for key, value in self.properties.items()]
        provider = "" if self.provider_url is None else self.provider_url.endpoints_html()
        return table("Environment", ("property", "value"), rows) + provider + warnings_html(self._warnings)


def shown(key: str, value: str) -> str:
    """A property's value for people: secrets are left out."""
    return "•••" if any(word in key.lower() for word in _SECRET) or "@" in value else value


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a property's key is a str, not {type(key).__name__}: {key!r}")
    return key


def _text(value: object) -> str:
    """A value as Java would print it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    # Java's environments hold objects, too: class loaders, credentials. What they are is no text.
    return f"<{type(value).__name__}>"


def _names_a_file(text: str) -> bool:
    if "\n" in text or "=" in text:
        return False
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _file(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")  # as Java wrote them before version 9
