"""Blocking calls, one in flight and from 16 threads, beside the floor and redis-py."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

from harness import Case, all_together, one_by_one, show
from harness import measure as run_rounds
from servers import NodeProcess

import hanaming

MESSAGE = b"x" * 120
VALUE = "v" * 100
THREADS = 16


def echo_call(port: int) -> tuple[socket.socket, Callable[[], object]]:
    """A round trip of 120 bytes on a bare blocking socket."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    send, receive = connection.sendall, connection.recv

    def call() -> None:
        send(MESSAGE)
        got = len(receive(4096))
        while got < len(MESSAGE):
            got += len(receive(4096))

    return connection, call


def from_threads(make_call: Callable[[], Callable[[], object]]) -> Callable[[int], object]:
    """Runs n calls split over threads, each with a call of its own."""
    calls = [make_call() for _ in range(THREADS)]

    def run(count: int) -> None:
        def work(call: Callable[[], object]) -> None:
            for _ in range(count // THREADS):
                call()

        threads = [threading.Thread(target=work, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return run


def measure(echo_port: int, redis_port: int | None, cluster: list[NodeProcess], rounds: int) -> None:
    with contextlib.ExitStack() as stack:
        connection, echo = echo_call(echo_port)
        stack.enter_context(connection)
        first, second = cluster[0], cluster[1]
        with hanaming.Context(f"hn://{first.address}") as local:
            local.rebind("bench/value", VALUE, create_parents=True)
        # One node in use, so that what is measured is the call and not the policy.
        own = stack.enter_context(hanaming.HAContext(f"hn://{first.address}", follow_views=False))
        peer = stack.enter_context(hanaming.HAContext(f"hn://{second.address}", follow_views=False))
        alone = stack.enter_context(lonely_node())
        single = stack.enter_context(hanaming.HAContext(f"hn://{alone.address}", follow_views=False))
        assert peer.resolve("bench/value").source == "peer"

        latency = [
            Case("floor", one_by_one(echo), 3000),
            Case("lookup", one_by_one(lambda: own.lookup("bench/value")), 3000, "floor", "<= 1.25"),
            Case("lookup, by a peer", one_by_one(lambda: peer.lookup("bench/value")), 1500, "floor", "<= 3"),
            Case("rebind, one node", one_by_one(lambda: single.rebind("bench", VALUE)), 1500, "floor", "<= 1.5"),
        ]
        rates = [
            Case("16 threads: lookup", all_together(from_threads(lambda: lambda: own.lookup("bench/value"))), 16_000)
        ]
        if redis_port is not None:
            import redis

            client = redis.Redis(port=redis_port)
            client.set("bench/value", VALUE)
            stack.callback(client.close)
            latency.insert(1, Case("redis-py get", one_by_one(lambda: client.get("bench/value")), 3000, "floor"))
            rates.insert(
                0,
                Case(
                    "16 threads: redis-py",
                    all_together(from_threads(lambda: lambda: client.get("bench/value"))),
                    16_000,
                ),
            )
            latency[2].base = "floor"
            rates[1].base, rates[1].kind = "16 threads: redis-py", "throughput"
            latency.append(
                Case(
                    "lookup, as ops/s",
                    one_by_one(lambda: own.lookup("bench/value")),
                    3000,
                    "redis-py get",
                    ">= 1.8",
                    "throughput",
                ),
            )
        run_rounds(latency, rounds)
        show("sync, one in flight", latency)
        run_rounds(rates, rounds)
        show("sync, 16 threads", rates)
        many(own, redis_port, stack, rounds)


def many(own: hanaming.HAContext, redis_port: int | None, stack: contextlib.ExitStack, rounds: int) -> None:
    """1000 names in one call."""
    names = [f"bench/many/{number}" for number in range(1000)]
    target = str(own.targets[0])
    with hanaming.Context(f"hn://{target}") as local:
        for name in names:
            local.rebind(name, VALUE, create_parents=True)
    assert len(own.lookup_many(names)) == len(names)
    cases = [Case("lookup_many(1000)", one_by_one(lambda: own.lookup_many(names)), 100, scale=1000)]
    if redis_port is not None:
        import redis

        client = redis.Redis(port=redis_port)
        stack.callback(client.close)
        client.mset(dict.fromkeys(names, VALUE))
        cases.insert(0, Case("redis-py mget(1000)", one_by_one(lambda: client.mget(names)), 100, scale=1000))
        cases[1].base, cases[1].kind, cases[1].goal = "redis-py mget(1000)", "throughput", ">= 2"
    run_rounds(cases, rounds)
    show("1000 names in one call (ops/s counts names)", cases)


@contextlib.contextmanager
def lonely_node() -> Iterator[NodeProcess]:
    """A cluster of one, which takes writes into its cluster tree."""
    node = NodeProcess("alone")
    try:
        yield node
    finally:
        node.stop()
