"""What is raised while something else is being handled: the program has gone on, and that is what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import pytest

import hanaming
from broken_servers import failure
from hanaming import Action, Category, CompletionStatus, Target, classify, corba
from twins import TWINS, Sync

NO, MAYBE, YES = CompletionStatus.NO, CompletionStatus.MAYBE, CompletionStatus.YES
ADDRESSES = ["127.0.0.1:1001", "127.0.0.1:1002", "127.0.0.1:1003"]
"""Nobody dials them: the calls are plain functions."""


def stranger(name: str, module: str, *args: object, base: type[Exception] = Exception) -> Exception:
    """An exception as another library has it."""
    found: Exception = type(name, (base,), {"__module__": module})(*args)
    return found


class OrderRejectedError(Exception):
    """A program's own."""


def raised_in_handling(handled: Exception, later: Exception) -> NoReturn:
    try:
        raise handled
    except type(handled):
        raise later  # noqa: B904 - its context is the point


def refused() -> Exception:
    return ConnectionRefusedError(111, "Connection refused")


def http_error() -> Exception:
    return stranger("HTTPError", "requests.exceptions", "500 Server Error: oops for url: http://a/")


ANSWERS: dict[str, Callable[[], Exception]] = {
    "http": http_error,
    "naming": lambda: hanaming.NameNotFoundError("orders"),
    "database": lambda: stranger("UniqueViolation", "psycopg.errors", "duplicate key"),
    "redis": lambda: stranger("ResponseError", "redis.exceptions", "WRONGTYPE"),
    "zookeeper": lambda: stranger("NoNodeError", "kazoo.exceptions"),
    "corba": lambda: stranger("NotFound", "CosNaming.NamingContext", base=stranger("UserException", "CORBA").__class__),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_is_not_undone_by_what_was_handled(answer: Callable[[], Exception]) -> None:
    found = classify(failure(raised_in_handling, refused(), answer()))
    assert (found.completion, found.action, found.action_if_idempotent) == (YES, Action.SURFACE, Action.SURFACE)


@pytest.mark.parametrize(
    ("handled", "later", "category", "completion"),
    [
        (refused(), corba.COMM_FAILURE(0, MAYBE), Category.CONNECTION_LOST, MAYBE),
        (refused(), corba.COMM_FAILURE(0, YES), Category.RESULT_LOST, YES),
        (refused(), corba.UNKNOWN(0, MAYBE), Category.APPLICATION, MAYBE),
        (refused(), TimeoutError("timed out"), Category.NO_RESPONSE, MAYBE),
        # What was answered or lost before is not undone by what came later.
        (hanaming.NameNotFoundError("a"), ConnectionResetError(104, "x"), Category.CONNECTION_LOST, MAYBE),
        (http_error(), refused(), Category.APPLICATION, YES),
        (ConnectionResetError(104, "x"), http_error(), Category.CONNECTION_LOST, MAYBE),
        (refused(), refused(), Category.NOT_CONNECTED, NO),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_the_worse_of_two_attempts_counts(
    handled: Exception, later: Exception, category: Category, completion: CompletionStatus
) -> None:
    found = classify(failure(raised_in_handling, handled, later))
    assert (found.category, found.completion) == (category, completion)


@pytest.fixture(params=TWINS)
def twin(request: pytest.FixtureRequest) -> Iterator[Sync]:
    with TWINS[request.param]() as opened:
        yield opened


OWN: dict[str, Callable[[], Exception]] = {
    "own": lambda: OrderRejectedError("limit"),
    "assertion": lambda: AssertionError("x"),
    "key": lambda: KeyError("x"),
    **ANSWERS,
}


@pytest.mark.parametrize("later", OWN.values(), ids=OWN)
@pytest.mark.parametrize("idempotent", [False, True], ids=["once", "idempotent"])
def test_a_balancer_calls_once(twin: Sync, later: Callable[[], Exception], idempotent: bool) -> None:
    called: list[Target] = []

    def place(target: Target) -> Any:
        called.append(target)
        # A side call that has nothing to do with the target.
        raised_in_handling(refused(), later())

    balancer = twin.make(ADDRESSES)
    expected = type(later())
    outcome = failure(twin.loop, balancer, place) if not idempotent else failure(twin.call, balancer.idempotent, place)
    assert type(outcome).__name__ == expected.__name__
    assert len(called) == 1


def test_what_an_exception_was_raised_for_counts_where_it_says_so(twin: Sync) -> None:
    called: list[Target] = []

    def place(target: Target) -> str:
        called.append(target)
        if len(called) > 1:
            return "placed"
        try:
            raise refused()
        except ConnectionRefusedError as error:
            raise OrderRejectedError("not reached") from error

    assert twin.call(twin.make(ADDRESSES), place) == "placed"
    assert len(called) == 2
