"""A balancer and its process: import, fork, Ctrl-C, exit."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from hanaming import Node
from line_servers import LineServer
from running import run, start

CHILD = """
    import os, signal, socket, sys, threading, warnings
    warnings.simplefilter("ignore", DeprecationWarning)
    from hanaming import Balancer, ContextClosedError, HAContext

    def ask(target):
        with socket.create_connection((target.host, target.port), timeout=5) as connection:
            connection.sendall(b"call\\n")
            return connection.makefile().readline().split()[1]

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


@pytest.fixture
def servers() -> Iterator[list[LineServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(LineServer()) for _ in range(2)]


def test_importing_the_package_does_not_load_it() -> None:
    done = run(
        """
    import sys
    import hanaming, hanaming.aio
    assert not [name for name in sys.modules if "balanc" in name], sys.modules
    assert "asyncio" in sys.modules
    hanaming.Balancer("10.0.0.1:80")
    assert "hanaming.aio._balancer" not in sys.modules
    """
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_sync_balancer_needs_no_asyncio() -> None:
    done = run(
        """
    import sys
    import hanaming
    balancer = hanaming.Balancer("10.0.0.1:80")
    balancer.call(str)
    assert len(balancer.explain()) == 1
    assert "asyncio" not in sys.modules
    """
    )
    assert (done.returncode, done.stderr) == (0, "")


# Invariant 24.
def test_after_a_fork_it_works_and_what_was_under_way_raises(servers: list[LineServer], node: Node) -> None:
    node.register("orders", servers[0].address)
    done = run(
        CHILD
        + """
    addresses = sys.argv[2:]
    balancer = Balancer(addresses)
    ctx = HAContext(sys.argv[1])
    service = Balancer(ctx.service("orders"))
    assert balancer.call(ask) in addresses
    assert service.call(ask) == addresses[0]
    over = threading.Event()

    def keep_calling():
        while not over.is_set():
            balancer.call(str)

    threads = [threading.Thread(target=keep_calling) for _ in range(2)]
    for thread in threads:
        thread.start()

    def check():
        assert {balancer.call(ask) for _ in range(4)} == set(addresses)
        assert service.call(ask) == addresses[0]
        balancer.close()

    for _ in range(10):
        in_child(check)
    over.set()
    for thread in threads:
        thread.join()

    loop = balancer.attempts()
    with next(loop):
        def another():
            with next(balancer.attempts()) as target:
                assert ask(target) in addresses

        in_child(another)

    for attempt in balancer.attempts():
        pid = os.fork()
        if pid == 0:
            signal.alarm(10)
            try:
                with attempt:
                    os._exit(2)
            except ContextClosedError as error:
                os._exit(0 if "parent process" in str(error) else 3)
        assert os.waitpid(pid, 0)[1] == 0
        with attempt:
            pass
    assert balancer.call(ask) in addresses
    """,
        node.url,
        *(server.address for server in servers),
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_within_a_running_loop_the_sync_one_warns_once() -> None:
    done = run(
        """
    import asyncio, warnings
    import hanaming

    async def main():
        balancer = hanaming.Balancer("10.0.0.1:80")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(3):
                balancer.call(str)
        print([str(one.message) for one in said])

    asyncio.run(main())
    """
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("inside a running event loop holds up all") == 1


def test_ctrl_c_ends_a_wait() -> None:
    process = start(
        """
    import hanaming
    balancer = hanaming.Balancer("no-such-host.invalid:80", timeout=60)
    try:
        print("waiting", flush=True)
        while True:
            try:
                balancer.call(str)
            except hanaming.NamingError:
                pass
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    """
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)


def test_exit_with_calls_pending_prints_nothing(servers: list[LineServer], node: Node) -> None:
    node.register("orders", servers[0].address)
    for how in ("0.01", "raise", "kept"):
        done = run(
            """
    import sys, threading, time
    import hanaming
    how, url, address = sys.argv[1:]
    ctx = hanaming.HAContext(url)
    balancers = [
        hanaming.Balancer("no-such-host.invalid:80", timeout=60), hanaming.Balancer(ctx.service("orders")),
        hanaming.Balancer(ctx.service("nothing"), timeout=60), hanaming.Balancer([address, "127.0.0.1:1"]),
    ]
    entered = threading.Barrier(9)

    def call(number):
        entered.wait()
        while True:
            try:
                balancers[number % 4].call(lambda target: time.sleep(0.001))
            except Exception:
                pass

    for number in range(8):
        threading.Thread(target=call, args=(number,), daemon=True).start()
    entered.wait()
    time.sleep(0.05)
    if how == "raise":
        sys.exit(7)
    if how == "kept":
        sys.kept = [balancers, balancers[3].attempts(), next(balancers[3].attempts())]
        sys.kept.append(sys.kept[2].__enter__())
    """,
            how,
            node.url,
            servers[0].address,
        )
        assert (done.returncode, done.stderr, done.stdout) == (7 if how == "raise" else 0, "", ""), how
