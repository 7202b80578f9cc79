"""Calls on an event loop: when they start, how they end, what giving up means."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from aio_servers import Relay, until
from hanaming import (
    CompletionStatus,
    ContextClosedError,
    InvalidNameError,
    NameNotFoundError,
    Node,
    ServiceUnavailableError,
    TimeLimitExceededError,
    aio,
)

pytestmark = pytest.mark.asyncio


@pytest.fixture
def relay(node: Node) -> Iterator[Relay]:
    node.local.bind("a", 1)
    with Relay(node) as opened:
        yield opened


@pytest_asyncio.fixture
async def actx(relay: Relay) -> AsyncIterator[aio.HAContext]:
    async with aio.HAContext(relay.url, follow_views=False) as opened:
        yield opened


async def test_a_call_starts_when_it_is_made(node: Node, actx: aio.HAContext) -> None:
    future = actx.bind("b", 2)
    assert asyncio.isfuture(future)
    assert future.get_loop() is asyncio.get_running_loop()
    # Nobody awaits it, and it happens all the same.
    with node.context() as other:
        await until(lambda: "b" in other, "the bind took effect")
    await future


async def test_many_calls_at_once(actx: aio.HAContext) -> None:
    assert await asyncio.gather(*(actx.lookup("a") for _ in range(1000))) == [1] * 1000
    results: list[Any] = await asyncio.gather(
        *(actx.lookup(f"x{number}") for number in range(1000)), return_exceptions=True
    )
    assert [type(result) for result in results] == [NameNotFoundError] * 1000
    assert [result.name for result in results] == [f"x{number}" for number in range(1000)]


async def test_errors_come_out_of_the_future(actx: aio.HAContext) -> None:
    for future in [actx.lookup("a//b"), actx.lookup("missing"), actx.bind("", 1)]:
        with pytest.raises((InvalidNameError, NameNotFoundError)):
            await future
    with pytest.raises(TypeError):
        actx.lookup(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        actx.bind("x", object())


async def test_timeouts(relay: Relay, actx: aio.HAContext) -> None:
    await actx.lookup("a")
    relay.freeze()
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(TimeLimitExceededError) as caught:
        await actx.lookup("a", timeout=0.4)
    assert 0.35 < loop.time() - began < 2
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.completion is CompletionStatus.MAYBE
    assert caught.value.safe_to_retry
    assert caught.value.attempts


async def test_wait_for_of_asyncio_gives_up(relay: Relay, actx: aio.HAContext) -> None:
    await actx.lookup("a")
    relay.freeze()
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(actx.bind("b", 1), 0.05)
    (attempt,) = actx.explain()
    assert (attempt.target, attempt.completion) == (relay.address, CompletionStatus.MAYBE)


async def test_a_cancelled_call_that_had_left_is_maybe(relay: Relay, actx: aio.HAContext) -> None:
    await actx.lookup("a")
    relay.freeze()
    explained: list[Any] = []

    async def bind() -> None:
        try:
            await actx.bind("b", 1)
        except asyncio.CancelledError:
            explained.extend(actx.explain())
            raise

    task = asyncio.create_task(bind())
    await until(lambda: relay.asked > 0, "the request has left")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(attempt.phase, attempt.completion) for attempt in explained] == [("wait", CompletionStatus.MAYBE)]
    # Its own task's last call is another one.
    assert [attempt.phase for attempt in actx.explain()] == ["answer"]


async def test_a_cancelled_call_that_had_not_left_is_no_and_never_leaves(node: Node, actx: aio.HAContext) -> None:
    await actx.lookup("a")
    at_once, given_up = actx.lookup("a"), actx.bind("b", 1)
    given_up.cancel()
    assert [attempt.completion for attempt in actx.explain()] == [CompletionStatus.NO]
    assert await at_once == 1
    await asyncio.gather(*(actx.lookup("a") for _ in range(10)))
    assert await actx.get("b") is None


async def test_cancelling_before_the_flush_needs_no_explaining(actx: aio.HAContext) -> None:
    await actx.lookup("a")
    at_once, given_up = actx.lookup("a"), actx.bind("b", 1)
    given_up.cancel()
    await at_once
    assert await actx.get("b") is None


async def test_a_late_reply_of_a_cancelled_call_disturbs_nobody(relay: Relay, actx: aio.HAContext) -> None:
    await actx.lookup("a")
    relay.freeze()
    cancelled = [actx.lookup("a") for _ in range(10)]
    await until(lambda: relay.asked > 0, "the requests have left")
    for future in cancelled:
        future.cancel()
    relay.thaw()
    assert await actx.lookup("a") == 1
    assert all(future.cancelled() for future in cancelled)


async def test_explain_is_per_task(relay: Relay, actx: aio.HAContext) -> None:
    async def failing() -> list[Any]:
        with contextlib.suppress(NameNotFoundError):
            await actx.lookup("missing")
        await asyncio.sleep(0)
        return actx.explain()

    async def idle() -> list[Any]:
        return actx.explain()

    await actx.lookup("a")
    failed, none = await asyncio.gather(failing(), idle())
    assert [attempt.outcome for attempt in failed] == ["no such name"]
    assert none == []
    (mine,) = actx.explain()
    assert (mine.target, mine.outcome, mine.completion) == (relay.address, "found", CompletionStatus.YES)


async def test_explain_forgets_tasks_that_are_gone(actx: aio.HAContext) -> None:
    async def one() -> None:
        await actx.lookup("a")

    for _ in range(50):
        await asyncio.gather(*(asyncio.create_task(one()) for _ in range(40)))
    gc.collect()

    async def idle() -> list[Any]:
        return actx.explain()

    assert await asyncio.gather(*(asyncio.create_task(idle()) for _ in range(40))) == [[]] * 40


async def test_closing_ends_calls_under_way(relay: Relay, actx: aio.HAContext) -> None:
    await actx.lookup("a")
    relay.freeze()
    left = actx.bind("b", 1)
    await until(lambda: relay.asked > 0, "the request has left")
    await actx.aclose()
    with pytest.raises(ContextClosedError) as caught:
        await left
    assert caught.value.completion is CompletionStatus.MAYBE
    with pytest.raises(ContextClosedError):
        await actx.lookup("a")
    await actx.aclose()


async def test_connections_that_are_cut_are_made_again(relay: Relay, actx: aio.HAContext) -> None:
    # The next socket gets the descriptor of the one before: the loop must have forgotten that.
    for _ in range(5):
        assert await asyncio.gather(*(actx.lookup("a") for _ in range(3))) == [1] * 3
        relay.cut()
    assert await actx.lookup("a") == 1


async def test_iteration(actx: aio.HAContext) -> None:
    await actx.bind("c/d", 1, create_parents=True)
    assert [name async for name in actx] == ["a", "c"]
    assert [name async for name in await actx.lookup("c")] == ["d"]
    with pytest.raises(NameNotFoundError):
        await actx.list_names("missing")


# Invariant 22.
async def test_there_are_no_operators_that_cannot_be_awaited(actx: aio.HAContext) -> None:
    for name in ("__getitem__", "__contains__", "__delitem__", "__iter__", "__enter__"):
        assert not hasattr(actx, name)
    assert bool(actx) is True, "a context is always truthy"


async def test_subcontexts(actx: aio.HAContext) -> None:
    sub = await actx.create_subcontext("s")
    assert isinstance(sub, aio.HAContext)
    await sub.bind("x", 1)
    assert await actx.lookup("s/x") == 1
    await sub.aclose()
    with pytest.raises(ContextClosedError):
        await sub.lookup("x")
    assert await actx.lookup("s/x") == 1, "a subcontext closes itself alone"


async def test_nobody_there() -> None:
    async with aio.HAContext("hn://127.0.0.1:1") as ctx:
        with pytest.raises(ServiceUnavailableError) as caught:
            await ctx.lookup("a")
    assert caught.value.completion is CompletionStatus.NO
    assert caught.value.safe_to_retry


async def test_a_context_that_nobody_holds_finishes_its_calls(relay: Relay) -> None:
    assert await aio.HAContext(relay.url).lookup("a") == 1
    future = aio.HAContext(relay.url).create_subcontext("made")
    gc.collect()
    made = await future
    await made.bind("x", 1)
    assert await made.lookup("x") == 1


async def test_futures_that_nobody_awaits_are_silent_when_the_context_is_closed(relay: Relay) -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with aio.HAContext(relay.url) as ctx:
        await ctx.lookup("a")
        relay.freeze()
        forgotten = ctx.lookup("a")
    assert forgotten.done()
    del forgotten
    gc.collect()
    assert complaints == []


async def test_a_nodes_calls_start_when_they_are_made() -> None:
    node = aio.Node("n1")
    starting = node.start()
    assert isinstance(starting, asyncio.Future)
    await starting
    calls: list[asyncio.Future[Any]] = [node.check(), node.quiesce()]
    assert all(isinstance(call, asyncio.Future) for call in calls)
    # Not awaited, and done all the same.
    await asyncio.wait(calls)
    assert [member.state for member in node.view.members] != ["live"]
    closing = node.aclose()
    assert isinstance(closing, asyncio.Future)
    await closing


async def test_a_future_that_somebody_else_completed_is_left_alone(
    actx: aio.HAContext, capsys: pytest.CaptureFixture[str]
) -> None:
    future: Any = actx.lookup("a")
    future.set_result(5)
    assert await future == 5
    # The answer to the one that follows comes behind that one's.
    assert await actx.lookup("a") == 1
    assert capsys.readouterr().err == ""
