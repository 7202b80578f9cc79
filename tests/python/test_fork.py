"""After a fork a context works or raises at once, and never hangs."""

from __future__ import annotations

from hanaming import Node
from running import run

CHILD = """
    import os, signal, sys, threading, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    from hanaming import Context, ContextClosedError, HAContext, Node

    def in_child(check):
        pid = os.fork()
        if pid == 0:
            signal.alarm(10)  # a hang is a failure
            try:
                check()
            except BaseException as error:
                print("in the child:", repr(error), flush=True)
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        assert status == 0, status
"""


# Invariant 24.
def test_a_context_opens_fresh_sockets(node: Node) -> None:
    node.local.bind("a", 1)
    done = run(
        CHILD
        + """
    ctx = HAContext(sys.argv[1])
    local = Context(sys.argv[1])
    assert (ctx["a"], local["a"]) == (1, 1)

    def check():
        for _ in range(50):
            assert ctx.lookup("a") == 1
            assert local.lookup("a") == 1
        assert ctx.resolve("a").node == "n1"

    for _ in range(5):
        in_child(check)
        assert (ctx["a"], local["a"]) == (1, 1)
    """,
        node.url,
    )
    assert (done.returncode, done.stderr) == (0, ""), done


def test_a_fork_while_other_threads_are_in_calls(node: Node) -> None:
    node.local.bind("a", 1)
    done = run(
        CHILD
        + """
    ctx = HAContext(sys.argv[1])
    over = threading.Event()

    def keep_calling():
        while not over.is_set():
            ctx.lookup("a")

    threads = [threading.Thread(target=keep_calling) for _ in range(4)]
    for thread in threads:
        thread.start()

    def check():
        assert ctx.lookup("a") == 1
        ctx.close()

    for _ in range(20):
        in_child(check)
    over.set()
    for thread in threads:
        thread.join()
    """,
        node.url,
    )
    assert (done.returncode, done.stderr) == (0, ""), done


def test_a_node_stays_with_its_process() -> None:
    done = run(
        CHILD
        + """
    node = Node("n1")
    node.local.bind("a", 1)
    local, ha = node.local, node.context()
    assert (local["a"], ha["a"]) == (1, 1)

    def check():
        for use in (
            lambda: node.local, node.context, lambda: node.view, node.check, lambda: node.register("b", 1), node.quiesce,
            lambda: local.lookup("a"), lambda: ha.lookup("a"), lambda: ha.lookup("b"), lambda: local.bind("c", 1),
        ):
            try:
                use()
            except ContextClosedError as error:
                assert "parent" in str(error), error
            else:
                raise AssertionError(use)
        node.close()
        with Node("n2", seeds=[sys.argv[1]] if len(sys.argv) > 1 else ()) as own:
            own.local.bind("a", 2)
            assert own.context()["a"] == 2

    for _ in range(3):
        in_child(check)
    assert (local["a"], ha["a"]) == (1, 1)
    node.close()
    """
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", ""), done


def test_the_log_works_in_a_child() -> None:
    done = run(
        CHILD
        + """
    import logging
    from hanaming import log
    log.enable(logging.DEBUG)

    def check():
        log.enable(logging.DEBUG)
        with Node("n2") as node:
            node.local.bind("a", 1)

    in_child(check)
    """
    )
    assert (done.returncode, done.stderr) == (0, ""), done
