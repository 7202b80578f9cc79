"""Blocks, as Python's own statements leave them: whatever happens, a target is told back, and nothing is called twice."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest

from hanaming import Balancer, ContextClosedError, Target, classify
from line_servers import LineServer, ask

ADDRESSES = ["10.0.0.1:80", "10.0.0.2:80"]


@pytest.fixture
def balancer() -> Balancer:
    return Balancer(ADDRESSES)


def outcomes(balancer: Balancer) -> list[str]:
    return [made.outcome for made in balancer.explain()]


def test_a_block_that_ends_ends_the_loop(balancer: Balancer) -> None:
    ran = 0
    for attempt in balancer.attempts():
        with attempt as target:
            assert isinstance(target, Target)
            ran += 1
    assert ran == 1
    assert outcomes(balancer) == ["done"]


def test_break_continue_and_return_end_a_block_well(balancer: Balancer) -> None:
    for attempt in balancer.attempts():
        with attempt:
            break
    assert outcomes(balancer) == ["done"]
    for attempt in balancer.attempts():
        with attempt:
            continue
    assert outcomes(balancer) == ["done"]

    def first() -> str | None:
        for attempt in balancer.attempts():
            with attempt as target:
                return str(target)
        return None

    assert first() in ADDRESSES


def test_a_generator_that_is_closed_in_a_block_gives_up_the_call(balancer: Balancer) -> None:
    def answers() -> Iterator[Target]:
        for attempt in balancer.attempts():
            with attempt as target:
                yield target

    generator = answers()
    next(generator)
    generator.close()  # type: ignore[attr-defined]
    assert outcomes(balancer) == ["given up by the caller"]
    assert {target.state for target in balancer.targets} == {"untried"}


def test_who_catches_what_comes_out_ends_the_loop(balancer: Balancer) -> None:
    tries = 0
    for attempt in balancer.attempts(idempotent=True):
        with suppress(LookupError), attempt:
            tries += 1
            raise LookupError
    assert tries == 1


def test_an_attempt_is_entered_and_once(balancer: Balancer) -> None:
    with pytest.raises(RuntimeError, match="an attempt was not entered: its target is called in `with attempt as"):
        for _attempt in balancer.attempts():
            pass
    (attempt,) = list(_entered(balancer))
    with pytest.raises(RuntimeError, match="an attempt is entered once"), attempt:
        pass
    loop = balancer.attempts()
    with next(loop), pytest.raises(RuntimeError, match="was not entered"):
        next(loop)


def _entered(balancer: Balancer) -> Iterator[Any]:
    for attempt in balancer.attempts():
        with attempt:
            pass
        yield attempt


def test_an_attempt_knows_its_number_and_time(balancer: Balancer) -> None:
    numbers = []
    with suppress(ConnectionRefusedError):
        for attempt in balancer.attempts():
            with attempt:
                numbers.append(attempt.number)
                assert 0 < attempt.time_left <= 5
                assert repr(attempt) == f"<attempt {attempt.number}>"
                raise ConnectionRefusedError(111, "refused")
    assert numbers == [1, 2, 3, 4]


def test_blocks_within_blocks(balancer: Balancer) -> None:
    for outer in balancer.attempts():
        with outer as first:
            for inner in balancer.attempts():
                with inner as second:
                    assert str(first) != str(second), "one after the other"
    assert outcomes(balancer) == ["done"]


def test_calls_under_way_are_load() -> None:
    balancer = Balancer(ADDRESSES, policy="least_loaded")
    with ExitStack() as stack:
        under_way = [str(stack.enter_context(next(balancer.attempts()))) for _ in range(20)]
    assert Counter(under_way) == dict.fromkeys(ADDRESSES, 10)


def test_what_comes_out_is_kept_by_nobody() -> None:
    class Draining(Exception):  # noqa: N818
        pass

    def draining(error: BaseException) -> Any:
        return classify({"exception": "org.omg.CORBA.TRANSIENT", "minor": "0x49421040"})

    def fail(target: Target, then: Callable[[], None] = lambda: None) -> None:
        then()
        error = Draining()
        raised.append(weakref.ref(error))
        try:
            raise error
        finally:
            del error

    raised: list[weakref.ref[Draining]] = []
    balancer = Balancer(ADDRESSES, timeout=0.05)
    balancer.add_classifier(draining)
    gc.collect()
    gc.disable()
    try:
        with suppress(Draining):
            balancer.call(fail)
        assert len(raised) == 2, "the last one came out once the time was up"
        with suppress(ContextClosedError):
            balancer.call(fail, then=balancer.close)
        assert [kept() for kept in raised] == [None] * 3
    finally:
        gc.enable()


def test_closing_ends_whoever_waits() -> None:
    balancer = Balancer("no-such-host.invalid:80", timeout=30)
    raised: list[BaseException] = []

    def wait() -> None:
        try:
            balancer.call(str)
        except BaseException as error:  # noqa: BLE001 - it is looked at
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    balancer.close()
    thread.join(10)
    assert not thread.is_alive()
    assert len(raised) == 1
    with pytest.raises(ContextClosedError):
        balancer.attempts()
    with pytest.raises(ContextClosedError), balancer:
        pass


def test_many_threads_share_one() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(LineServer()) for _ in range(3)]
        balancer = stack.enter_context(Balancer([server.address for server in servers]))
        counts: Counter[str] = Counter()
        failed: list[BaseException] = []

        def work() -> None:
            try:
                for _ in range(30):
                    counts[balancer.call(ask, timeout=5)] += 1
                assert len(balancer.explain()) == 1
            except BaseException as error:  # noqa: BLE001 - every failure is told
                failed.append(error)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        assert sum(server.ran for server in servers) == 240
        assert all(abs(server.ran - 80) <= 1 for server in servers)
        assert balancer.explain() == [], "this thread has made no call"


def test_two_threads_in_one_call_are_told(balancer: Balancer) -> None:
    loop = balancer.attempts()
    with next(loop):
        raised: list[BaseException] = []

        def intrude() -> None:
            try:
                next(loop)
            except BaseException as error:  # noqa: BLE001 - it is looked at
                raised.append(error)

        thread = threading.Thread(target=intrude)
        thread.start()
        thread.join()
    assert isinstance(raised[0], RuntimeError)
