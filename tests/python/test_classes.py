"""Exception classes of HTTP clients and stores: each means as an object what it means by its name in a log.

`classes.tsv` was written by going through the libraries; where one is installed, no class of it may be missing there.
"""

from __future__ import annotations

import builtins
import importlib
from dataclasses import dataclass
from pathlib import Path

import pytest

from hanaming import Action, Category, CompletionStatus, classify

TABLE = Path(__file__).resolve().parents[1] / "failure" / "cases" / "classes.tsv"
MODULES = [
    "requests.exceptions",
    "httpx",
    "aiohttp",
    "urllib3.exceptions",
    "http.client",
    "redis.exceptions",
    "psycopg",
]


@dataclass
class Row:
    name: str
    expected: tuple[Category, CompletionStatus, Action]
    bases: list[str]


def rows() -> list[Row]:
    lines = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
    return [
        Row(name, (Category(category), CompletionStatus(completion), Action(action)), bases.replace("-", "").split())
        for name, category, completion, action, bases, *_ in lines
    ]


def told(error: BaseException) -> tuple[Category, CompletionStatus | None, Action]:
    found = classify(error)
    return found.category, found.completion, found.action


def made(row: Row) -> BaseException:
    """An exception of a class that looks like that one, without its library."""
    roots = [getattr(builtins, name) for name in row.bases if "." not in name]
    roots = [root for root in roots if not any(issubclass(other, root) for other in roots if other is not root)]
    bases: tuple[type, ...] = tuple(roots) or (Exception,)
    for full in [*reversed([name for name in row.bases if "." in name]), row.name]:
        module, _, name = full.rpartition(".")
        bases = (type(name, bases, {"__module__": module, "__init__": lambda *_: None}),)
    error = bases[0]("x")
    assert isinstance(error, BaseException)
    return error


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_a_class_means_what_the_table_says(row: Row) -> None:
    assert told(made(row)) == row.expected


@pytest.mark.parametrize("module", MODULES)
def test_no_class_of_the_library_is_missing(module: str) -> None:
    library = pytest.importorskip(module)
    known = {row.name: row for row in rows()}
    members = [member for member in vars(library).values() if isinstance(member, type)]
    own = [member for member in members if member.__module__.partition(".")[0] == module.partition(".")[0]]
    found = [cls for cls in own if issubclass(cls, Exception) and not issubclass(cls, Warning)]
    found = [cls for cls in found if cls.__name__ not in ("Warning", "Rollback")]  # psycopg's
    assert found
    for cls in found:
        name = f"{cls.__module__}.{cls.__qualname__}"
        assert name in known, f"{name} is not in {TABLE.name}"
        error = cls.__new__(cls)
        BaseException.__init__(error, "x")
        assert told(error) == known[name].expected, name


def test_what_a_request_broke_on_decides_within_a_client_s_general_exception() -> None:
    requests = pytest.importorskip("requests")
    urllib3 = importlib.import_module("urllib3.exceptions")
    answered = urllib3.MaxRetryError(None, "/", urllib3.ResponseError("too many 503 error responses"))
    assert told(requests.exceptions.RetryError(answered))[:2] == (Category.APPLICATION, CompletionStatus.YES)
    refused = requests.RequestException(ConnectionRefusedError(111, "Connection refused"))
    assert told(refused)[:2] == (Category.NOT_CONNECTED, CompletionStatus.NO)
    # One that is silent on how far the call had come was handled: the refusal need not be that call's.
    later = ConnectionRefusedError(111, "Connection refused")
    later.__context__ = requests.RequestException("x")
    assert told(later) == (Category.UNKNOWN, CompletionStatus.MAYBE, Action.SURFACE)
