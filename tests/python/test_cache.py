"""`cache=True`: answers from the cluster tree at hand, true as long as a node can be asked, sync and asyncio."""

from __future__ import annotations

import gc
import os
import pickle

import pytest

import hanaming
from faces import FACES, Asynchronous, face
from hanaming import HAContext
from hanaming.testing import FaultProxy
from waiting import until

LONG = 20.0


@pytest.fixture(params=FACES)
def twin(request):
    with face(request.param) as twin:
        yield twin


def opened(twin, provider, **options):
    return twin.module.HAContext(provider, cache=True, timeout=LONG, **options)


@pytest.fixture
def nodes(cluster):
    return cluster(2)


@pytest.fixture
def writer(nodes):
    with HAContext([node.url for node in nodes], timeout=LONG) as writer:
        writer.bind("name", "first")
        yield writer


def kept(twin, context, name):
    """Waits until a lookup of the name asks nobody."""

    def is_kept():
        twin.do(context.lookup, name)
        return made(twin, context) == []

    until(is_kept, f"{name} is kept", within=LONG)


def made(twin, context):
    """The addresses that the last call asked."""
    if isinstance(twin, Asynchronous):

        async def told():
            await context.lookup("name")
            return [attempt.target for attempt in context.explain()]

        return twin.loop.run_until_complete(told())
    return [attempt.target for attempt in context.explain()]


@pytest.fixture
def context(twin, nodes, writer):
    context = opened(twin, [node.url for node in nodes])
    kept(twin, context, "name")
    yield context
    twin.close(context)


def test_what_is_kept_asks_nobody_and_another_clients_write_ends_it(twin, context, writer):
    for number in range(20):
        writer.rebind("name", f"value {number}")
        until(
            lambda number=number: twin.do(context.lookup, "name") == f"value {number}", "the write is seen", within=LONG
        )
        kept(twin, context, "name")
    writer.unbind("name")

    def is_gone():
        return twin.do(context.get, "name") is None

    until(is_gone, "it is gone", within=LONG)


def test_own_writes_are_read_at_once(twin, context):
    for number in range(50):
        twin.do(context.rebind, "name", number)
        assert twin.do(context.lookup, "name") == number
    twin.do(context.rename, "name", "other")
    assert twin.do(context.lookup, "other") == 49
    with pytest.raises(hanaming.NameNotFoundError):
        twin.do(context.lookup, "name")
    twin.do(context.bind, "made/on/the/way", 1, create_parents=True)
    assert twin.do(context.lookup, "made/on/the/way") == 1


def test_values_that_a_caller_can_change_are_each_callers_own(twin, context, writer):
    writer.bind("list", [1])
    for _ in range(5):
        found = twin.do(context.lookup, "list")
        assert found == [1]
        found.append(2)


def test_a_link_that_is_turned_is_followed_anew(twin, context, writer):
    writer.bind("blue", "blue")
    writer.bind("green", "green")
    writer.bind("current", hanaming.LinkRef("blue"))
    for target in ("blue", "green", "blue"):
        writer.rebind("current", hanaming.LinkRef(target))
        until(lambda target=target: twin.do(context.lookup, "current") == target, "the link is turned", within=LONG)


def test_a_nodes_own_names_are_kept_for_a_moment(twin, context, nodes):
    nodes[0].local.bind("local", 1)
    assert twin.do(context.lookup, "local") == 1
    nodes[0].local.rebind("local", 2)
    until(lambda: twin.do(context.lookup, "local") == 2, "the second is over", within=LONG)
    nodes[0].local.unbind("local")
    until(lambda: twin.do(context.get, "local") is None, "it is gone", within=LONG)


def test_it_goes_on_while_nodes_come_and_go(twin, nodes, writer):
    context = opened(twin, [node.url for node in nodes])
    kept(twin, context, "name")
    nodes[0].close()
    writer.rebind("name", "after the first has gone")
    until(lambda: twin.do(context.lookup, "name") == "after the first has gone", "the write is seen", within=LONG)
    kept(twin, context, "name")
    twin.close(context)


def test_where_no_server_is_left_the_last_known_is_given_and_said_to_be_so(twin, nodes, writer):
    with FaultProxy(nodes[0]) as proxy:
        context = opened(twin, f"hn://{proxy.address}", follow_views=False)
        kept(twin, context, "name")
        fresh = twin.do(context.resolve, "name")
        assert not fresh.stale
        assert "stale" not in repr(fresh)
        proxy.refuse()

        def is_stale():
            return twin.do(context.resolve, "name").stale

        until(is_stale, "the last known", within=LONG)
        stale = twin.do(context.resolve, "name")
        assert stale.value == twin.do(context.lookup, "name") == "first"
        assert "stale" in repr(stale)
        assert "no server is left" in stale._repr_html_()
        assert pickle.loads(pickle.dumps(stale)) == stale
        assert [attempt.target for attempt in stale.attempts][:1] == [proxy.address], "it was tried"
        with pytest.raises(hanaming.ServiceUnavailableError):
            twin.do(context.lookup, "never seen")
        with pytest.raises(hanaming.ServiceUnavailableError):
            twin.do(context.rebind, "name", "lost")
        proxy.heal()
        writer.rebind("name", "second")
        until(lambda: twin.do(context.lookup, "name") == "second", "it's fresh again", within=LONG)
        assert not twin.do(context.resolve, "name").stale
        twin.close(context)


def test_a_frozen_node_is_not_believed_for_long(twin, nodes, writer):
    with FaultProxy(nodes[0]) as proxy:
        context = opened(twin, [f"hn://{proxy.address}", nodes[1].url], follow_views=False, policy="first_available")
        kept(twin, context, "name")
        proxy.black_hole()
        writer.rebind("name", "while it was frozen")
        until(lambda: twin.do(context.lookup, "name") == "while it was frozen", "the write is seen", within=LONG)
        twin.close(context)


def test_a_closed_context_says_so(twin, nodes, writer):
    context = opened(twin, [node.url for node in nodes])
    kept(twin, context, "name")
    twin.close(context)
    with pytest.raises(hanaming.ContextClosedError):
        twin.do(context.lookup, "name")


def test_subcontexts_share_it(nodes, writer):
    writer.bind("a/b", 1, create_parents=True)
    with HAContext(nodes[0].url, cache=True, timeout=LONG) as context:
        inner = context.lookup("a")
        until(lambda: inner.lookup("b") == 1 and inner.explain() == [], "it is kept", within=LONG)
        writer.rebind("a/b", 2)
        until(lambda: inner.lookup("b") == 2, "the write is seen", within=LONG)


def test_nothing_is_left_when_it_goes(nodes, writer):
    def count():
        return len(os.listdir("/proc/self/fd"))

    def use():
        context = HAContext([node.url for node in nodes], cache=True, timeout=LONG)
        for _ in range(10):
            context.lookup("name")
        return context

    use().close()
    gc.collect()
    before = count()
    for _ in range(20):
        use().close()
        use()  # and never closed
    gc.collect()
    until(lambda: count() <= before + 4, "the connections are closed", within=LONG)
