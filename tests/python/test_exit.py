"""A process that exits with calls pending prints nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from hanaming import Node
from running import run

PENDING = """
    import sys, threading, time
    from hanaming import Context, HAContext, Node, log

    mute, live, how = sys.argv[1:]
    node = Node("mine")
    contexts = [HAContext(mute, timeout=30, attempt_timeout=30), HAContext(live), Context(mute), node.context()]
    if how == "logged":
        import logging
        logging.basicConfig(stream=sys.stdout)
        log.enable(logging.DEBUG)
    entered = threading.Barrier(9)

    def call(number):
        ctx = contexts[number % 4]
        entered.wait()
        while True:
            try:
                if number < 4:
                    ctx.wait_for("missing", timeout=30)
                else:
                    ctx.get("missing", timeout=30)
            except Exception:
                pass

    for number in range(8):
        threading.Thread(target=call, args=(number,), daemon=True).start()
    entered.wait()
    time.sleep(float(how) if how[0].isdigit() else 0.02)
    if how == "raise":
        sys.exit(7)
"""


@pytest.fixture
def mute() -> Iterator[str]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as server:
        yield f"hn://127.0.0.1:{server.getsockname()[1]}"


# Invariant 24.
def test_sixty_short_processes(mute: str, node: Node) -> None:
    ways = [f"{0.001 * number:.3f}" for number in range(40)] + ["raise"] * 10 + ["logged"] * 10
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda how: (how, run(PENDING, mute, node.url, how)), ways))
    assert [(how, one.returncode, one.stderr) for how, one in done] == [
        (how, 7 if how == "raise" else 0, "") for how in ways
    ]


def test_objects_that_outlive_everything(node: Node) -> None:
    done = run(
        """
    import sys
    import hanaming
    node = hanaming.Node("mine")
    sys.kept = [node, node.local, node.context(), hanaming.HAContext(sys.argv[1]), node.register("a", 1)]
    sys.kept[3].get("a")
    class Late:
        def __del__(self):
            sys.kept[3].get("a")
    keep = Late()
    """,
        node.url,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_calls_of_exit_handlers_work(node: Node) -> None:
    node.local.bind("a", 1)
    done = run(
        """
    import atexit, sys
    ctx = None
    atexit.register(lambda: print(ctx.lookup("a")))
    import hanaming
    ctx = hanaming.HAContext(sys.argv[1])
    atexit.register(lambda: print(ctx.lookup("a")))
    """,
        node.url,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n1\n", "")
