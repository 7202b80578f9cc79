"""Exceptions: what they say, what they are, and that they pickle with all their fields."""

from __future__ import annotations

import copy
import pickle
import sys
import traceback
from typing import Any

import pytest

import hanaming
from hanaming import Attempt, CompletionStatus, HAContext, NameEntry, NameNotFoundError, NamingError, Node, exceptions

CLASSES = [getattr(exceptions, name) for name in exceptions.__all__]
ATTEMPT = Attempt("127.0.0.1:1", "connect", "connection refused", CompletionStatus.NO, 0.001, "another is left")


def looked_up_while(handled: Exception, node: Node) -> None:
    try:
        raise handled
    except TimeoutError:
        node.local.lookup("nothing")


def test_what_was_being_handled_is_the_context(node: Node) -> None:
    earlier = TimeoutError("before")
    with pytest.raises(NameNotFoundError) as caught:
        looked_up_while(earlier, node)
    assert caught.value.__context__ is earlier
    with pytest.raises(NameNotFoundError) as alone:
        node.local.lookup("nothing")
    assert alone.value.__context__ is None


def fields(error: BaseException) -> dict[str, Any]:
    return {name: value for name, value in vars(error).items() if name != "__notes__"}


@pytest.mark.parametrize("cls", CLASSES)
def test_every_exception_is_a_naming_error_with_all_fields(cls: type[NamingError]) -> None:
    error = cls(
        "it broke",
        name="a/b",
        resolved_name="a",
        remaining_name="b",
        completion=CompletionStatus.MAYBE,
        safe_to_retry=True,
        attempts=[ATTEMPT],
    )
    assert isinstance(error, NamingError)
    assert str(error) == "it broke"
    assert (error.name, error.resolved_name, error.remaining_name) == ("a/b", "a", "b")
    assert error.completion is CompletionStatus.MAYBE
    assert error.safe_to_retry
    assert error.attempts == [ATTEMPT]


@pytest.mark.parametrize("cls", CLASSES)
def test_every_exception_pickles_and_copies(cls: type[NamingError]) -> None:
    error = cls("it broke", name="a", completion=CompletionStatus.YES, attempts=[ATTEMPT])
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is cls
        assert str(again) == "it broke"
        assert fields(again) == fields(error)


def test_what_else_they_are() -> None:
    assert issubclass(hanaming.NameNotFoundError, KeyError)
    assert issubclass(hanaming.InvalidNameError, ValueError)
    assert issubclass(hanaming.InvalidValueError, ValueError)
    assert issubclass(hanaming.ConfigurationError, ValueError)
    assert issubclass(hanaming.CommunicationError, ConnectionError)
    assert issubclass(hanaming.ServiceUnavailableError, hanaming.CommunicationError)
    assert issubclass(hanaming.TimeLimitExceededError, hanaming.ServiceUnavailableError)
    assert issubclass(hanaming.TimeLimitExceededError, TimeoutError)
    assert issubclass(hanaming.InternalError, RuntimeError)


def test_a_raised_error_pickles_with_what_only_it_has(node: Node) -> None:
    node.local.bind("a", 1)
    with pytest.raises(hanaming.NameAlreadyBoundError) as caught:
        node.local.bind("a", 2)
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again.existing, NameEntry)
    assert again.existing == caught.value.existing
    assert again.attempts == caught.value.attempts
    assert str(again) == str(caught.value)


def test_not_found_prints_a_plain_message(node: Node) -> None:
    with pytest.raises(NameNotFoundError) as caught:
        node.local.lookup("orders")
    assert str(caught.value).startswith("'orders': ")
    assert "\\'" not in str(caught.value)


def test_a_refused_connection_says_all() -> None:
    with Node("n1") as node:
        url = node.url
    with HAContext(url, timeout=2) as ctx, pytest.raises(hanaming.ServiceUnavailableError) as caught:
        ctx.lookup("orders")
    error = caught.value
    assert error.completion is CompletionStatus.NO
    assert error.safe_to_retry
    assert error.name == "orders"
    assert len(error.attempts) >= 2
    assert {attempt.phase for attempt in error.attempts} == {"connect"}
    assert all("refused" in attempt.outcome for attempt in error.attempts)
    assert all(attempt.target in url for attempt in error.attempts)
    assert error.attempts[0].why_next
    assert error.attempts[-1].why_next is None
    assert isinstance(error, ConnectionError)
    shown = "".join(traceback.format_exception(error))
    assert str(error) in shown
    if sys.version_info >= (3, 11):
        assert f"attempt 1: {error.attempts[0]}" in shown


def test_a_refused_write_says_it_did_not_run() -> None:
    with Node("n1") as node:
        url = node.url
    with HAContext(url, timeout=2) as ctx, pytest.raises(hanaming.ServiceUnavailableError) as caught:
        ctx.bind("orders", 1)
    assert caught.value.completion is CompletionStatus.NO
    assert caught.value.safe_to_retry
