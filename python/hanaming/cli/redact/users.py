"""Users: by the key or the word before them, in paths of homes, in addresses of mail."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import pairs
from .names import MARK

if TYPE_CHECKING:
    from .names import Names

_PAIRS = pairs.pattern(r"user(?:[-_.]?(?:name|id|principal))?|login|principal|uid|account(?:name)?|logname")
# Not only DNs whose key says so: what an LDAP server answers has them anywhere.
_DN = re.compile(r"(?i)(?<![\w.$-])((?:cn|uid|ou|dc|sn)=)([^\s,;+=\"'<>()\]}]+)")
_SAID = re.compile(
    r"""(?i)(?<![\w.$-])((?:for|by|as|of|from)[ \t]+(?:user|role|account|principal)[ \t]+)([^\W_][\w\\@-]*(?:\.[\w\\@-]+)*)"""
    r"""|(?<![\w.$-])(user[ \t]+)([^\W_][\w\\@-]*(?:\.[\w\\@-]+)*)(?=[ \t]+(?:is|was|has|does|can|cannot|could|not|logged|lacks|failed)\b)"""
)
_QUOTED = re.compile(r"""(?i)(?<![\w.$-])((?:role|account|grantee|subject)[ \t]+["'])([^"'\n]+)""")
_HOME = re.compile(
    r"(?i)((?:/home|/users|(?<![\w/])~|[a-z]:[\\/]+(?:users|documents and settings))[\\/]+|(?<![\w/])~)"
    r"([^\s\\/:\"'<>|,;()\]]+(?: [^\s\\/:\"'<>|,;()]+(?=\\))?)"
)
_ORACLE = re.compile(r"(?<![\w./-])([\w.$-]+)/([^\s/@\"'<>]{1,128})@(?=[\w/\[(])")
_MAIL = re.compile(rf"(?<![\w.+@/{MARK}-])([\w.+-]{{1,128}})@([\w-]+(?:\.[\w-]+)*)")
_OBJECT = re.compile(r"(?:[\w-]+\.)*[A-Z][\w$]*")
_VERSION = re.compile(r"\d+\.\d+")


def replace(text: str, names: Names) -> str:
    """The text without users."""

    def said(match: re.Match[str]) -> str:
        return (match[1] or match[3]) + names.of("user", match[2] or match[4])

    def mail(match: re.Match[str]) -> str:
        if _VERSION.fullmatch(match[1]):  # of IIOP, before a host
            return f"{match[1]}@{names.of('host', match[2])}"
        if _OBJECT.fullmatch(match[1]) and re.fullmatch("[0-9a-f]{1,8}", match[2]):  # Java's `Class@hash`
            return match[0]
        return names.of("user", match[0])

    text = _ORACLE.sub(lambda m: names.of("user", m[1]) + "/***@", text)
    text = _DN.sub(lambda m: m[1] + names.of("host" if "." in m[2] else "user", m[2]), text)
    text = pairs.replace(_PAIRS, text, lambda value: names.of("user", value))
    text = _SAID.sub(said, text)
    text = _QUOTED.sub(lambda m: m[1] + names.of("user", m[2]), text)
    text = _HOME.sub(lambda m: m[1] + names.of("user", m[2]), text)
    return _MAIL.sub(mail, text)
