"""`key = value` in every spelling: JSON, also inside a string, properties, -D, query strings, XML, options."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Quotes may be missing at the end, for an excerpt is cut; one before a letter is part of the value, for JSON that was
# read out of a log has lost its backslashes.
_ESCAPED = r'\\"(?:[^"\\\n]|\\\\\\"|\\(?!"))*(?:\\")?'
_QUOTED = r'"(?:[^"\\\n]|\\.|"(?=\w))*"?|' + r"'(?:[^'\\\n]|\\.|'(?=\w))*'?"
# A comma is part of a value unless the next pair follows it.
_BARE = r"""(?:[^\s,;&"'<]|[,;&](?!\s|[\w.$-]+[ \t]?[=:]|$)|["'](?=\w))+"""
VALUE = f"(?:{_ESCAPED}|{_QUOTED}|{_BARE})"
_SEPARATOR = (
    r"""\\*["']?[ \t]*(?:=>|[=:])[ \t]*\[?|["']\s*,?\s*["']?value["']?[ \t]*[=:][ \t]*"""
    r"""|["']?[ \t]*>(?:<!\[CDATA\[)?|[ \t]+(?=["'])"""
)
_INSIDE = re.compile(r"""(\\?["']?)(.*?)(\\?["']?)([)\]}]*)""", re.DOTALL)


def pattern(keys: str) -> re.Pattern[str]:
    """Pairs whose key ends in one of `keys`."""
    return re.compile(
        rf"(?<![\w.$-])([\w.$-]*(?:{keys})\d*(?:{_SEPARATOR})|--?[\w-]*(?:{keys})[ \t]+(?![-\s]))({VALUE})",
        re.IGNORECASE,
    )


def replace(pairs: re.Pattern[str], text: str, value: Callable[[str], str]) -> str:
    """The text with each value as `value` makes it; quotes around it and brackets behind it stay."""

    def made(match: re.Match[str]) -> str:
        parts = _INSIDE.fullmatch(match[2])
        if parts is None or not parts[2]:
            return match[0]
        return match[1] + parts[1] + value(parts[2]) + parts[3] + parts[4]

    return pairs.sub(made, text)
