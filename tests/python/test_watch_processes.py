"""Watches and what happens to processes: kill -9 of the node watched, Ctrl-C, fork, exit."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest

from cli_support import HANAMING, LIMIT, cluster, environment, run, serving
from hanaming import Event, HAContext, Node
from running import run as run_program
from running import start


def test_the_node_watched_is_killed() -> None:
    with cluster(3) as nodes, HAContext([node.url for node in nodes]) as ctx, ctx.watch() as events:
        ctx.bind("a", 0)
        assert next(events).kind == "added"
        for number, node in enumerate(nodes[:2], 1):
            node.signal(signal.SIGKILL)
            ctx.rebind("a", number, timeout=20)
            event: Event = next(events)
            assert (event.kind, event.old and event.old.value, event.new and event.new.value) == (
                "changed",
                number - 1,
                number,
            )


def test_the_node_watched_is_frozen() -> None:
    with cluster(2) as nodes, HAContext([node.url for node in nodes]) as ctx, ctx.watch() as events:
        ctx.bind("a", 0)
        next(events)
        # Whichever is watched: both are frozen, one after the other.
        for number, node in enumerate(nodes, 1):
            node.stop()
            began = time.monotonic()
            ctx.rebind("a", number, timeout=20)
            # A change that was sent twice is one, and may be told twice.
            told = next(event.new for event in events if event.new is not None and event.new.value != number - 1)
            assert told.value == number
            assert time.monotonic() - began < 10
            node.signal(signal.SIGCONT)


# Invariant 24.
@pytest.mark.parametrize("how", ["next(watch)", "sys.exit(0)", "raise SystemExit(0)"])
def test_a_process_that_exits_with_a_watch_prints_nothing(node: Node, how: str) -> None:
    done = run_program(
        """
        import sys, threading
        from hanaming import HAContext
        ctx = HAContext(sys.argv[1])
        watch = ctx.watch()
        threading.Thread(target=lambda: [None for _ in watch], daemon=True).start()
        waiting = ctx.watch()
        if "exit" in sys.argv[2].lower():
            raise SystemExit(0)
        """,
        node.url,
        how,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_event_loop_that_ends_with_a_watch_prints_nothing(node: Node) -> None:
    done = run_program(
        """
        import asyncio, sys
        from hanaming import aio

        async def main():
            ctx = aio.HAContext(sys.argv[1])
            watch = ctx.watch()
            listening = asyncio.ensure_future(watch.__anext__())
            await asyncio.sleep(0.1)
            await ctx.aclose()
            try:
                await listening
            except Exception as error:
                print(type(error).__name__)

        asyncio.run(main())
        """,
        node.url,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ContextClosedError\n", "")


def test_a_fork(node: Node) -> None:
    done = run_program(
        """
        import os, signal, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from hanaming import ContextClosedError, HAContext
        ctx = HAContext(sys.argv[1])
        watch = ctx.watch()
        ctx.bind("a", 1)
        assert next(watch).name == "a"
        for _ in range(5):
            pid = os.fork()
            if pid == 0:
                signal.alarm(20)
                try:
                    next(watch)
                except ContextClosedError:
                    pass
                else:
                    os._exit(1)
                watch.close()
                with ctx.watch() as own:
                    assert next(own).name == "a"
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        ctx.rebind("a", 2)
        assert next(watch).kind == "changed"
        """,
        node.url,
    )
    assert (done.returncode, done.stderr) == (0, ""), done


def test_ctrl_c_ends_waiting_for_an_event(node: Node) -> None:
    program = """
        import sys, time
        from hanaming import HAContext
        watch = HAContext(sys.argv[1]).watch()
        print("listening", flush=True)
        try:
            next(watch)
        except KeyboardInterrupt:
            print("interrupted", time.time(), flush=True)
    """
    with start(program, node.url) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "listening\n"
        time.sleep(0.3)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        word, when = process.stdout.readline().split()
        assert word == "interrupted"
        assert float(when) - sent < 1.0
        assert process.wait(10) == 0
        assert process.stderr.read() == ""


def test_the_command_prints_each_change_until_it_is_interrupted() -> None:
    with serving() as node, HAContext(node.url) as ctx:
        ctx.bind("a", 1)
        ctx.create_subcontext("c")
        for arguments, lines in (
            (
                [],
                [
                    "added     a  1",
                    "added     c  (context)",
                    "changed   a  1 → 2",
                    "renamed   a → b  2",
                    "removed   b  2",
                ],
            ),
            (["--json"], None),
        ):
            ctx.unbind("b")
            ctx.rebind("a", 1)
            process = subprocess.Popen(
                [*HANAMING, "watch", *arguments, "--provider", node.url],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment(),
            )
            with process:
                assert process.stdout is not None
                assert process.stderr is not None
                heard = [process.stdout.readline().rstrip("\n") for _ in range(2)]
                ctx.rebind("a", 2)
                heard.append(process.stdout.readline().rstrip("\n"))
                ctx.rename("a", "b")
                heard.append(process.stdout.readline().rstrip("\n"))
                ctx.unbind("b")
                heard.append(process.stdout.readline().rstrip("\n"))
                process.send_signal(signal.SIGINT)
                assert process.wait(LIMIT) == 0
                assert process.stderr.read() == ""
            if lines is not None:
                assert heard == lines
            else:
                documents = [json.loads(line) for line in heard]
                assert [document["kind"] for document in documents] == [
                    "added",
                    "added",
                    "changed",
                    "renamed",
                    "removed",
                ]
                assert documents[3]["old"]["name"] == "a"
                assert documents[3]["new"] == {
                    "name": "b", "kind": "value", "class_name": "int", "node": documents[3]["new"]["node"], "value": 2
                }  # fmt: skip


def test_the_command_says_where_nobody_is() -> None:
    done = run("watch", provider="hn://127.0.0.1:1")
    assert (done.status, done.out) == (3, "")
