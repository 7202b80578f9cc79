"""Leases, what became of a change, conflicts that are ended, members that are forgotten: in the twins and in process."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from cli_support import without_replies
from hanaming import (
    CompletionStatus,
    ConfigurationError,
    HAContext,
    NameNotFoundError,
    NamingError,
    Node,
    OperationNotSupportedError,
    OperationStatus,
)
from places import Place
from waiting import until


def passed(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def test_what_has_a_lease_stays_as_long_as_its_context_and_goes_then(place: Place) -> None:
    if not place.is_ha:
        with pytest.raises(OperationNotSupportedError, match="keeps no leases"):
            place.ctx.bind("a", 1, lease=5.0)
        return
    place.ctx.bind("a/b", 1, lease=1.0, create_parents=True)
    place.ctx.rebind("c", 1, lease=1.0)
    place.ctx.rebind("c", 2)
    until(passed(2.5), "two leases and a half have passed")
    assert (place.ctx.get("a/b"), place.ctx.get("c")) == (1, 2)
    place.ctx.close()
    with place.node.context() as ctx:
        assert (ctx.get("a/b"), ctx.get("c")) == (None, 2)


def test_who_closes_gives_back_what_it_has_and_nothing_else(place: Place) -> None:
    if not place.is_ha:
        return
    # Far more than would ever go at once for their silence, and none of them for hours.
    for number in range(20):
        place.ctx.bind(f"held{number}", number, lease=3600.0)
    with place.node.context() as ctx:
        ctx.rebind("held0", "another's")
        place.ctx.close()
        assert ctx.lookup_many([f"held{number}" for number in range(20)]) == {"held0": "another's"}


@pytest.mark.parametrize("lease", [0.5, 0, -1, float("nan")])
def test_a_lease_that_is_none(place: Place, lease: float) -> None:
    with pytest.raises((NamingError, ValueError)):
        place.ctx.bind("a", 1, lease=lease)
    assert place.ctx.get("a") is None


def test_what_nobody_knows_of_did_not_run(place: Place) -> None:
    unknown = f"{7:032x}.1"
    if not place.is_ha:
        with pytest.raises(OperationNotSupportedError):
            place.ctx.operation_status(unknown)
        return
    assert place.ctx.operation_status(unknown) == OperationStatus("unknown", None, None, [])
    with pytest.raises(ConfigurationError, match="operation_id"):
        place.ctx.operation_status("7.1")


def test_an_error_tells_the_id_by_which_to_ask_what_became_of_it(node: Node) -> None:
    with without_replies(node.address) as provider, HAContext(provider, follow_views=False, timeout=0.5) as ctx:
        with pytest.raises(NamingError) as caught:
            ctx.bind("a", 1)
        assert caught.value.completion is CompletionStatus.MAYBE
        operation = caught.value.operation_id
    assert operation is not None
    with node.context() as ctx:
        status = ctx.operation_status(operation)
        assert (status.state, status.name, status.silent) == ("done", "a", [])
        assert status.version == ctx.resolve("a").version


def test_a_version_that_does_not_stand_there_is_not_kept(place: Place) -> None:
    if not place.is_ha:
        with pytest.raises(OperationNotSupportedError, match="no conflicts"):
            place.ctx.resolve_conflict("a", None)
        return
    receipt = place.ctx.bind("a", 1)
    assert place.ctx.resolve_conflict("a", receipt.version).version is None, "there is nothing to resolve"
    with pytest.raises(NameNotFoundError, match=r"no version 00000000\.9"):
        place.ctx.resolve_conflict("a", "00000000.9")
    with pytest.raises(TypeError, match="keep"):
        place.ctx.resolve_conflict("a", 9)
    assert place.ctx.get("a") == 1


def test_who_is_there_is_not_forgotten(place: Place) -> None:
    with pytest.raises(OperationNotSupportedError):
        place.ctx.forget("n1")
    if place.is_ha:
        place.ctx.forget("n2")
        place.node.forget("n2")
