"""Contexts may be used by any number of threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from hanaming import ContextClosedError, HAContext, Node
from places import Place
from waiting import until


def test_many_threads_share_a_context(place: Place) -> None:
    ctx = place.ctx
    for number in range(50):
        ctx.bind(f"n{number}", number)

    def work(thread: int) -> int:
        total = 0
        for number in range(200):
            name = f"n{(number + thread) % 50}"
            total += ctx.lookup(name)
            assert len(ctx.explain()) == 1
        return total

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, range(16))) == [sum(range(50)) * 4] * 16


def test_explain_is_each_thread_s_own(node: Node) -> None:
    node.local.bind("a", 1)
    with HAContext(node.url) as ctx:
        ctx.lookup("a")
        seen: list[Any] = []
        thread = threading.Thread(target=lambda: seen.append(ctx.explain()))
        thread.start()
        thread.join()
        assert seen == [[]]
        assert len(ctx.explain()) == 1


def test_explain_is_each_context_s_own(node: Node) -> None:
    node.local.bind("a", 1)
    node.local.bind("sub/b", 1, create_parents=True)
    with HAContext(node.url) as first, HAContext(node.url) as second:
        first.lookup("a")
        second.get("missing")
        node.local.lookup("a")
        node.local.lookup("a")
        assert first.explain()[0].outcome == "found"
        assert second.explain()[0].outcome == "no such name"
        assert node.local.explain()[0].target == node.address
        sub = first["sub"]
        sub.lookup("b")
        assert len(sub.explain()) == 1


def test_writers_and_readers_of_a_hot_name(node: Node) -> None:
    """What a reader sees never goes back, and a writer sees what it wrote."""
    local, ha = node.local, node.context()
    local.bind("a", 0)
    over = threading.Event()
    wrong: list[tuple[int, int]] = []

    def read() -> None:
        before = 0
        while not over.is_set():
            for ctx in (local, ha):
                now = ctx.lookup("a")
                if now < before:
                    wrong.append((before, now))
                before = now

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(1, 2000):
        local.rebind("a", number)
        assert local.lookup("a") == number
        assert ha.lookup("a") == number
    over.set()
    for reader in readers:
        reader.join()
    assert wrong == []


def test_what_hides_a_hot_name_is_seen_at_once(node: Node) -> None:
    local, ha = node.local, node.context()
    local.bind("a", "local")
    assert [ha.lookup("a") for _ in range(3)] == ["local"] * 3
    ha.bind("a", "cluster")
    assert [ha.lookup("a"), local.lookup("a")] == ["cluster", "local"]
    ha.unbind("a")
    assert ha.lookup("a") == "local"
    local.unbind("a")
    assert ha.get("a") is None
    assert "a" not in local


def test_a_hot_name_goes_with_the_node(node: Node) -> None:
    local, ha = node.local, node.context()
    local.bind("a", 1)
    assert [ctx.lookup("a") for ctx in (local, ha, local, ha)] == [1] * 4
    node.close()
    for ctx in (local, ha):
        with pytest.raises(ContextClosedError):
            ctx.lookup("a")


def test_closing_ends_the_calls_of_other_threads(place: Place) -> None:
    outcome: list[BaseException] = []

    def wait() -> None:
        try:
            place.ctx.wait_for("missing", timeout=30)
        except BaseException as error:  # noqa: BLE001 - whatever it is, it's looked at
            outcome.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    until(thread.is_alive, "the thread runs")
    place.ctx.close()
    thread.join(5)
    assert [type(error) for error in outcome] == [ContextClosedError]
