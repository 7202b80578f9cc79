"""Hosts and addresses: by their form, by the key or the words before them, by the port behind them."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from . import pairs
from .names import MARK, is_plain, is_telling

if TYPE_CHECKING:
    from collections.abc import Callable

    from .names import Names

_V4 = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.\d)")
_V6 = re.compile(r"(?<![\w:])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{0,4}|\d{1,3}(?:\.\d{1,3}){3})(?:%\w+)?(?![\w:])")
_MAC = re.compile(r"(?<![\w:-])[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}(?![\w:-])")
_PAIRS = pairs.pattern(r"host(?:[-_.]?name)?s?|server(?:[-_.]?name)?|node(?:[-_.]?(?:name|id))?|peer|machine|broker")
_NAME = r"[^\W_][\w-]*(?:\.[\w-]+)*"
# Words behind which a host stands, whatever it looks like.
_AFTER = re.compile(
    rf"""(?i)(?<![\w$-])((?:to|on|from|for|resolve|unknown) host:?[ \t]+|host name[ \t]+|unknownhostexception:[ \t]+"""
    rf"""|enotfound[ \t]+|eai_again[ \t]+|to (?:the )?server:?[ \t]+|connection to:[ \t]+|(?<=: )lookup[ \t]+)"""
    rf"""(["']?)({_NAME})"""
)
_QUOTED = re.compile(
    rf"""(?i)(?<![\w.$-])((?:at|to|on|with|from|resolve|server|node|host|member|instance)[ \t]+["'])({_NAME})(?=["'])"""
)
# Words behind which one often stands: it must look like one.
_PERHAPS = re.compile(
    rf"(?i)(?<![\w.$-])((?:at|to|on|with|from|server|node|member|resolve|peer)[ \t]+)({_NAME})(?![\w.$(:/])"
)
_BEFORE = re.compile(
    rf"(?i)(?<![\w.$/-])({_NAME})(?=: (?:name or service not known|temporary failure in name res|nodename nor servname|"
    rf"no address associated)|/[{MARK}]|/<unresolved>)"
)
_BEHIND_USER = re.compile(rf"(?<=[{MARK}\"'])(@[\"'])({_NAME})")
_ITEM = rf"(?:[{MARK}]|[A-Za-z_][\w-]*(?:\.[\w-]+)*)(?::\d{{2,5}}(?![\w.]*[A-Za-z]))?"
_LIST = re.compile(rf"(?<![\w.:$-]){_ITEM}(?:,[ \t]?{_ITEM})*(?!:\d\d:|:\d\d\b)")
_MARKED = re.compile(f"[{MARK}]")
_SOURCE = re.compile(r"\.(?:java|kt|scala|groovy|py|pyx|cs|vb|go|rs|c|cc|cpp|h|hpp|js|ts|rb|log|txt|xml|properties)$")
_FULL = re.compile(
    r"(?<![\w.$-])(?!(?:java|javax|jakarta|org|com|net|io|edu|sun|jdk|weblogic|akka)\.)[A-Za-z0-9][\w-]*(?:\.[\w-]+)*"
    r"\.(?:com|net|org|io|local|localdomain|internal|intern|intra|corp|lan|home|example|test|invalid|cloud|dev|svc|info|"
    r"biz|gov|edu|de|uk|fr|eu|jp|ch|at|nl|be|it|es|se|no|dk|fi|pl|cz|us|ca|au|nz|in|cn|kr|br|mx|za)\b(?!\.\w|\(|-)"
)


def replace(text: str, names: Names) -> str:
    """The text without hosts and addresses."""

    def host(name: str) -> str:
        return name if name.isdecimal() or not _is_host(name) else names.of("host", name)

    def address(match: re.Match[str]) -> str:
        return names.of("address", match[0])

    def listed(match: re.Match[str]) -> str:
        items = re.split(r"(,[ \t]?)", match[0])
        if not any(":" in item and _is_host(item.partition(":")[0]) for item in items[::2]):
            return match[0]
        for i in range(0, len(items), 2):
            name, colon, port = items[i].partition(":")
            if i == 0 or colon or items[i - 1] == "," or is_telling(name):
                items[i] = host(name) + colon + port
        return "".join(items)

    text = _MAC.sub(address, text)
    text = _V4.sub(address, text)
    text = _V6.sub(lambda m: address(m) if _is_v6(m[0]) else m[0], text)
    text = _BEHIND_USER.sub(lambda m: m[1] + host(m[2]), text)
    text = pairs.replace(_PAIRS, text, lambda value: _value(value, host))
    text = _AFTER.sub(lambda m: m[1] + m[2] + host(m[3]), text)
    text = _QUOTED.sub(lambda m: m[1] + host(m[2]), text)
    text = _BEFORE.sub(lambda m: host(m[1]), text)
    text = _LIST.sub(listed, text)
    text = _PERHAPS.sub(lambda m: m[1] + (host(m[2]) if _is_machine(m[2]) else m[2]), text)
    return _FULL.sub(lambda m: host(m[0]), text)


def _value(value: str, host: Callable[[str], str]) -> str:
    """The value of a key such as `hosts`: a list, with ports or without."""
    return re.sub(rf"(?<![\w.:]){_NAME}", lambda m: host(m[0]), value)


def _is_host(name: str) -> bool:
    return bool(_MARKED.match(name)) or not (is_plain(name) or _SOURCE.search(name))


def _is_machine(name: str) -> bool:
    """A word and a number, as machines are called; no version, no package."""
    return "." not in name and is_telling(name) and re.search(r"[A-Za-z]{2,}-?\w*\d", name) is not None


def _is_v6(text: str) -> bool:
    """Whether it is an address, and no time of day or a C++ name's `::`."""
    try:
        return ipaddress.IPv6Address(text.partition("%")[0]) != ipaddress.IPv6Address("::")
    except ValueError:
        return False
