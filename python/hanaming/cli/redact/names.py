"""What each thing is called instead, and which words are no names."""

from __future__ import annotations

import re

# Private characters stand for the names until all rules are through: no pattern takes them for a word.
_FIRST, _LAST = 0xF0000, 0x10FFFD
MARK = f"{chr(_FIRST)}-{chr(_LAST)}"
_MARKS = re.compile(f"[{MARK}]")
_WORD = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_LOG = re.compile(r"\.(?:log|out|txt|err|gz|zip)\b.*")
_CLASS = re.compile(r"(?:[a-z_][\w$]*\.)+[A-Z][\w$]*[a-z][\w$.]*|[\w.$]*(?:Exception|Error|Failure)")
_SHORTEST = 4

# Words that stand where a name could, and which a reader needs.
_PLAIN = frozenset(
    """
    a an the and or not no is was are has in on at to of for by as from with it its this that be been can cannot could
    null nil none true false yes unknown undefined empty anonymous localhost any all failed fails failure error errors
    invalid expired refused denied closed reset timeout timed connect connection connecting connected exception nested
    warn warning info debug trace fatal severe user users username host hosts hostname server servers client node nodes
    peer name names address port line code minor status errno pid tid thread id size length count column col offset took
    elapsed version vmcid reason level vendor time completed authentication authorization auth login logon principal
    session password transaction registry after before while during because when operation request response message
    caused root cause read write socket broken pipe remote local service http https tcp udp ssl tls iiop ldap java org
    com net system main test default type class method called completion maybe ago sec ms database role account does
    """.split()  # noqa: SIM905 - words read better as text
)


def is_plain(word: str) -> bool:
    """Whether it is a word or a class's name rather than somebody's."""
    return word.lower() in _PLAIN or not re.search("[^\\W_]", word) or _CLASS.fullmatch(word) is not None


def is_telling(word: str) -> bool:
    """Whether it looks like a machine's name by itself."""
    return re.search(r"[A-Za-z]", word) is not None and re.search(r"[\d.-]", word) is not None and not is_plain(word)


class Names:
    """The names that were given."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}
        self._shown: dict[int, str] = {}
        self._counts: dict[str, int] = {}

    def of(self, kind: str, original: str) -> str:
        """What stands for it: a mark that `shown` turns into its name."""
        if given := _MARKS.search(original):
            return given[0]
        if is_plain(original):
            return original
        key = original.lower()
        if key not in self._marks:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            # More names than marks: the last ones share theirs.
            code = min(_FIRST + len(self._marks), _LAST)
            self._marks[key] = chr(code)
            self._shown.setdefault(code, f"{kind}-{number}")
        return self._marks[key]

    def prepared(self, text: str) -> str:
        """The text without characters that would be taken for marks."""
        return _MARKS.sub("\ufffd", text)

    def known(self, text: str) -> str:
        """The text without names that were met elsewhere, where nothing but the word gives them away."""

        def found(match: re.Match[str]) -> str:
            word = match[0]
            stem = _LOG.sub("", word)
            mark = self._marks.get(stem.lower()) if len(stem) >= _SHORTEST and not stem.isdecimal() else None
            return mark + word[len(stem) :] if mark else word

        return _WORD.sub(found, text)

    def shown(self, text: str) -> str:
        """The text with names in place of marks."""
        return text.translate(self._shown)
