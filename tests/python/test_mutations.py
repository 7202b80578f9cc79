"""A mutation that may have run is raised and never sent twice; one that can't have run goes to another server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest

from cli_support import deaf_server, without_replies
from hanaming import Attempt, CompletionStatus, Context, HAContext, NamingError, Node, aio

Bind = Callable[[list[str], str], list[Attempt]]


def bound_by_a_thread(providers: list[str], name: str) -> list[Attempt]:
    """Binds a name through a context of its own, and gives the attempts."""
    with HAContext(providers, follow_views=False, cluster="default") as ctx:
        ctx.bind(name, 1)
        return ctx.explain()


def bound_on_a_loop(providers: list[str], name: str) -> list[Attempt]:
    async def main() -> list[Attempt]:
        async with aio.HAContext(providers, follow_views=False, cluster="default") as ctx:
            await ctx.bind(name, 1)
            return ctx.explain()

    return asyncio.run(main())


TWINS = pytest.mark.parametrize("bind", [bound_by_a_thread, bound_on_a_loop])


@TWINS
@pytest.mark.parametrize("how", ["silent", "of another cluster"])
def test_a_server_that_never_welcomes_has_not_run_it(node: Node, bind: Bind, how: str) -> None:
    with contextlib.ExitStack() as stack:
        if how == "silent":
            first = stack.enter_context(deaf_server())
        else:
            first = stack.enter_context(Node("elsewhere", cluster="other")).url
        # Each context begins at random: before long one has asked the first server first.
        for number in range(40):
            attempts = bind([first, node.url], f"x{number}")
            assert node.context().lookup(f"x{number}") == 1
            if attempts[0].target == first.removeprefix("hn://"):
                break
        told = [(attempt.phase, attempt.completion) for attempt in attempts]
        assert told == [("handshake", CompletionStatus.NO), ("answer", CompletionStatus.YES)]


def lost_by_a_thread(provider: str, change: Callable[[Any], Any]) -> NamingError:
    with Context(provider, timeout=5) as ctx, pytest.raises(NamingError) as caught:
        change(ctx)
    return caught.value


def lost_on_a_loop(provider: str, change: Callable[[Any], Any]) -> NamingError:
    async def main() -> NamingError:
        async with aio.Context(provider, timeout=5) as ctx:
            with pytest.raises(NamingError) as caught:
                await change(ctx)
            return caught.value

    return asyncio.run(main())


CHANGES: dict[str, Callable[[Any], Any]] = {
    "bind": lambda ctx: ctx.bind("fresh", 1),
    "rebind": lambda ctx: ctx.rebind("fresh", 1),
    "unbind": lambda ctx: ctx.unbind("old"),
    "rename": lambda ctx: ctx.rename("old", "new"),
    "create_subcontext": lambda ctx: ctx.create_subcontext("fresh"),
    "destroy_subcontext": lambda ctx: ctx.destroy_subcontext("empty"),
}


# Invariant 12.
@pytest.mark.parametrize("lose", [lost_by_a_thread, lost_on_a_loop])
@pytest.mark.parametrize("what", CHANGES)
def test_a_change_whose_reply_is_lost_is_raised_and_never_sent_twice(
    node: Node, what: str, lose: Callable[[str, Callable[[Any], Any]], NamingError]
) -> None:
    node.local.bind("old", 1)
    node.local.create_subcontext("empty")
    with Context(node.url) as watching:
        before = watching.status().requests
        with without_replies(node.address) as provider:
            error = lose(provider, CHANGES[what])
        assert error.completion is CompletionStatus.MAYBE
        assert not error.safe_to_retry
        assert [(attempt.phase, attempt.completion) for attempt in error.attempts] == [("wait", CompletionStatus.MAYBE)]
        assert "may have run" in str(error)
        # The first status, the change once, and this status.
        assert watching.status().requests == before + 2
    # It did run, as only its reply was lost.
    assert (
        sorted(node.local)
        == {
            "bind": ["empty", "fresh", "old"],
            "rebind": ["empty", "fresh", "old"],
            "unbind": ["empty"],
            "rename": ["empty", "new"],
            "create_subcontext": ["empty", "fresh", "old"],
            "destroy_subcontext": ["old"],
        }[what]
    )
