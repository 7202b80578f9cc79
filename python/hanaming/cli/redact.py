"""Leaves out of a report what tells whose it is, so that it can be shown to others.

Each host, address and user gets a name of its own (`host-1`), the same one everywhere, so that what belongs together still
can be seen to. Passwords are left out altogether. Class names stay, and so do ports: they are what a reader needs.
"""

from __future__ import annotations

import ipaddress
import re

_SECRET = re.compile(r"(?i)\b(pass(?:word|wd)?|pwd|secret|credentials?|token|api[-_]?key)(\s*[=:]\s*)([^\s,;&\]]+)")
_USER = re.compile(r"(?i)\b(user(?:name|id)?|login|principal|uid)(\s*[=:]\s*)([^\s,;&\]]+)")
_MAIL = re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b")
_IN_URL = re.compile(r"(://)([^\s/@]+@)?(\[[0-9A-Fa-f:.%\w]+\]|[\w.-]+)")
_V4 = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
_V6 = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?:%\w+)?(?![\w:])")
# A host by what stands before it.
_AFTER = re.compile(
    r"(?i)(\bhost[=:]\s*|\bto host: |\bto host |\bunknownhostexception: |\bto server |\bconnection to: |\bserver at \"?)"
    r"([\w-]+(?:\.[\w-]+)*)"
)
# A host by the port behind it; a source's line (`Foo.java:12`) has one, too.
_PORT = re.compile(r"\b([A-Za-z_][\w-]*(?:\.[\w-]+)*)(:\d{2,5})\b")
_SOURCE = re.compile(r"\.(?:java|kt|scala|groovy|py|cs|go|rs|c|cc|cpp|h|js|ts|rb|log|txt)$")
_NAME = re.compile(
    r"\b(?!(?:java|javax|jakarta|org|com|net|io|edu|sun|jdk|weblogic|akka)\.)[A-Za-z0-9][\w-]*(?:\.[\w-]+)*"
    r"\.(?:com|net|org|io|local|internal|corp|lan|example|test|invalid|de|uk|fr|eu|jp|ch|at|nl)\b(?!\.\w)"
)


class Redactor:
    """Replaces, and remembers what by what."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def text(self, text: str) -> str:
        """The text without what tells whose it is."""
        text = _SECRET.sub(r"\1\2***", text)
        text = _USER.sub(lambda m: m[1] + m[2] + self._name("user", m[3]), text)
        text = _MAIL.sub(lambda m: self._name("user", m[0]), text)
        text = _IN_URL.sub(lambda m: m[1] + ("***@" if m[2] else "") + self._host(m[3]), text)
        text = _V4.sub(lambda m: self._name("address", m[0]), text)
        text = _V6.sub(lambda m: self._name("address", m[0]) if _is_v6(m[0]) else m[0], text)
        text = _AFTER.sub(lambda m: m[1] + self._host(m[2]), text)
        text = _PORT.sub(lambda m: m[0] if _SOURCE.search(m[1]) else self._host(m[1]) + m[2], text)
        return _NAME.sub(lambda m: self._host(m[0]), text)

    def _host(self, host: str) -> str:
        if host.lower() in ("localhost", "line") or re.fullmatch(r"(?:host|address|user)-\d+", host):
            return host
        kind = "address" if re.fullmatch(r"[\d.]+|\[.*\]", host) else "host"
        return self._name(kind, host)

    def _name(self, kind: str, original: str) -> str:
        key = original.lower()
        if re.fullmatch(r"(?:host|address|user)-\d+", key):
            return original
        if key not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[key] = f"{kind}-{self._counts[kind]}"
        return self._names[key]


def _is_v6(text: str) -> bool:
    """Whether it is an address, and no time of day or a C++ name's `::`."""
    try:
        return ipaddress.IPv6Address(text.partition("%")[0]) != ipaddress.IPv6Address("::")
    except ValueError:
        return False
