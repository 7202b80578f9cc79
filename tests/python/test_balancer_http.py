"""Three HTTP servers, of which one is killed or frozen under calls by httpx, requests and aiohttp: no idempotent call fails."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import aiohttp
import httpx
import pytest
import requests

import hanaming
from hanaming import Target, aio
from waiting import until
from web_servers import WebServer, web_servers

CALLERS = 6
ATTEMPT = 0.4
"""The time limit of one attempt, in seconds."""
Get = Callable[[Target], str]


@pytest.fixture
def servers() -> Iterator[list[WebServer]]:
    with web_servers(3) as started:
        yield started


class Callers:
    """Callers that go on until they are stopped. Whatever fails is kept."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.counts: Counter[str] = Counter()
        self.failed: list[BaseException] = []
        self.longest = 0.0

    def note(self, answered: str, began: float) -> None:
        self.counts[answered] += 1
        self.longest = max(self.longest, time.monotonic() - began)

    def more(self, servers: list[WebServer], calls: int) -> None:
        """Waits until each of these has answered so many more calls."""
        before = Counter(self.counts)
        want = [str(server.port) for server in servers]
        until(
            lambda: self.failed or all(self.counts[port] - before[port] >= calls for port in want),
            f"{calls} more calls are answered",
            within=30,
        )
        assert not self.failed, self.failed[0]

    def threads(self, balancer: hanaming.Balancer, get: Callable[[], Get]) -> list[threading.Thread]:
        def run() -> None:
            try:
                mine = get()
                while not self.over.is_set():
                    began = time.monotonic()
                    for attempt in balancer.attempts(idempotent=True):
                        with attempt as target:
                            answered = mine(target)
                    self.note(answered, began)
            except BaseException as error:  # noqa: BLE001 - every failure is told
                self.failed.append(error)

        return [threading.Thread(target=run) for _ in range(CALLERS)]

    def tasks(self, balancer: aio.Balancer) -> list[threading.Thread]:
        async def one(session: aiohttp.ClientSession) -> None:
            while not self.over.is_set():
                began = time.monotonic()
                async for attempt in balancer.attempts(idempotent=True):
                    async with attempt as target, session.get(f"http://{target}/") as reply:
                        answered = await reply.text()
                self.note(answered, began)

        async def all_of_them() -> None:
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ATTEMPT)) as session:
                await asyncio.gather(*(one(session) for _ in range(CALLERS)))

        def run() -> None:
            try:
                asyncio.run(all_of_them())
            except BaseException as error:  # noqa: BLE001 - every failure is told
                self.failed.append(error)

        return [threading.Thread(target=run)]


@pytest.mark.parametrize("harm", ["kill", "freeze"])
@pytest.mark.parametrize("library", ["httpx", "requests", "aiohttp"])
def test_no_idempotent_call_fails(servers: list[WebServer], library: str, harm: str) -> None:
    addresses = [server.address for server in servers]
    callers = Callers()
    with ExitStack() as stack:
        if library == "httpx":
            client = stack.enter_context(httpx.Client(timeout=ATTEMPT))
            balancer = stack.enter_context(hanaming.Balancer(addresses))
            threads = callers.threads(balancer, lambda: lambda target: client.get(f"http://{target}/").text)
        elif library == "requests":
            balancer = stack.enter_context(hanaming.Balancer(addresses))

            def session() -> Get:
                own = stack.enter_context(requests.Session())
                return lambda target: own.get(f"http://{target}/", timeout=ATTEMPT).text

            threads = callers.threads(balancer, session)
        else:
            threads = callers.tasks(aio.Balancer(addresses))
        for thread in threads:
            thread.start()
        try:
            callers.more(servers, 10)
            bad, good = servers[0], servers[1:]
            getattr(bad, harm)()
            callers.more(good, 60)
            if harm == "freeze":
                bad.thaw()
                callers.more(servers, 3)
            else:
                again = WebServer(bad.port)
                stack.callback(again.kill)
                callers.more(servers, 3)
        finally:
            callers.over.set()
            for thread in threads:
                thread.join()
    assert not callers.failed, callers.failed[0]
    # A frozen server costs those calls an attempt that were at it, or were sent there before it was known.
    assert callers.longest < 4.5


def test_a_status_is_an_answer_unless_it_is_raised(servers: list[WebServer]) -> None:
    balancer = hanaming.Balancer([server.address for server in servers])

    def missing(target: Target) -> int:
        return httpx.post(f"http://{target}/", timeout=5).status_code

    assert balancer.call(missing) == 501
    with pytest.raises(httpx.HTTPStatusError) as caught:
        balancer.call(lambda target: httpx.post(f"http://{target}/", timeout=5).raise_for_status())
    assert len(caught.value.attempts) == 1  # type: ignore[attr-defined]
