"""Passwords, keys and tokens: left out, without a name, for two that are equal are nobody's business."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import pairs

if TYPE_CHECKING:
    from .names import Names

_PAIRS = pairs.pattern(
    r"password|passwd|passphrase|passcode|pwd|(?<![a-z])pass|(?-i:(?<=[a-z])Pass)|secrets?|credentials?|token|"
    r"(?:api|access|private|secret|account|shared)[-_.]?key|jsessionid|session[-_]?id|signature|(?<![a-z])sig"
)
# What such a header says reaches to the end of its line, or of the quotes around it.
_HEADER = re.compile(
    r"""(?i)(?<![\w-])((?:proxy-)?authorization|(?:set-)?cookie)(\\*["']?[ \t]*[=:][ \t]*\[?\\*["']?)"""
    r"""(?:(Digest[ \t]).*|((?:Basic|Bearer|Negotiate|NTLM|Token|ApiKey)\b[ \t]*)?[^"'\n]+)"""
)
_SCHEME = re.compile(
    r"(?<!\w)(Basic|Bearer|Negotiate|NTLM)[ \t]+"
    r"(?!(?:auth\w*|tokens?|scheme|realm|credentials?|error|challenge|header|access|and|or|is|was|not|with|for|failed|"
    r"required|support\w*|profile|type|class|constraint|data|setup|usage)\b(?!=))([\w+/.~=-]+)"
)
_TOKEN = re.compile(r"(?<![\w-])(?:eyJ[\w-]+\.[\w.-]+|A[KS]IA[0-9A-Z]{12,}|gh[pousr]_\w{16,}|xox[abprs]-[\w-]{10,})")
_KEY_BLOCK = re.compile(r"(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----)[^-]*")


def replace(text: str, _names: Names) -> str:
    """The text without secrets."""
    text = _KEY_BLOCK.sub(r"\1***", text)
    text = _HEADER.sub(lambda m: f"{m[1]}{m[2]}{m[3] or m[4] or ''}***", text)
    text = pairs.replace(_PAIRS, text, lambda _: "***")
    text = _SCHEME.sub(r"\1 ***", text)
    return _TOKEN.sub("***", text)
