"""`watch`: what is bound, then each change, on both faces, over the network and in process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import pytest

import hanaming
from aio_places import Portal
from hanaming import Binding, Context, ContextClosedError, Event, HAContext, Name, Node, Reference, aio


class Ears:
    """Listens to a watch of either face, in threads, so that a test that waits in vain fails."""

    def __init__(self, watch: Any, portal: Portal | None) -> None:
        self.watch = watch
        self._portal = portal
        self._pool = ThreadPoolExecutor(4)

    def next(self) -> Event:
        """The next event; `StopIteration` as `None`."""
        event = self._pool.submit(self._next).result(timeout=20)
        assert isinstance(event, Event), event
        return event

    def _next(self) -> Any:
        try:
            return self._portal.call(self.watch.__anext__) if self._portal else next(self.watch)
        except (StopIteration, StopAsyncIteration):
            return None

    def waiting(self) -> Any:
        """A future of what comes next."""
        return self._pool.submit(self._next)

    def heard(self, count: int) -> list[str]:
        """The next events, as `kind name old→new`."""
        return [told(self.next()) for _ in range(count)]

    def close(self) -> None:
        if self._portal:
            self._portal.call(self.watch.aclose)
        else:
            self.watch.close()


def told(event: Event) -> str:
    def value(side: Binding | None) -> str:
        return "-" if side is None else "context" if side.kind == "context" else repr(side.value)

    return f"{event.kind} {event.name} {value(event.old)}→{value(event.new)}"


class Face:
    """One of the two faces."""

    def __init__(self, stack: ExitStack, portal: Portal | None) -> None:
        self._stack = stack
        self._portal = portal

    def _enter(self, ctx: Any) -> Any:
        if self._portal:
            self._stack.callback(lambda: self._portal.call(ctx.aclose) if self._portal else None)
        else:
            self._stack.enter_context(ctx)
        return ctx

    def ha(self, url: str | list[str]) -> Any:
        return self._enter(aio.HAContext(url) if self._portal else HAContext(url))

    def local(self, url: str) -> Any:
        return self._enter(aio.Context(url) if self._portal else Context(url))

    def in_process(self, node: Node) -> Any:
        return self._enter(hanaming._native.aio_context_of(node, local=False) if self._portal else node.context())

    def watch(self, ctx: Any, *args: Any, **options: Any) -> Ears:
        return Ears(ctx.watch(*args, **options), self._portal)

    def call(self, made: Callable[[], Any]) -> Any:
        return self._portal.call(made) if self._portal else made()


@pytest.fixture(params=["sync", "aio"])
def face(request: pytest.FixtureRequest) -> Iterator[Face]:
    with ExitStack() as stack:
        portal = None
        if request.param == "aio":
            portal = Portal()
            stack.callback(portal.close)
        yield Face(stack, portal)


def test_first_what_is_bound_and_then_each_change(face: Face, node: Node) -> None:
    ctx = face.ha(node.url)
    with node.context() as other:
        other.bind("a", 1)
        other.create_subcontext("c")
        ears = face.watch(ctx)
        assert ears.heard(2) == ["added a -→1", "added c -→context"]
        other.rebind("a", 2)
        other.bind("c/b", "x")
        other.rename("a", "d")
        assert ears.heard(3) == ["changed a 1→2", "added c/b -→'x'", "renamed d 2→2"]
        other.unbind("c/b")
        assert ears.heard(1) == ["removed c/b 'x'→-"]
        ears.close()


def test_an_event_is_a_record(face: Face, node: Node) -> None:
    with node.context() as other:
        other.bind("r", Reference("DataSource", [("url", "db")]))
        other.create_subcontext("c")
        other.bind("c/d", 1)
    ears = face.watch(face.ha(node.url))
    events = [ears.next() for _ in range(3)]
    by_name = {event.name: event for event in events}
    reference = by_name["r"].new
    assert reference == Binding("r", "reference", "DataSource", "cluster", "n1", ["cluster"], reference.value)
    context = by_name["c"].new
    assert context is not None
    assert face.call(lambda: context.value.lookup("d")) == 1, "a context is rooted at its name"
    assert repr(by_name["c/d"]) == "<Event added 'c/d': - → 1>"


def test_names_are_those_of_the_context_asked(face: Face, node: Node) -> None:
    with node.context() as other:
        other.bind("a/b/c", 1, create_parents=True)
    ctx = face.ha(node.url)
    below = face.call(lambda: ctx.lookup("a"))
    assert face.watch(below, "b").heard(2) == ["added b -→context", "added b/c -→1"]
    assert face.watch(below).heard(3)[2] == "added b/c -→1"
    assert face.watch(below, Name("b"), scope="one_level").heard(1) == ["added b/c -→1"]
    assert face.watch(below, "b/c", scope="object").heard(1) == ["added b/c -→1"]


def test_what_is_there_may_be_left_out(face: Face, node: Node) -> None:
    with node.context() as other:
        other.bind("a", 1)
        ears = face.watch(face.ha(node.url), initial=False)
        other.rebind("a", 2)
        other.bind("b", 3)
        assert ears.heard(2) == ["changed a 1→2", "added b -→3"]


def test_a_local_context_watches_its_node(face: Face, cluster: Callable[[int], list[Node]]) -> None:
    nodes = cluster(2)
    ears = face.watch(face.local(nodes[0].url))
    nodes[1].local.bind("a", 1)
    nodes[0].context().bind("b", 2)
    nodes[0].local.bind("c", 3)
    event = ears.next()
    assert told(event) == "added c -→3"
    assert event.new is not None
    assert (event.new.source, event.new.node) == ("local", "n1")


def test_in_process(face: Face, node: Node) -> None:
    ears = face.watch(face.in_process(node))
    node.context().bind("a", 1)
    assert ears.heard(1) == ["added a -→1"]
    coming = ears.waiting()
    node.close()
    with pytest.raises(ContextClosedError):
        coming.result(timeout=20)


def test_it_goes_on_through_another_node(face: Face, cluster: Callable[[int], list[Node]]) -> None:
    nodes = cluster(3)
    ctx = face.ha([node.url for node in nodes])
    ears = face.watch(ctx)
    nodes[2].context().bind("a", 1)
    assert ears.heard(1) == ["added a -→1"]
    for number, node in enumerate(nodes[:2]):
        node.close()
        nodes[2].context().rebind("a", 2 + number)
        assert ears.heard(1) == [f"changed a {1 + number}→{2 + number}"]


def test_every_change_is_told_to_who_listens(face: Face, node: Node) -> None:
    ears = face.watch(face.ha(node.url))
    with node.context() as other:
        other.bind("a", 1)
        other.rebind("a", 2)
        other.unbind("a")
    assert ears.heard(3) == ["added a -→1", "changed a 1→2", "removed a 2→-"]


# Invariant 23.
def test_who_listens_slowly_hears_the_last_of_each_name(face: Face, node: Node) -> None:
    ears = face.watch(face.local(node.url))
    for number in range(5000):
        node.local.rebind("a", number)
    node.local.bind("end", 1)
    time.sleep(0.5)
    events = []
    while not events or events[-1].name != "end":
        events.append(ears.next())
    of_a = [event for event in events if event.name == "a"]
    assert of_a[-1].new is not None
    assert of_a[-1].new.value == 4999
    assert len(of_a) < 4000
    for before, after in pairwise(of_a):
        assert after.old == before.new


def test_closing_ends_it_for_whoever_waits(face: Face, node: Node) -> None:
    ears = face.watch(face.ha(node.url))
    coming = ears.waiting()
    time.sleep(0.1)
    ears.close()
    assert coming.result(timeout=20) is None
    assert ears.waiting().result(timeout=20) is None
    ears.close()


def test_a_closed_context_ends_its_watches(face: Face, node: Node) -> None:
    ctx = face.ha(node.url)
    ears = face.watch(ctx)
    coming = ears.waiting()
    time.sleep(0.1)
    face.call(lambda: ctx.aclose() if isinstance(ctx, aio.Context) else ctx.close())
    with pytest.raises(ContextClosedError):
        coming.result(timeout=20)
    with pytest.raises(ContextClosedError):
        ctx.watch()


def test_where_nobody_can_be_asked_that_is_an_error(face: Face) -> None:
    ctx = face.ha("hn://127.0.0.1:1")
    with pytest.raises(hanaming.ServiceUnavailableError):
        face.watch(ctx).next()


def test_arguments(face: Face, node: Node) -> None:
    ctx = face.ha(node.url)
    with pytest.raises(ValueError, match="there are object, one_level, subtree"):
        ctx.watch(scope="all")
    with pytest.raises(hanaming.InvalidNameError) as raised:
        ctx.watch("a//b")
    assert raised.value.name == "a//b"
    with pytest.raises(TypeError):
        ctx.watch(5)
    assert repr(ctx.watch("a")).endswith('Watch of "a", subtree>')


def test_a_watch_is_a_context_manager_and_ends_a_loop(node: Node) -> None:
    with HAContext(node.url) as ctx, ctx.watch() as events:
        threading.Timer(0.2, events.close).start()
        ctx.bind("a", 1)
        assert [told(event) for event in events] == ["added a -→1"]


@pytest.mark.asyncio
async def test_a_watch_is_an_asynchronous_context_manager() -> None:
    async with aio.Node("n1") as node, aio.HAContext(node.url) as ctx, ctx.watch() as events:
        await ctx.bind("a", 1)
        async for event in events:
            assert told(event) == "added a -→1"
            break
        await events.aclose()
        assert [event async for event in events] == []
