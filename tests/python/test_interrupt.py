"""Ctrl-C ends a blocking call of the main thread within 150 ms, and leaves other threads alone."""

from __future__ import annotations

import signal
import socket
import statistics
import time
from collections.abc import Callable, Iterator

import pytest

from hanaming import Node
from running import start

WAITING = """
    import sys, threading, time
    from hanaming import Context, HAContext, Node

    kind, where = sys.argv[1:]
    if kind == "wait_for":
        call = lambda: HAContext(where).wait_for("missing", timeout=30)
    elif kind == "lookup":
        call = lambda: HAContext(where, timeout=30, attempt_timeout=30).lookup("a")
    elif kind == "bind":
        call = lambda: Context(where, timeout=30).bind("a", 1, timeout=30)
    elif kind == "start":
        call = lambda: Node("n1", seeds=[where.removeprefix("hn://")])
    elif kind == "in process":
        node = Node("n1")
        call = lambda: node.context().wait_for("missing", timeout=30)
    print("calling", flush=True)
    try:
        call()
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)
"""


@pytest.fixture
def mute() -> Iterator[str]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"hn://127.0.0.1:{server.getsockname()[1]}"


def interrupted_after(kind: str, where: str) -> float:
    """How long the call went on after the signal, in seconds."""
    with start(WAITING, kind, where) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "calling\n"
        time.sleep(0.3)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        words = process.stdout.readline().split()
        assert words, process.stderr.read()
        assert words[0] == "interrupted"
        assert process.wait(10) == 0
        assert process.stderr.read() == ""
    return float(words[1]) - sent


@pytest.mark.parametrize("kind", ["wait_for", "lookup", "bind", "start", "in process"])
def test_the_main_thread_is_interrupted(kind: str, mute: str, node: Node) -> None:
    where = node.url if kind == "wait_for" else mute
    # The best of three: how long a busy machine takes to schedule a process is none of ours.
    assert min(interrupted_after(kind, where) for _ in range(3)) < 0.15


def test_a_handler_that_does_not_raise_lets_the_call_go_on(mute: str) -> None:
    program = """
    import signal, sys, time
    from hanaming import HAContext, ServiceUnavailableError
    heard = []
    signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
    print("calling", flush=True)
    began = time.monotonic()
    try:
        HAContext(sys.argv[1], timeout=1.0, attempt_timeout=0.9).lookup("a")
    except ServiceUnavailableError:
        print(len(heard), time.monotonic() - began > 0.9, flush=True)
    """
    with start(program, mute) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGUSR1)
        assert process.stdout.readline() == "1 True\n"
        assert process.wait(10) == 0


def test_other_threads_are_left_alone(node: Node) -> None:
    program = """
    import sys, threading, time
    from hanaming import HAContext
    ctx = HAContext(sys.argv[1])
    outcome, finished = [], threading.Event()

    def wait():
        outcome.append(ctx.wait_for("later", timeout=20))
        finished.set()

    threading.Thread(target=wait).start()
    print("calling", flush=True)
    try:
        time.sleep(20)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    finished.wait(20)
    print(outcome, flush=True)
    """
    with start(program, node.url) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        node.local.bind("later", 1)
        assert process.stdout.readline() == "[1]\n"
        assert process.wait(10) == 0


def test_an_interrupted_context_goes_on_working(node: Node, mute: str) -> None:
    program = """
    import sys
    from hanaming import HAContext
    ctx = HAContext(sys.argv[1])
    print("calling", flush=True)
    try:
        ctx.wait_for("missing", timeout=20)
    except KeyboardInterrupt:
        print(ctx.lookup("a"), flush=True)
    """
    node.local.bind("a", 1)
    with start(program, node.url) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "1\n"
        assert process.wait(10) == 0


def test_waiting_costs_no_time_of_the_processor(mute: str) -> None:
    program = """
    import sys, time
    from hanaming import HAContext, ServiceUnavailableError
    try:
        HAContext(sys.argv[1], timeout=1.0, attempt_timeout=0.9).lookup("a")
    except ServiceUnavailableError:
        print(time.process_time())
    """

    def seconds() -> float:
        with start(program, mute) as process:
            assert process.stdout is not None
            return float(process.stdout.readline())

    measured: list[float] = [seconds() for _ in range(3)]
    average: Callable[[list[float]], float] = statistics.median
    assert average(measured) < 0.5
