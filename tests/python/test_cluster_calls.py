"""Each verb of a test cluster: what a call makes of it (its status and what to do, as 1.6 of the contract has it), sync and asyncio."""

from __future__ import annotations

import pytest

import hanaming
from faces import FACES, face
from hanaming import Action, CompletionStatus, classify
from hanaming.testing import Cluster
from waiting import until

LONG = 60.0


@pytest.fixture(params=FACES)
def twin(request):
    with face(request.param) as twin:
        yield twin


@pytest.fixture
def cluster():
    with Cluster(3) as cluster:
        cluster[0].node.context().bind("known", 1)
        cluster[1].local.bind("own", 1)
        yield cluster


@pytest.fixture
def ctx(twin, cluster):
    """A context that knows of the first node alone, and is connected to it."""
    ctx = twin.module.HAContext(cluster[0].url, follow_views=False, timeout=LONG, attempt_timeout=LONG)
    assert twin.do(ctx.lookup, "known") == 1
    yield ctx
    twin.close(ctx)


@pytest.fixture
def everywhere(twin, cluster):
    """A context on all nodes that stays with the first one while it can."""
    ctx = twin.module.HAContext(cluster.provider, policy="first_available", timeout=LONG)
    assert twin.do(ctx.lookup, "known") == 1
    yield ctx
    twin.close(ctx)


def failure(twin, call, *args, timeout=1.0):
    with pytest.raises(hanaming.CommunicationError) as raised:
        twin.do(call, *args, timeout=timeout)
    return raised.value


def is_no(error):
    """It did not run: another server may be tried at once."""
    return error.completion is CompletionStatus.NO and error.safe_to_retry and classify(error).action in SAFE


SAFE = {Action.FAILOVER, Action.RETRY_LATER}


def is_maybe(error):
    """Nobody knows: it comes out, and is not simply sent again."""
    unsafe = error.completion is CompletionStatus.MAYBE and not error.safe_to_retry
    return unsafe and classify(error).action not in SAFE | {Action.SUCCESS}


def test_killed(twin, cluster, ctx):
    cluster[0].kill()
    assert is_no(failure(twin, ctx.bind, "new", 1))
    assert is_no(failure(twin, ctx.lookup, "known"))
    cluster[0].restart()
    until(lambda: answers(twin, ctx), "the restarted node is taken back")
    twin.do(ctx.bind, "new", 1)


def answers(twin, ctx):
    try:
        return twin.do(ctx.lookup, "known") == 1
    except hanaming.CommunicationError:
        return False


@pytest.mark.parametrize("verb", ["kill", "pause", "quiesce", "restart"])
def test_with_other_nodes_calls_go_on(twin, cluster, everywhere, verb):
    asked = twin.do(everywhere.resolve, "known").node
    index = int(asked[1:])
    getattr(cluster[index], verb)()
    for number in range(5):
        twin.do(everywhere.bind, f"new-{number}", number)
        assert twin.do(everywhere.lookup, f"new-{number}") == number
    if verb != "restart":
        assert twin.do(everywhere.resolve, "known").node != asked


def test_paused_after_the_request_left(twin, cluster, ctx):
    cluster[0].pause()
    assert is_maybe(failure(twin, ctx.bind, "new", 1))
    assert failure(twin, ctx.lookup, "known").safe_to_retry, "a read may be asked again whatever became of it"


def test_paused_before_it_was_greeted(twin, cluster):
    cluster[0].pause()
    ctx = twin.module.HAContext(cluster[0].url, follow_views=False)
    assert is_no(failure(twin, ctx.bind, "new", 1))
    twin.close(ctx)


def test_quiesced(twin, cluster, ctx):
    cluster[0].quiesce()
    assert is_no(failure(twin, ctx.bind, "new", 1))
    cluster.wait_converged()


def test_cut_off_silence_is_no_absence_until_it_left_the_view(twin, cluster, ctx):
    assert twin.do(ctx.lookup, "own") == 1
    cluster.partition([0], [1, 2])
    error = failure(twin, ctx.lookup, "nowhere", timeout=0.3)
    assert isinstance(error, hanaming.ServiceUnavailableError)
    assert error.safe_to_retry
    cluster.wait_converged([0])
    with pytest.raises(hanaming.NameNotFoundError) as raised:
        twin.do(ctx.lookup, "own")
    assert raised.value.completion is CompletionStatus.YES
    cluster.heal()
    cluster.wait_converged()
    assert twin.do(ctx.lookup, "own") == 1


def test_both_sides_of_a_split_accept_and_the_conflict_is_listed(twin, cluster, ctx):
    other = twin.module.HAContext(cluster[1].url, follow_views=False, timeout=LONG, attempt_timeout=LONG)
    cluster.partition([0], [1, 2])
    cluster.wait_converged([0])
    cluster.wait_converged([1, 2])
    twin.do(ctx.bind, "new", "here")
    twin.do(other.bind, "new", "there")
    cluster.heal()
    cluster.wait_converged()
    (conflict,) = twin.do(ctx.check).conflicts
    assert {conflict.shown.value, *(one.value for one in conflict.others)} == {"here", "there"}
    twin.close(other)


def test_one_way_is_as_bad(twin, cluster, ctx):
    cluster.one_way([1], [0])
    error = failure(twin, ctx.lookup, "nowhere", timeout=0.3)
    assert error.safe_to_retry
    cluster.heal()
    until(lambda: absent(twin, ctx), "all nodes answer again")


def absent(twin, ctx):
    try:
        return twin.do(ctx.get, "nowhere", "absent") == "absent"
    except hanaming.ServiceUnavailableError:
        return False
