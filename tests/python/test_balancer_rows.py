"""What the vendors' manual says of each failure, with servers that behave so: who is called, and what comes out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from hanaming import CompletionStatus, Target, corba
from line_servers import LineServer, ServerError, ask
from twins import TWINS, Sync

QUIESCING = 0x49421040
RETRY = 0x49421042
OTHER = "the other's answer"
"""What comes out where the call went on."""


@dataclass
class Row:
    """What a server does, and what comes of it."""

    does: str
    once: Any
    """What comes out of a call that must not run twice: `OTHER`, an exception's class, or `None` for nothing."""
    idempotent: Any
    completion: CompletionStatus | None
    """Whether it ran; `None` where only the server knows."""
    state: str
    """How the server is taken to be afterwards, where the call was no idempotent one."""


NO, YES, MAYBE = CompletionStatus.NO, CompletionStatus.YES, CompletionStatus.MAYBE

ROWS = {
    "no server can process the request": Row(
        f"raise NO_IMPLEMENT {QUIESCING:x} NO", corba.NO_IMPLEMENT, corba.NO_IMPLEMENT, NO, "overloaded"
    ),
    "quiescing": Row(f"raise TRANSIENT {QUIESCING:x} NO", OTHER, OTHER, NO, "quiescing"),
    "signals retry": Row(f"raise TRANSIENT {RETRY:x} MAYBE", corba.TRANSIENT, OTHER, MAYBE, "failed"),
    "COMM_FAILURE, NO": Row("raise COMM_FAILURE 49421001 NO", OTHER, OTHER, NO, "failed"),
    "NO_RESPONSE, NO": Row("raise NO_RESPONSE 49421001 NO", OTHER, OTHER, NO, "failed"),
    "COMM_FAILURE, YES": Row("raise COMM_FAILURE 49421001 YES", None, OTHER, YES, "failed"),
    "NO_RESPONSE, YES": Row("raise NO_RESPONSE 49421001 YES", None, OTHER, YES, "failed"),
    "COMM_FAILURE, MAYBE": Row("raise COMM_FAILURE 49421001 MAYBE", corba.COMM_FAILURE, OTHER, MAYBE, "failed"),
    "NO_RESPONSE, MAYBE": Row("raise NO_RESPONSE 49421001 MAYBE", corba.NO_RESPONSE, OTHER, MAYBE, "failed"),
    "the workload manager is broken": Row(
        f"raise INTERNAL {QUIESCING:x} MAYBE", corba.INTERNAL, corba.INTERNAL, MAYBE, "untried"
    ),
    "an application exception": Row("raise application no such order", ServerError, ServerError, None, "good"),
    "silent": Row("silent", TimeoutError, OTHER, MAYBE, "failed"),
    "reset": Row("reset", ConnectionResetError, OTHER, MAYBE, "failed"),
    "half an answer": Row("half", ConnectionResetError, OTHER, MAYBE, "failed"),
    "closed": Row("closed", OTHER, OTHER, NO, "failed"),
}


@pytest.fixture(params=TWINS)
def twin(request: pytest.FixtureRequest) -> Iterator[Sync]:
    with TWINS[request.param]() as opened:
        yield opened


@pytest.fixture
def servers() -> Iterator[tuple[LineServer, LineServer]]:
    with ExitStack() as stack:
        yield stack.enter_context(LineServer()), stack.enter_context(LineServer())


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("idempotent", [False, True], ids=["once", "idempotent"])
def test_a_row(twin: Sync, servers: tuple[LineServer, LineServer], row: Row, idempotent: bool) -> None:
    bad, good = servers
    balancer = twin.make([bad.address, good.address])
    if row.does == "closed":
        bad.close()
    else:
        bad.behaviour = row.does
    expected = row.idempotent if idempotent else row.once

    # Whoever has the first turn: the one that matters is the one in which the bad server is called.
    for _ in range(2):
        before = bad.ran, good.ran
        outcome = attempt(lambda: twin.loop(balancer, ask, idempotent=idempotent))
        explained = twin.explain(balancer)
        if explained[0].target == bad.address:
            break
    assert explained[0].target == bad.address
    assert row.completion in (explained[0].completion, None)
    took = (0 if row.does == "closed" else 1, 1 if expected is OTHER else 0)
    assert (bad.ran - before[0], good.ran - before[1]) == took
    if expected is OTHER:
        assert outcome == good.address
        assert [made.target for made in explained] == [bad.address, good.address]
        assert explained[0].why_next
    elif expected is None:
        assert outcome is None
    else:
        assert type(outcome) is expected
        assert [made.target for made in outcome.attempts] == [bad.address]
    if not idempotent:
        states = {str(target): target.state for target in balancer.targets}
        # A connection alone takes back who failed, a moment later.
        assert states[bad.address] in (row.state, "untried")


def attempt(call: Callable[[], Any]) -> Any:
    """What a call gives, or what it raises."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - it is looked at
        return error


def test_where_the_value_is_needed_a_lost_result_comes_out(twin: Sync, servers: tuple[LineServer, LineServer]) -> None:
    for server in servers:
        server.behaviour = "raise COMM_FAILURE 49421001 YES"
    balancer = twin.make([server.address for server in servers])
    assert twin.loop(balancer, ask) is None
    with pytest.raises(corba.COMM_FAILURE):
        twin.loop(balancer, ask, value=True)
    with pytest.raises(corba.COMM_FAILURE):
        twin.call(balancer, ask)
    assert sum(server.ran for server in servers) == 3
    servers[0].behaviour = "answer"
    assert twin.call(balancer.idempotent, ask) == servers[0].address


def test_an_exception_of_the_application_is_called_once(twin: Sync, servers: tuple[LineServer, LineServer]) -> None:
    balancer = twin.make([server.address for server in servers])
    raised = []

    def fail(target: Target) -> None:
        raised.append(ServerError(str(target)))
        raise raised[-1]

    for needs in ({}, {"idempotent": True}, {"value": True}):
        raised.clear()
        outcome = attempt(lambda needs=needs: twin.loop(balancer, fail, **needs))  # type: ignore[misc]
        assert [outcome] == raised, "the very object, raised once"
        assert outcome.__cause__ is None


def test_a_quiescing_server_gets_nothing_for_a_while(twin: Sync, servers: tuple[LineServer, LineServer]) -> None:
    bad, good = servers
    bad.behaviour = f"raise TRANSIENT {QUIESCING:x} NO"
    balancer = twin.make([bad.address, good.address])
    began = time.monotonic()
    answers = [twin.call(balancer, ask) for _ in range(20)]
    if time.monotonic() - began < 0.7:
        assert bad.ran == 1
    assert answers == [good.address] * 20
