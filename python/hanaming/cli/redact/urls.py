"""Who and where in URLs: `scheme://user:password@host:port,host`, corbaloc, Oracle's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .names import MARK, is_telling

if TYPE_CHECKING:
    from .names import Names

_SCHEME = r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*:"
# A password may have any character; it is looked for beyond a slash only where what is before that is no port.
_PASSWORD = re.compile(
    rf"({_SCHEME}//|@//)([^\s/?#@:\"'<>,]*):(?!\d*(?:[/?#,\s]|$))(?:[^\s\"'<>?#]{{0,256}}@|[^\s\"'<>]{{0,256}}?@)"
)
_AUTHORITY = re.compile(
    rf"({_SCHEME}//|(?:dns|xds):///|(?<![:/\w.])//)((?:[^\s/?#\"'<>,]|,(?!{_SCHEME.partition(')')[2]}//))+)",
    re.IGNORECASE,
)
_CORBALOC = re.compile(r"(?i)(?<![\w.-])(corba(?:loc|name):)([^\s/#\"'<>]+)")
_ORACLE = re.compile(r"(?<=:@)([A-Za-z][\w.-]*)")
_HOST = re.compile(
    rf"((?:(?:iiop|ssliop|iioploc|rir)?:)?(?:\d\.\d@)?\[?)([{MARK}]|(?<=\[)[0-9A-Fa-f:.%\w]+|[\w.-]*\w)(.*)", re.DOTALL
)
_VERSIONED = re.compile(r"\d\.\d")


def replace(text: str, names: Names) -> str:
    """The text without hosts and users of URLs."""

    def host(item: str) -> str:
        found = _HOST.fullmatch(item)
        if found is None:
            return item
        kind = "address" if re.fullmatch(r"[\d.]+|.*:.*", found[2]) else "host"
        return found[1] + names.of(kind, found[2]) + found[3]

    def hosts(listed: str) -> str:
        return ",".join(map(host, listed.split(",")))

    def authority(match: re.Match[str]) -> str:
        user, at, listed = match[2].rpartition("@")
        if not match[1].strip("/") and not is_telling(listed.partition(":")[0]) and ":" not in listed:
            return match[0]  # two slashes alone are no URL: a comment, a path
        if at and not _VERSIONED.fullmatch(user):
            name, colon, rest = user.partition(":")
            user = names.of("user", name) + (":***" if colon and rest else "")
        return match[1] + user + at + hosts(listed)

    text = _PASSWORD.sub(lambda m: f"{m[1]}{names.of('user', m[2])}:***@", text)
    text = _AUTHORITY.sub(authority, text)
    text = _CORBALOC.sub(lambda m: m[1] + hosts(m[2]), text)
    return _ORACLE.sub(lambda m: names.of("host", m[1]), text)
