"""`classify`: from whatever tells of a failure to its verdict."""

from __future__ import annotations

import codecs
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from hanaming._native import classify_chain, classify_description, classify_text
from hanaming.classification import mapping, thrown
from hanaming.classification.verdict import Verdict, from_native, of_repeatable
from hanaming.exceptions import NamingError
from hanaming.failure import Category

__all__ = ["classify"]

_LONGEST_PATH = 1024


def classify(x: BaseException | Mapping[str, Any] | str | bytes | bytearray | memoryview, /) -> Verdict:
    """What a failure means: whether the call ran, and what to do next.

    Args:
        x: An exception (hanaming's, Python's, or one of gRPC, omniORBpy, requests, httpx, aiohttp, urllib3, redis, kazoo
            or psycopg, with its causes); a mapping such as `{"exception": "org.omg.CORBA.TRANSIENT", "minor":
            "0x49421040", "completed": None}`; or text as it stands in a log, in any encoding, of which the first primary
            failure counts. A file is read by `read_failures`.
    """
    given: object = x
    if isinstance(given, BaseException):
        chain, parts = thrown.chain_of(given)
        verdict = from_native(classify_chain(chain, parts))
        # Our own errors know their operation.
        return of_repeatable(verdict) if isinstance(given, NamingError) and given.safe_to_retry else verdict
    if isinstance(given, (bytes, bytearray, memoryview)):
        return from_native(classify_text(_narrow(bytes(given))))
    if isinstance(given, str):
        verdict = from_native(classify_text(_encoded(given)))
        return _of_file(given) if verdict.category is Category.NOT_A_FAILURE and _is_file(given) else verdict
    if isinstance(given, Mapping):
        verdict = from_native(classify_description(mapping.description_of(given)))
        return of_repeatable(verdict) if mapping.is_repeatable(given) else verdict
    return _refuse(given)


def _encoded(text: str) -> bytes:
    """The text's bytes, those among them that are no text; what stands for no byte at all becomes a question mark."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return text.encode(errors="replace")


def _narrow(data: bytes) -> bytes:
    """Text whose first bytes say that it is UTF-16 becomes UTF-8; any other encoding does no harm."""
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return data.decode("utf-16", errors="replace").encode()
    return data


def _refuse(x: object) -> NoReturn:
    hint = "; read_failures() reads files" if isinstance(x, os.PathLike) else ""
    raise TypeError(f"classify takes an exception, a mapping, or text, not {type(x).__name__}{hint}")


def _is_file(text: str) -> bool:
    """Whether the text names a file rather than being what stands in one."""
    name = text.strip()
    if not name or len(name) > _LONGEST_PATH or "\n" in name or "\0" in name:
        return False
    try:
        exists = Path(name).exists()
    except (OSError, ValueError):  # what no file system has as a name
        return False
    return exists or ("/" in name and " " not in name and name.endswith((".log", ".txt", ".gz", ".out")))


def _of_file(name: str) -> Verdict:
    verdict = from_native(classify_text(b""))
    return replace(
        verdict,
        reason="the text is a file's name, not what stands in the file",
        advice="Read the file with hanaming.read_failures(path), or on the command line with `hanaming classify PATH`.",
        evidence=name.strip(),
    )
