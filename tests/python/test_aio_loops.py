"""Event loops come and go: many of them, closed ones, in threads, in forked children, and at the process's end."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hanaming import Node, OperationNotSupportedError, aio
from waiting import until

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
try:
    import uvloop
except ImportError:
    pass
else:
    LOOPS["uvloop"] = uvloop.new_event_loop


@pytest.fixture(params=list(LOOPS))
def new_loop(request: pytest.FixtureRequest) -> Callable[[], asyncio.AbstractEventLoop]:
    return LOOPS[request.param]


@pytest.fixture
def bound(node: Node) -> Node:
    node.local.bind("a", 1)
    return node


def run(new_loop: Callable[[], asyncio.AbstractEventLoop], main: Any) -> Any:
    """Like `asyncio.run`, on a loop of this kind."""
    loop = new_loop()
    try:
        return loop.run_until_complete(main)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def descriptors() -> int:
    """How many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def python(program: str, *arguments: str) -> str:
    """Runs a program in a process of its own; it must print nothing on standard error. Gives what it prints."""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    noise = [line for line in done.stderr.splitlines() if "Executing <" not in line]
    assert (noise, done.returncode) == ([], 0)
    return done.stdout.strip()


def test_one_context_on_many_loops_in_turn(bound: Node, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    ctx = aio.HAContext(bound.url)

    async def use() -> list[Any]:
        return await asyncio.gather(*(ctx.lookup("a") for _ in range(20)))

    for _ in range(5):
        assert run(new_loop, use()) == [1] * 20


def test_a_closed_loop_gives_its_sockets_back(bound: Node, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    ctx = aio.HAContext(bound.url)

    async def use() -> None:
        await ctx.lookup("a")

    run(new_loop, use())
    run(new_loop, use())
    before = descriptors()
    for _ in range(20):
        run(new_loop, use())
    gc.collect()
    # The node closes its side a moment later.
    until(lambda: descriptors() <= before + 2, "the sockets are closed")


def test_contexts_that_nobody_closes_give_their_sockets_back(
    bound: Node, new_loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def main() -> None:
        await aio.HAContext(bound.url).lookup("a")
        before = descriptors()
        for _ in range(20):
            await aio.HAContext(bound.url).lookup("a")
        gc.collect()
        await asyncio.sleep(0.01)
        until(lambda: descriptors() <= before + 4, "the sockets are closed")

    run(new_loop, main())


def test_threads_with_a_loop_each(bound: Node, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    ctx = aio.HAContext(bound.url)
    results: list[Any] = []

    async def use() -> None:
        for _ in range(20):
            results.extend(await asyncio.gather(*(ctx.lookup("a") for _ in range(10))))

    threads = [threading.Thread(target=run, args=(new_loop, use())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [1] * 1200


def test_closing_reaches_every_loop(bound: Node) -> None:
    ctx = aio.HAContext(bound.url)
    opened, closing = threading.Barrier(2), threading.Event()
    outcome: list[str] = []

    async def other() -> None:
        await ctx.lookup("a")
        waiting = ctx.wait_for("never", timeout=30)
        opened.wait(10)
        try:
            await waiting
        except Exception as error:  # noqa: BLE001
            outcome.append(type(error).__name__)

    thread = threading.Thread(target=asyncio.run, args=(other(),))
    thread.start()

    async def main() -> None:
        await ctx.lookup("a")
        opened.wait(10)
        await ctx.aclose()

    asyncio.run(main())
    thread.join(10)
    assert outcome == ["ContextClosedError"]
    assert not closing.is_set()


def test_no_running_loop_is_said_clearly(bound: Node) -> None:
    ctx = aio.HAContext(bound.url)
    with pytest.raises(RuntimeError, match="no running event loop"):
        ctx.lookup("a")
    assert ctx.explain() == []
    repr(ctx)


def test_a_loop_that_cannot_watch_is_refused(bound: Node) -> None:
    class Proactor(asyncio.SelectorEventLoop):
        def add_reader(self, *_: Any) -> None:  # type: ignore[override]
            raise NotImplementedError

    async def use() -> None:
        with pytest.raises(OperationNotSupportedError, match="add_reader"):
            await aio.HAContext(bound.url).lookup("a")

    run(Proactor, use())


def test_a_forked_child_has_sockets_of_its_own(bound: Node) -> None:
    ctx = aio.HAContext(bound.url)

    async def use(count: int) -> int:
        return sum(await asyncio.gather(*(ctx.lookup("a") for _ in range(count))))

    async def parent() -> None:
        assert await use(10) == 10
        pending = [asyncio.ensure_future(use(20)) for _ in range(5)]
        child = os.fork()
        if child == 0:
            code = 1
            try:
                # The parent's loop is of no use here: a thread runs one of the child's own.
                results: list[int] = []
                thread = threading.Thread(target=lambda: results.append(asyncio.run(use(50))))
                thread.start()
                thread.join(20)
                code = 0 if results == [50] else 2
            finally:
                os._exit(code)
        assert [await one for one in pending] == [20] * 5
        assert await use(10) == 10
        ended.append(child)

    ended: list[int] = []
    asyncio.run(parent())
    _, status = os.waitpid(ended[0], 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_what_a_fork_leaves_behind_is_not_used(bound: Node) -> None:
    program = """
        import asyncio, contextlib, os, sys
        from hanaming import _native, aio

        def sockets():
            count = 0
            for fd in os.listdir("/proc/self/fd"):
                # One of them was open for the listing alone.
                with contextlib.suppress(FileNotFoundError):
                    count += os.readlink(f"/proc/self/fd/{fd}").startswith("socket:")
            return count

        async def main():
            ctx = aio.HAContext(sys.argv[1])
            await ctx.lookup("a")
            before = sockets()
            await ctx.lookup("a")
            assert sockets() == before
            # As in a child: what was there is the parent's.
            _native._after_fork()
            await ctx.lookup("a")
            print(sockets() - before)

        asyncio.run(main())
    """
    assert python(program, bound.url) == "1"


def test_anyio(bound: Node) -> None:
    anyio = pytest.importorskip("anyio")

    async def main() -> None:
        async with aio.HAContext(bound.url) as ctx:
            found: list[Any] = []

            async def one() -> None:
                found.append(await ctx.lookup("a"))

            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(one)
            assert found == [1] * 20
            with anyio.move_on_after(0.05) as scope:
                await ctx.wait_for("never", timeout=10)
            assert scope.cancelled_caught

    anyio.run(main, backend="asyncio")


PENDING = """
    import asyncio, sys
    from hanaming import aio

    async def main():
        ctx = aio.HAContext(sys.argv[1])
        await ctx.lookup("a")
        waiting = [ctx.wait_for("never", timeout=30) for _ in range(50)]
        tasks = [asyncio.ensure_future(future) for future in waiting[:25]]
        [ctx.lookup("a") for _ in range(50)]
        nobody = aio.HAContext("hn://127.0.0.1:1")
        failing = nobody.wait_for("a", timeout=30)
        if sys.argv[2] == "exit":
            sys.exit(0)
        if sys.argv[2] == "turn":
            await asyncio.sleep(0.01)
        print("done")

    if sys.argv[3] == "uvloop":
        import uvloop
        uvloop.run(main())
    else:
        asyncio.run(main())
"""


@pytest.mark.parametrize("kind", list(LOOPS))
@pytest.mark.parametrize("end", ["return", "turn", "exit"])
def test_a_process_that_exits_with_calls_pending_prints_nothing(bound: Node, kind: str, end: str) -> None:
    for _ in range(5):
        assert python(PENDING, bound.url, end, kind) == ("" if end == "exit" else "done")


def test_a_process_that_never_ran_a_loop_to_its_end(bound: Node) -> None:
    program = """
        import asyncio, sys
        from hanaming import aio

        ctx = aio.HAContext(sys.argv[1])
        loop = asyncio.new_event_loop()

        async def use():
            return await ctx.lookup("a")

        print(loop.run_until_complete(use()))
        loop.close()
        loop = asyncio.new_event_loop()
        print(loop.run_until_complete(use()))
        loop.close()
    """
    assert python(program, bound.url) == "1\n1"
