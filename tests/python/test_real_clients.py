"""Real failures of the usual HTTP clients and of redis, which hanaming knows by their classes' names alone."""

from __future__ import annotations

import asyncio
import sys

import pytest

import broken_servers as broken
from broken_servers import failure
from hanaming import Category, CompletionStatus, classify

aiohttp = pytest.importorskip("aiohttp")
httpx = pytest.importorskip("httpx")
redis = pytest.importorskip("redis")
requests = pytest.importorskip("requests")
urllib3 = pytest.importorskip("urllib3")
NoBackoff = pytest.importorskip("redis.backoff").NoBackoff
Retry = pytest.importorskip("redis.retry").Retry

NO, MAYBE, YES = CompletionStatus.NO, CompletionStatus.MAYBE, CompletionStatus.YES


def by_requests(url, limit):
    return requests.get(url, timeout=limit).text


def by_urllib3(url, limit, *, retries=False):
    with urllib3.PoolManager() as pool:
        return pool.request("GET", url, timeout=limit, retries=retries).data


def by_urllib3_with_retries(url, limit):
    return by_urllib3(url, limit, retries=1)


def by_httpx(url, limit):
    return httpx.get(url, timeout=limit).text


def by_async_httpx(url, limit):
    async def get():
        async with httpx.AsyncClient(timeout=limit) as client:
            return (await client.get(url)).text

    return asyncio.run(get())


def aiohttp_limiting(*limits):
    def get(url, limit):
        async def fetch():
            timeout = aiohttp.ClientTimeout(**dict.fromkeys(limits, limit))
            async with aiohttp.ClientSession(timeout=timeout) as session, session.get(url) as reply:
                return await reply.text()

        return asyncio.run(fetch())

    return get


HTTP = {
    "requests": by_requests,
    "urllib3": by_urllib3,
    "urllib3-retries": by_urllib3_with_retries,
    "httpx": by_httpx,
    "httpx-async": by_async_httpx,
    "aiohttp-total": aiohttp_limiting("total"),
    "aiohttp-phases": aiohttp_limiting("sock_connect", "sock_read"),
}


def outcome(call, *args, limit=broken.LONG):
    found = classify(failure(call, *args, limit))
    return found.category, found.completion


@pytest.fixture(params=HTTP)
def get(request):
    return HTTP[request.param]


def test_nothing_was_sent(get):
    assert outcome(get, f"http://127.0.0.1:{broken.closed_port()}/") == (Category.NOT_CONNECTED, NO)
    assert outcome(get, "http://no-such-host.invalid/") == (Category.NOT_CONNECTED, NO)
    with broken.full() as port:
        assert outcome(get, f"http://127.0.0.1:{port}/", limit=broken.SHORT) == (Category.NOT_CONNECTED, NO)


@pytest.mark.parametrize(
    ("server", "category"),
    [
        (broken.frozen, Category.NO_RESPONSE),
        (broken.resetting, Category.CONNECTION_LOST),
        (broken.hanging_up, Category.CONNECTION_LOST),
        (broken.half_answering, Category.CONNECTION_LOST),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_request_left(get, server, category):
    with broken.serving(server) as port:
        assert outcome(get, f"http://127.0.0.1:{port}/", limit=broken.limit(server)) == (category, MAYBE)


def test_nobody_trusts_it(get, tmp_path):
    with broken.tls(tmp_path) as port:
        assert outcome(get, f"https://localhost:{port}/") == (Category.SECURITY, NO)


def test_a_handshake_that_breaks_has_sent_nothing(get):
    # urllib3 calls a handshake that timed out a read that timed out; what it was raised for knows better.
    for server in (broken.frozen, broken.resetting, broken.hanging_up):
        with broken.serving(server) as port:
            limit = broken.limit(server)
            found = outcome(get, f"https://localhost:{port}/", limit=limit)
            assert found == (Category.NOT_CONNECTED, NO), server.__name__


def test_a_url_that_is_none(get):
    assert outcome(get, "gopher://localhost/") == (Category.CONFIGURATION, NO)


def test_an_answer_is_an_answer():
    async def fetch(url):
        async with aiohttp.ClientSession(raise_for_status=True) as session, session.get(url):
            pass

    with broken.serving(broken.refusing) as port:
        url = f"http://127.0.0.1:{port}/"
        for call in (
            lambda limit: requests.get(url, timeout=limit).raise_for_status(),
            lambda limit: httpx.get(url, timeout=limit).raise_for_status(),
            lambda limit: asyncio.run(fetch(url)),
        ):
            assert outcome(call) == (Category.APPLICATION, YES)


def ask_redis(port, limit, host="127.0.0.1"):
    limits = {"socket_timeout": limit, "socket_connect_timeout": limit}
    with redis.Redis(host=host, port=port, retry=Retry(NoBackoff(), 0), **limits) as client:
        return client.get("orders")


def test_redis():
    assert outcome(ask_redis, broken.closed_port()) == (Category.NOT_CONNECTED, NO)
    nowhere = failure(ask_redis, 6379, broken.LONG, "no-such-host.invalid")
    assert classify(nowhere).completion is NO
    with broken.full() as port:
        assert outcome(ask_redis, port, limit=broken.SHORT) == (Category.NOT_CONNECTED, NO)
    with broken.serving(broken.frozen) as port:
        assert outcome(ask_redis, port, limit=broken.SHORT) == (Category.NO_RESPONSE, MAYBE)
    for server in (broken.resetting, broken.hanging_up):
        with broken.serving(server) as port:
            assert outcome(ask_redis, port) == (Category.CONNECTION_LOST, MAYBE)
    with broken.serving(broken.half_answering) as port:
        assert outcome(ask_redis, port) == (Category.CONFIGURATION, MAYBE)


def test_none_of_them_is_imported():
    import subprocess  # noqa: PLC0415

    code = (
        "import sys, hanaming; hanaming.classify(ConnectionResetError('x')); hanaming.classify('x'); "
        "print(sorted({'grpc', 'requests', 'httpx', 'aiohttp', 'urllib3', 'redis', 'omniORB'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
