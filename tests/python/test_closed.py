"""Whoever uses a closed context is told so in the same words, with the name that was given where one was."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hanaming import CompletionStatus, ContextClosedError, HAContext, Node, aio

# What is asked of a context, and the name that is given with it.
OPERATIONS: dict[str, tuple[Callable[[Any], Any], str | None]] = {
    "lookup": (lambda ctx: ctx.lookup("a"), "a"),
    "lookup of the context itself": (lambda ctx: ctx.lookup(""), ""),
    "bind": (lambda ctx: ctx.bind("a", 1), "a"),
    "rename": (lambda ctx: ctx.rename("a", "b"), "a"),
    "list_names": (lambda ctx: ctx.list_names(), ""),
    "check": (lambda ctx: ctx.check("a"), "a"),
    "service": (lambda ctx: ctx.service("a"), "a"),
    "lookup_many": (lambda ctx: ctx.lookup_many(["a"]), None),
    "lookup_many of none": (lambda ctx: ctx.lookup_many([]), None),
    "status": (lambda ctx: ctx.status(), None),
    "quiesce": (lambda ctx: ctx.quiesce(), None),
}


def told(error: BaseException | None) -> tuple[str | None, str, bool]:
    assert isinstance(error, ContextClosedError)
    assert error.completion is CompletionStatus.NO
    return error.name, str(error), error.safe_to_retry


def expected(name: str | None) -> tuple[str | None, str, bool]:
    said = "the context is closed; open a new one"
    return name, f"{name!r}: {said}" if name else said, True


@pytest.mark.parametrize("what", OPERATIONS)
def test_every_operation_of_a_closed_context(node: Node, what: str) -> None:
    ask, name = OPERATIONS[what]
    over_network, in_process = HAContext(node.url), node.context()
    contexts: list[Any] = []
    for ctx in (over_network, in_process):
        # A subcontext is closed by itself, or with the context that was opened.
        contexts += [ctx, ctx.create_subcontext(f"sub{len(contexts)}"), ctx.create_subcontext(f"own{len(contexts)}")]
        contexts[-1].close()
        ctx.close()
    for ctx in contexts:
        with pytest.raises(ContextClosedError) as caught:
            ask(ctx)
        assert told(caught.value) == expected(name)
        with pytest.raises(ContextClosedError) as caught:
            ctx.__enter__()
        assert told(caught.value) == expected(None)
        assert "closed" in repr(ctx)


@pytest.mark.parametrize("what", OPERATIONS)
def test_the_asyncio_twin(node: Node, what: str) -> None:
    ask, name = OPERATIONS[what]

    async def main() -> None:
        ctx = aio.HAContext(node.url)
        sub = await ctx.create_subcontext("sub")
        await ctx.aclose()
        for closed in (ctx, sub):
            with pytest.raises(ContextClosedError) as caught:
                await ask(closed)
            assert told(caught.value) == expected(name)
            with pytest.raises(ContextClosedError) as caught:
                await closed.__aenter__()
            assert told(caught.value) == expected(None)

    asyncio.run(main())


@pytest.mark.parametrize("in_process", [False, True])
def test_a_wait_that_a_close_breaks_off_is_not_answered(node: Node, in_process: bool) -> None:
    ctx = node.context() if in_process else HAContext(node.url)
    timer = threading.Timer(0.2, ctx.close)
    timer.start()
    with pytest.raises(ContextClosedError) as caught:
        ctx.wait_for("a", timeout=60)
    timer.join()
    assert (caught.value.name, caught.value.completion) == ("a", CompletionStatus.MAYBE)
    assert caught.value.safe_to_retry


@pytest.mark.asyncio
async def test_nor_is_one_of_the_asyncio_twin(node: Node) -> None:
    ctx = aio.HAContext(node.url)
    waiting = ctx.wait_for("a", timeout=60)
    await ctx.bind("b", 1)
    await asyncio.sleep(0.1)  # so that it was asked for
    await ctx.aclose()
    with pytest.raises(ContextClosedError) as caught:
        await waiting
    assert (caught.value.name, caught.value.completion) == ("a", CompletionStatus.MAYBE)
    assert caught.value.safe_to_retry
