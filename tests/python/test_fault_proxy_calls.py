"""Each fault of a proxy before a node: what a call of ours makes of it, sync and asyncio."""

from __future__ import annotations

import pytest

import hanaming
from faces import FACES, face
from hanaming import CompletionStatus, Node
from hanaming.testing import FaultProxy

LONG = 20.0


@pytest.fixture(params=FACES)
def twin(request):
    with face(request.param) as twin:
        yield twin


@pytest.fixture
def node():
    with Node("n1") as node:
        node.local.bind("known", 1)
        yield node


@pytest.fixture
def proxy(node):
    with FaultProxy(node) as proxy:
        yield proxy


@pytest.fixture
def context(twin, proxy):
    context = twin.module.Context(f"hn://{proxy.address}", timeout=1.0)
    assert twin.do(context.lookup, "known") == 1
    yield context
    twin.close(context)


def failure(twin, call, *args):
    with pytest.raises(hanaming.CommunicationError) as raised:
        twin.do(call, *args)
    return raised.value


def test_refused_did_not_run(twin, node, proxy, context):
    proxy.refuse()
    wrong = failure(twin, context.bind, "new", 1)
    assert wrong.completion is CompletionStatus.NO
    assert wrong.safe_to_retry
    assert "new" not in node.local
    proxy.heal()
    assert twin.do(context.lookup, "known") == 1


@pytest.mark.parametrize("fault", ["drop_response", "reset_after_send"])
def test_a_lost_answer_of_a_mutation_ran_and_nobody_knows(twin, node, proxy, context, fault):
    getattr(proxy, fault)()
    wrong = failure(twin, context.bind, "new", 1)
    assert wrong.completion is CompletionStatus.MAYBE
    assert not wrong.safe_to_retry
    assert node.local.lookup("new") == 1
    proxy.heal()
    with pytest.raises(hanaming.NameAlreadyBoundError):
        twin.do(context.bind, "new", 2)


@pytest.mark.parametrize("fault", ["drop_response", "reset_after_send"])
def test_a_lost_answer_of_a_read_is_asked_for_again(twin, node, proxy, fault):
    with FaultProxy(node) as other:
        getattr(proxy, fault)(times=1)
        context = twin.module.HAContext(
            f"hn://{proxy.address},{other.address}", policy="first_available", follow_views=False, timeout=LONG
        )
        for _ in range(20):
            assert twin.do(context.lookup, "known") == 1
        twin.close(context)


def test_a_black_hole_may_have_swallowed_a_mutation(twin, node, proxy, context):
    proxy.black_hole()
    wrong = failure(twin, context.bind, "new", 1)
    assert wrong.completion is CompletionStatus.MAYBE
    assert "new" not in node.local


def test_a_slow_server_is_no_failure_and_one_too_slow_is_left_for_another(twin, node, proxy):
    with FaultProxy(node) as quick:
        proxy.delay(0.05)
        context = twin.module.HAContext(
            f"hn://{proxy.address},{quick.address}", policy="first_available", follow_views=False, timeout=LONG
        )
        assert twin.do(context.lookup, "known") == 1
        proxy.delay(5.0)
        quick.delay(0.0)
        for _ in range(5):
            assert twin.do(context.lookup, "known") == 1
        twin.close(context)


def test_a_narrow_way_is_only_slow(twin, node, proxy):
    node.local.bind("large", "x" * 20_000)
    proxy.throttle(100_000)
    context = twin.module.Context(f"hn://{proxy.address}", timeout=LONG)
    assert len(twin.do(context.lookup, "large")) == 20_000
    twin.close(context)
